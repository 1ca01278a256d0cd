"""Watch: runs that are run again when their files changed, what changed, and feeds of it."""

"""Watches: saved analyses run again when their files changed, and what changed since then."""

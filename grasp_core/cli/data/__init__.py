"""The files that options name: the options, reading them, and what is said of them."""

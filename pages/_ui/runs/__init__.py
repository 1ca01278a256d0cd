"""The Runs screen: list, search, edit, compare."""

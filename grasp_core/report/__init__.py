"""Results in words, tables, figures and files: pure functions, no user interface."""

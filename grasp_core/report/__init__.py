"""From a run's result to words, tables and files: pure functions, no user interface."""

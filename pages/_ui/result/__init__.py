"""A run's result: words, figures and tables."""

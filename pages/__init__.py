"""The screens of the dashboard; `main.py` is the entry script."""

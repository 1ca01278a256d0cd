"""Quality: limits of what the data can show, told before any run."""

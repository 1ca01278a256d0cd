"""Reading of files: from bytes to annotations, raters, and problems to report."""

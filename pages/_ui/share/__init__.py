"""Share links: made, withdrawn, opened."""

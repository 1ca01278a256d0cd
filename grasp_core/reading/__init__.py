"""From bytes to annotations and raters, and what is to be known about them."""

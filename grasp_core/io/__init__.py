"""Reading annotation and rater files, and what is to be known about them."""

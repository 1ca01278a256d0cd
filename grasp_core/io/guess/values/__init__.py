"""What is written in cells: texts for no answer, and labels written in several ways."""

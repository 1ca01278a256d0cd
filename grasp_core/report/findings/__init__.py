"""What a result finds, what may undo it, what mends that, and what to do."""

"""Projects: made, listed, changed, and who belongs to them."""

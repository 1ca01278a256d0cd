"""Who visits, what they may do, and what they have loaded, chosen and run."""

"""Which items carry a group's distance or label use, in sentences and tables."""

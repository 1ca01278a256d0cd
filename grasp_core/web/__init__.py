"""What a server answers beside its pages."""

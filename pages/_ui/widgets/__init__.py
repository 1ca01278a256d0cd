"""Small widgets that any screen may use."""

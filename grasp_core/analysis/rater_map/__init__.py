"""The map of raters: placed by how they agree with each other, held against every axis."""

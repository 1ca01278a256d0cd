"""A table and a spec become annotations, raters and problems."""

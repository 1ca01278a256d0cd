"""A result as files to take away, one module per format; `registry` lists them all."""

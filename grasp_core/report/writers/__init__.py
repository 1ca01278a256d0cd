"""Export files of a result, one module per format; `registry` lists them all."""

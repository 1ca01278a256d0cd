"""A table and a spec become annotations, raters and problems.

Imports `parsing`, `remarks`, `screens` and `table`.
"""

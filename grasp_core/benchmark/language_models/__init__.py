"""The in-context language model baseline: examples in a prompt, the next token as the answer.

Imports `io`, `models_as_raters`, `remarks` and `statistics`.
"""

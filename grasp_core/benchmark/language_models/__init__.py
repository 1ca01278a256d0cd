"""The in-context language model baseline: examples in a prompt, and the next token as the answer."""

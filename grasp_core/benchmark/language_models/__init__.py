"""The in-context language model baseline: examples in a prompt, the next token as the answer."""

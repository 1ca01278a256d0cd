"""Where everybody labelled nearly everything: raters as bits of each item and category."""

"""Models as raters: their labels read, and in words and tables with whose judgements each sides."""

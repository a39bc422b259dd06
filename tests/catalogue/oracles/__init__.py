"""One module a grammar: the real parser of its texts."""

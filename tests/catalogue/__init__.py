"""The catalogue `grammars/`: every grammar against the real parser of what it describes.

In: `grammars/<name>.*` with their folders of texts, and `oracles/<name>.py`. An oracle module has

    def complaint(text: str) -> str | None
        None if the real parser takes the text, else what it says.
    EXACT: bool = False
        The grammar is the oracle's language, no less: then near misses are compared both ways.
    SAMPLES: tuple[str, ...] = ()
        More texts whose near misses are compared.

What is checked: the texts of `accept/` are accepted by engine and oracle, those of `reject/` by
neither; a reject file whose name begins with `outside-` holds texts that the real parser takes and
that the grammar leaves out on purpose (`test_fixtures`). Every accept text may be generated token
by token in its tokenizer's own spelling (`test_tokenizers`). Whatever masks lead to, the oracle
takes (`test_walks`). Lark grammars say what lark says (`test_lark`).

Read in this order: `entries` (what there is), `distance` and `drawing` (random walks that end),
the tests.
"""

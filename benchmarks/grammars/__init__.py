"""Grammars of the catalogue beside the peers that can compile them: JSON, SQL, Python.

What comes in: `grammars/<name>.*` with its accept and reject texts, a tokenizer, engines. What goes
out: first mask, masks a second and verdicts of each engine, as a table and a JSON file.

What is decided here: how a grammar is spelt for a peer (`spellings.py` says what differs). What is
not: how a text is played and timed (`benchmarks.play`).

- `templates.py`: Lark's templates written out, for peers that have none.
- `spellings.py`: a grammar in a peer's own notation; the files are in `spellings/`.
- `run.py`: `python -m benchmarks grammars`.
"""

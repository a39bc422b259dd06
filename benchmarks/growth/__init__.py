"""How costs grow: plots of first masks and masks against sizes, every engine in one picture.

What comes in: made-up schemas and texts of growing size, vocabularies of growing size. What goes
out: a JSON file with every point, and a PNG for each study.

What is decided here: which sizes, and what is made up. What is not: how a call is timed
(`benchmarks.play`), how a batch is (`benchmarks.batches`).

- `cases.py`: the schemas and texts.
- `curves.py`: records of all runs in, points out.
- `plot.py`: points in, PNG out; the only file that needs matplotlib.
- `run.py`: `python -m benchmarks growth`.
"""

"""Verdicts of `constrain` and its peers, one byte at a time: which texts each takes for valid.

    python -m benchmarks.conformance                       # every engine, all cases
    python -m benchmarks.conformance --engines constrain   # the figures of the others are kept

What comes in: the required tests of the official JSON Schema test suite, a sample of real schemas
with their instances, and whichever engines are installed. What goes out: counts for each engine, in
`benchmarks/results/conformance.json`, which `docs/json-schema.md` quotes.

What is decided here: how an engine is set up to be judged on JSON Schema alone, and what counts as
a wrong verdict. What is not: speed (`benchmarks` measures that).

The vocabulary is the 256 bytes, so no tokenizer stands between an engine and the text. Each engine
is played in a process of its own; one that hangs or crashes is started again after the schema.

In reading order:

- `cases.py`: schemas with texts and the expected verdicts.
- `engines.py`: each engine behind two calls, compile and accept.
- `worker.py`: a process that plays the cases on one engine.
- `watch.py`: starts workers, ends those that are late, and goes on after them.
- `run.py`: the command line, and what is counted.
"""

"""Grammars inside generation loops of other libraries.

In: a compiled grammar, and a library's idea of one decoding step. Out: that step, masked. Decided
here: which matcher belongs to which row of the library's batch. Not decided here: which tokens are
allowed (`matcher`), which one is drawn (the library).

One module a library, imported only when asked for: `transformers` (a logits processor for
`model.generate`). `docs/how-to/engines.md` says how to write one for another engine.
"""

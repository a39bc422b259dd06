"""Derivatives of terms, in flat arrays.

In: an arena (`layout.py`), programs of constructors, bytes. Out: node ids, and the rows of targets
that every walk over a vocabulary reads. The reference is `constrain/algebra/reference.py`, rule for
rule. Decided here: the normal form, how rows are shared, when a search gives up. Not decided here:
growth and rule bodies, which a kernel asks Python for by STATUS.

Read in this order: `layout`, `interning` (equal nodes have one id), `nodes` (constructors),
`members` (lists of nodes), `unions`, `intersections`, `captures` and `branches` (constructors of
these), `partitions` (which bytes a term tells apart), `rows` (derivatives by all bytes), `step`
(derivatives by one byte), `several` (by those of a token), `emptiness`, `cpu` (entry points).
"""

from constrain.kernels.derive.cpu import advance, build

__all__ = ["advance", "build"]

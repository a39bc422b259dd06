"""Array programs: the only room that knows numba and triton.

In: NumPy arrays and torch tensors whose form the caller has checked. Out: arrays, changed in place
where the contract says so.
Decided here: how one operation runs fast on one device. Not decided here: what the numbers mean,
and which error a caller sees.

One folder per operation. Its `__init__` is the contract and picks a body by device; `reference`
says the same in obvious NumPy and only tests call it; `cpu` is numba; `gpu` is Triton, or plain
torch operations where those are fast enough. Every body gives the numbers of the reference, bit by
bit wherever a token depends on them.

Read in this order: `apply_bitmask` (the smallest whole example), `sample`, `derive`, `walk`;
then how numba compiles and keeps them: `compile`, `parts`, `lean`, `load`, `warmup`.
"""

import os, sys as system
from . import here
from ..above.module import (a, b as c,)
from math import *

x = y = 0x1F
first, *others = values = [1, *items, 3]
table["k"][1:2, ::3].field += 1 if x else -1
del table["k"], x
assert x != y, "no"
try:
    raise ValueError("bad \x41 \u00e9 \\") from None
except (KeyError, OSError) as error:
    pass
except:
    raise
else:
    x @= y
finally:
    y <<= 2
with open("a") as f, lock:
    while line := f.readline():
        if not line: continue
        elif line in seen or "x" not in line:
            global_count = {**counts, "n": 1}
        else:
            names = {n: {m, 1} for n, (m, _) in pairs if n for k in m}
print(*args, sep="", **options)
f(x for x in range(3))
g(lambda *a, k=1, **o: a[0], ...)
s = "a" 'b' r"\d+" """long
"quoted" text""" + f"{x.y[0]['k']()!r:>10} {{}}"
data = b"\x00bytes" b'more'
empty = (), (1,), {}, [], {1}
nothing = None

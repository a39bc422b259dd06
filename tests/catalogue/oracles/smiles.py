"""SMILES: the syntax that the package `partialsmiles` takes; chemistry is no matter of a grammar.

It looks at valences and aromatic rings only after all of the syntax.
"""

from __future__ import annotations

import partialsmiles


def complaint(text: str) -> str | None:
    try:
        partialsmiles.ParseSmiles(text)
    except (partialsmiles.ValenceError, partialsmiles.KekulizationFailure):
        return None
    except partialsmiles.SMILESSyntaxError as error:
        return str(error)
    return None

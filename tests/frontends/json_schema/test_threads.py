"""One grammar, many threads, a store for each: bodies of rules are made one at a time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from constrain.algebra.store import DEAD, TermStore
from constrain.frontends.json_schema import from_json_schema

SCHEMA = {
    "type": "object",
    "properties": {
        f"p{i}": {
            "anyOf": [
                {"type": "string", "pattern": f"^a{i}", "maxLength": 9},
                {"$ref": "#"},
                {"type": "integer", "multipleOf": i + 2},
            ]
        }
        for i in range(12)
    },
    "patternProperties": {"^x": {"type": "integer"}},
    "additionalProperties": {"type": "array", "items": {"$ref": "#"}},
}
TEXTS = [
    (b'{"p1":"a1x","p3":{"p4":6},"p5":14}', True),
    (b'{"p1":"b1x"}', False),
    (b'{"p2":{"p3":{"p4":{"p7":"a7"}}},"x1":3,"q":[{},{"x":1}]}', True),
    (b'{"p2":{"p3":{"p4":{"p7":"b7"}}}}', False),
    (b'{"q":[{"x":"1"}]}', False),
]


def test_threads_agree() -> None:
    term = from_json_schema(SCHEMA, style="any").term

    def run(_: int) -> list[bool]:
        store = TermStore()
        start = store.intern(term)
        states = [store.advance(start, text) for text, _ in TEXTS]
        return [state != DEAD and store.nullable(state) for state in states]

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(run, range(16)))
    assert results == [[valid for _, valid in TEXTS]] * 16

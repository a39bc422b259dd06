r"""A grammar judges texts by itself: no model, no vocabulary.

$ python examples/01_check_texts.py
yes  {"name": "chair", "tags": ["used"]}
yes  {"tags": [], "name": "chair"}
no   {"name": "chair", "tags": ["old"]}
                                 ^ '\\', 'n', 'u'
no   {"name": ""}
               ^ ' ', '!', '#' to byte 0x7F, byte 0xC2 to byte 0xF4
no   {"name": "chair"
                     ^ '\t', '\n', '\r', ' ', ',', '}'
"""

from __future__ import annotations

import constrain

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "tags": {"type": "array", "items": {"enum": ["new", "used"]}, "maxItems": 2},
    },
    "required": ["name"],
    "additionalProperties": False,
}
TEXTS = [
    '{"name": "chair", "tags": ["used"]}',
    '{"tags": [], "name": "chair"}',
    '{"name": "chair", "tags": ["old"]}',
    '{"name": ""}',
    '{"name": "chair"',
]


def main() -> None:
    """Judge each text, and show where a wrong one goes wrong."""
    grammar = constrain.Grammar.from_json_schema(SCHEMA, style="any")
    for text in TEXTS:
        rejection = grammar.first_rejection(text.encode())
        if rejection is None:
            print("yes ", text)
        else:
            print("no  ", text)
            print("    ", " " * rejection.offset + "^", ", ".join(rejection.expected))


if __name__ == "__main__":
    main()

"""Small vocabularies with nasty tokens."""

from __future__ import annotations

from constrain import Vocabulary

# Duplicates, prefixes of one another, an empty token, an unused id, several lexemes in one token,
# halves of characters, ill-formed bytes, two end tokens, a special token whose text is also text,
# padding past the list.
NASTY = Vocabulary(
    [
        b"a",
        b"b",
        b"ab",
        b"abab",
        b"a",
        b"",
        None,
        b"ba",
        b"\xc3",
        b"\xa9",
        b"\xc3\xa9",
        b"\xff",
        b"\xf0\x9f",
        b"\x98\x80",
        b"b\xf0",
        b"bb",
        None,
        None,
        b"aaaaaaaa",
        b"\x80",
        None,
    ],
    eos_token_ids=[16, 17],
    special_tokens={"<a>": 20, "</s>": 16},
    vocab_size=70,
)

JSON_TOKENS = [
    *'{ } [ ] : , " \\ / a b c n t r u e f l s 0 1 2 9 - + . E x y'.split(),
    *[" ", "\n", "\t", "  ", "\n  "],
    *['{"', '"}', '":', '",', '", "', '": ', '": "', '"a"', '{"a":', "}}", "]}", "],", "[[", "[1,"],
    *["true", "false", "null", "nul", "12", "00", "1.5", "-1", "e1", "1e", "ab", 'a"', 'b",'],
    *["\\n", '\\"', "\\u", "00", "\\u0061", "é", "日"],
]
JSON = Vocabulary(
    [
        *map(str.encode, JSON_TOKENS),
        b"\xc3",
        b"\xa9",
        b"\xe6\x97",
        b"\xa5",
        b"\xed",
        b"\xa0",
        b"\xff",
        b"\x01",
        None,
    ],
    eos_token_ids=[len(JSON_TOKENS) + 8],
)


def allowed_ids(bitmask, row: int, vocab_size: int) -> set[int]:
    """Ids whose bit is set in one row."""
    words = bitmask[row].view("uint32")
    assert all(int(words[i >> 5]) >> (i & 31) & 1 == 0 for i in range(vocab_size, 32 * len(words)))
    return {i for i in range(vocab_size) if int(words[i >> 5]) >> (i & 31) & 1}

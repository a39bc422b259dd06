"""For every code grammars that have it, with the place, and grammars close by that do not."""

from __future__ import annotations

from typing import Any, NamedTuple

from constrain import Vocabulary

BYTES = Vocabulary(
    [*(bytes([b]) for b in range(256)), None, None], [256], special_tokens={"<|think|>": 257}
)
LETTERS = Vocabulary([b"a", b"b", b"ab", None], [3])


class Case(NamedTuple):
    """A grammar with a finding: where, and what the message holds."""

    kind: str
    text: str
    line: int
    column: int
    says: str = ""
    options: dict[str, Any] = {}  # noqa: RUF012 - never changed


class Clean(NamedTuple):
    """A grammar without it."""

    kind: str
    text: str
    options: dict[str, Any] = {}  # noqa: RUF012 - never changed


EARLEY = {"parser": "earley"}
_INTS = "start: A | B\nA: /[0-9]{1,3}/\nB: /[0-9][0-9a-f]{2,5}/\n"

FOUND: dict[str, list[Case]] = {
    "syntax": [
        Case("gbnf", 'root ::= "a" )', 1, 14, "unbalanced )"),
        Case("gbnf", "", 1, 1, "at least one rule"),
        Case("lark", 'start "a"', 1, 7),
        Case("regex", "a(b", 1, 2, "not closed"),
        Case("json", '{"type": "strin"}', 1, 2, "'type' must be one of"),
        Case("json", '{"type": }', 1, 10),
    ],
    "undefined-name": [
        Case("gbnf", 'root ::= "a"\n  itme\nitem ::= "b"', 2, 3, "'itme'"),
        Case("gbnf", 'route ::= "a"', 0, 0, "no rule 'root'"),
        Case("lark", 'start: item\nitme: "a"', 1, 8, "'item'"),
        Case("lark", 'begin: "a"', 0, 0, "no rule 'start'"),
    ],
    "unsupported": [
        Case("regex", r"(a)\1", 1, 4, "back-reference"),
        Case("lark", "start: A\nA: /(a|b)\\1/", 2, 10, "terminal A"),
        Case("gbnf", 'root[max_tokens=3] ::= "a"', 1, 6, "max_tokens"),
    ],
    "unsatisfiable": [
        Case("gbnf", 'root ::= "a" root', 1, 1, "can never finish"),
        Case("regex", "a(?=b)c", 1, 1, "no text"),
        Case("json", '{"type": "string", "minLength": 2, "maxLength": 1}', 0, 0, "minLength"),
    ],
    "limit": [
        Case("gbnf", "root ::= " + "(" * 3000 + '"a"' + ")" * 3000, 0, 0, "max_nesting"),
        Case("regex", "(" * 3000 + "a" + ")" * 3000, 0, 0, "max_nesting"),
    ],
    "never-finishes": [
        Case("gbnf", 'root ::= "a" | x\nx ::= "b" x', 2, 1, "every way through it needs 'x'"),
        Case("gbnf", 'root ::= "a" | x\nx ::= y\ny ::= "b" x', 2, 1, "'x' and 'y'"),
        Case("gbnf", 'root ::= "a" | x\nx ::= "b" y\ny ::= "c" y', 3, 1, "'x' cannot either"),
        Case("lark", 'start: "a" | x\nx: "b" x', 2, 1, "'x'", EARLEY),
    ],
    "unused-rule": [
        Case("gbnf", 'root ::= "a"\nx ::= "b" x?', 2, 1, "no text of 'root' needs rule 'x'"),
        Case("lark", 'start: "a"\nx: "b"', 2, 1, "rule 'x'"),
        Case("lark", 'a: "a"\nb: "b"', 2, 1, "rule 'b'", {"start": "a"}),
    ],
    "unused-terminal": [Case("lark", 'start: "a"\nB: "b"', 2, 1, "terminal 'B'")],
    "cyclic-rule": [
        Case("gbnf", 'root ::= root | "a"', 1, 1, "'root' is the whole of itself"),
        Case("gbnf", 'root ::= x | "a"\nx ::= root "b"?', 1, 1, "'root' and 'x'"),
        Case("gbnf", 'root ::= "b"? x "b"?\nx ::= "a" | root', 1, 1, "each other"),
        Case("lark", 'start: x\nx: x | "a"', 2, 1, "'x'", EARLEY),
    ],
    "nullable-loop": [
        Case("gbnf", 'root ::= "a" ("b"*)* "c"', 1, 14, '`("b"*)`'),
        Case("gbnf", 'root ::= ws+ "c"\nws ::= [ ]?', 1, 10, "`ws`"),
        Case("regex", "x(a*)*y", 1, 2, "`(a*)`"),
        Case("regex", "(a|b?)+", 1, 1),
        Case("lark", 'start: ("a"?)*', 1, 8),
        Case("lark", "start: A\nA: /b(a*)*/", 2, 6, "`(a*)`"),
    ],
    "nullable-repeat": [
        Case("gbnf", 'root ::= ("b"?){2,3}', 1, 10, "the least count says nothing"),
        Case("regex", "(a?){0,3}", 1, 1, "several ways"),
    ],
    "duplicate-alternative": [
        Case("gbnf", 'root ::= "a" |\n "b" |\n "a"', 3, 2, '`"a"`'),
        Case("gbnf", 'root ::= x  "b" | "c" | x "b"\nx ::= "a"', 1, 25, "first in line 1"),
        Case("gbnf", 'root ::= "a" | "b" | "a" | "b"', 1, 22, "so do 1 more"),
        Case("lark", 'start: "a" -> x\n | "b"\n | "a" -> y', 3, 4),
        Case("regex", "ab|cd|ab", 1, 7, "`ab`"),
    ],
    "terminal-never-wins": [
        Case("lark", "start: A | B\nA: /[a-z]+/\nB: /[a-c]+/", 3, 1, "terminal B"),
        Case("lark", 'start: A "x" | B "y"\nA.2: /[a-z]+/\nB: "if"', 3, 1, "terminal B"),
        Case(
            "lark",
            "start: B | A A\nA.1: /a|b/\nB: /(ab)+/",
            3,
            1,
            "terminal A is tried before",
            {"lexer": "basic"},
        ),
    ],
    "terminal-overlap": [
        Case("lark", _INTS, 2, 1, "both match '000', and may stand at the same place"),
        Case("lark", "start: A | B\nA: /[a-c]+x/\nB: /c[x-z]*/", 3, 1, "'cx'"),
        Case("lark", "start: A B\nA: /a+/\nB: /[ab]/", 3, 1, "'a'", {"lexer": "basic"}),
    ],
    "ambiguous-terminals": [
        Case("lark", 'start: NAME | "if" NAME?\nNAME: /[a-z]+/', 2, 1, "'if'", EARLEY),
        Case("lark", _INTS, 2, 1, "'000' can be read in two ways", EARLEY),
    ],
    "unbounded-whitespace": [
        Case("gbnf", 'root ::= "a" ws "b"\nws ::= [ \\t\\n]*', 2, 8, "blanks without end"),
        Case("gbnf", 'root ::= "a" ws "b"\nws ::= ([ ] ws)?', 2, 1, "'ws' is blanks"),
        Case("regex", r"a\s*b", 1, 2, "blanks"),
        Case("regex", r"(?x) a [ ]+ b", 1, 8, "blanks"),
        Case("lark", 'start: "a" "b"\n%ignore " "', 2, 1, '" " may come any number of times'),
        Case("lark", 'start: "a" WS "b"\n%import common.WS\n%ignore WS', 3, 1, "WS may come"),
        Case("lark", 'start: "a" _S "b"\n_S: /\\s+/', 2, 5, "blanks"),
    ],
    "unbounded-repetition": [
        Case("gbnf", 'root ::= "\\"" [^"]* "\\""', 1, 15, '[^"] any number'),
        Case("gbnf", "root ::= digit+\ndigit ::= [0-9]", 1, 10, "digit any number of times"),
        Case("gbnf", 'root ::= Regex("[a-z]+")', 1, 10),
        Case("regex", '"([^"\\\\]|\\\\.)*"', 1, 2),
        Case("regex", "a.*b", 1, 2, ". any number"),
        Case("lark", 'start: A\nA: "x" /[a-z]/+', 2, 8, "/[a-z]/ any number"),
        Case(
            "json", '{"type": "object", "properties": {"a":\n {"type": "string"}}}', 2, 3, "string"
        ),
        Case("json", '{"type": "array"}', 1, 2, "an array of any length"),
    ],
    "absent-token": [
        Case("gbnf", 'root ::= <think> "a"', 1, 10, "'<think>'", {"vocab": BYTES}),
        Case("gbnf", 'root ::= "a" <[999]>', 1, 14, "token 999", {"vocab": BYTES}),
    ],
    "token-as-text": [
        Case("gbnf", 'root ::= "<|think|>" "a"', 1, 10, "special token", {"vocab": BYTES}),
    ],
    "unspellable": [
        Case("gbnf", 'root ::= "a" "x"', 1, 14, "no token has 'x'", {"vocab": LETTERS}),
        Case("gbnf", 'root ::= "a" [x-z]', 1, 14, "'x', 'y', 'z'", {"vocab": LETTERS}),
        Case("regex", "[ab]+é", 1, 6, "byte 0xA9", {"vocab": LETTERS}),
        Case("json", '{"type": "boolean"}', 0, 0, "cannot spell", {"vocab": LETTERS}),
    ],
    "unused-definition": [
        Case("json", '{"$defs": {"a": {}, "b": {}},\n "$ref": "#/$defs/a"}', 1, 21, "'b'"),
        Case(
            "json",
            '{"$defs": {"a": {"items": {"$ref": "#/$defs/b"}}, "b": {}}, "type": "null"}',
            1,
            12,
            "'a'",
        ),
    ],
}

CLEAN: dict[str, list[Clean]] = {
    "syntax": [Clean("gbnf", 'root ::= "a"'), Clean("lark", 'start: "a"'), Clean("json", "{}")],
    "undefined-name": [
        Clean("gbnf", 'root ::= x\nx ::= "a"'),
        Clean("gbnf", 'begin ::= "a"', {"start": "begin"}),
        Clean("lark", 'start: INT t{"a"}\nt{x}: x\n%import common.INT'),
        Clean("lark", "start: A _B\nA: /a/\n%declare _B"),
    ],
    "unsupported": [Clean("regex", r"(a)\x31")],
    "unsatisfiable": [Clean("regex", "a(?=b)b"), Clean("gbnf", 'root ::= "a" root?')],
    "limit": [Clean("regex", "(" * 300 + "a" + ")" * 300)],
    "never-finishes": [
        Clean("gbnf", 'root ::= "a" | x\nx ::= "b" x | "c"'),
        Clean("gbnf", 'root ::= "a" x*\nx ::= "b" (x "c")*'),
    ],
    "unused-rule": [
        Clean("gbnf", 'root ::= x\nx ::= "b" x?'),
        Clean("gbnf", 'root ::= TagDispatch(("<a>", x))\nx ::= "b"'),
        Clean("lark", 'start: t{x}\nt{y}: y+\nx: "b"'),
        Clean("lark", 'start: x\nx: "b"\n%extend x: y\ny: "c"'),
        Clean("lark", 'a: "a"\nb: "b"', {"start": ["a", "b"]}),
    ],
    "unused-terminal": [
        Clean("lark", 'start: B\nB: C "b"\nC: "c"'),
        Clean("lark", 'start: "a"\nB: "b"\n%ignore B'),
        Clean("lark", "start: INT\n%import common (INT, WS)\n%ignore WS"),
        Clean("lark", 'start: "a"..  "c" A~2..3\nA: "x" | "y" | /z/i // B: "b"\n'),
    ],
    "cyclic-rule": [
        Clean("gbnf", 'root ::= root "a" | "a"'),
        Clean("gbnf", 'root ::= x | "a"\nx ::= root "b"'),
        Clean("gbnf", 'root ::= ("a"?)* x\nx ::= "b"'),
    ],
    "nullable-loop": [
        Clean("gbnf", 'root ::= ("b" "a"?)* ("c"?)?'),
        Clean("regex", r"(a|b\*)*[(a*)*]\(a*"),
        Clean("regex", r"(?:a{0,2}b)+(?x) # (c*)*"),
        Clean("lark", 'start: ("a" | "b"?  "c")+ // (x*)*'),
    ],
    "nullable-repeat": [Clean("gbnf", 'root ::= ("b"){2,3} ("a"?){0,1}')],
    "duplicate-alternative": [
        Clean("gbnf", 'root ::= "a" | "b" ("a" | "c") | "A"'),
        Clean("gbnf", 'root ::= "a" | "c | c"'),
        Clean("gbnf", 'root ::= " " | "  " | [ ] | [  a]'),
        Clean("lark", "start: A\nA: /(x y|x  y)/"),
        Clean("regex", "ab|[ab|ab]|(ab|c)"),
        Clean("lark", 'start: "a" | "a"i | "b" -> a'),
    ],
    "terminal-never-wins": [
        Clean("lark", 'start: NAME | "if" NAME\nNAME: /[a-z]+/'),
        Clean("lark", "start: A | B\nA: /[a-c]+/\nB: /[a-z]+/"),
        Clean("lark", "start: A B\nA: /[a-z]+/\nB: /[a-c]/"),  # never at one place
        Clean("lark", "start: A | B\nA: /a(?!b)/\nB: /ab+/"),
        Clean("lark", 'start: A | B\nA: /a+/\nB: "b"', {"lexer": "basic"}),
    ],
    "terminal-overlap": [
        Clean("lark", 'start: NAME | "if" NAME\nNAME: /[a-z]+/'),
        Clean("lark", "start: A | B\nA: /[a-c]+/\nB: /[x-z]+/"),
        Clean("lark", "start: A | B\nA.2: /[a-c]x/\nB: /c[x-z]*/"),  # decided
        Clean("lark", "start: A B\nA: /[a-z]+[0-9]/\nB: /[a-z][0-9]+/"),  # never at one place
        Clean("lark", _INTS, EARLEY),
    ],
    "ambiguous-terminals": [
        Clean("lark", 'start: NAME "if"\nNAME: /[a-z]+/', EARLEY),
        Clean("lark", _INTS),
    ],
    "unbounded-whitespace": [
        Clean("gbnf", 'root ::= "a" ws "b"\nws ::= [ \\t\\n]{0,4}'),
        Clean("regex", r"a\s{0,3}b"),
        Clean("regex", r"a[ \]*]b\ *"[:-2]),
        Clean("lark", "start: A\nA: /a /+\n%ignore /#.*/"),
    ],
    "unbounded-repetition": [
        Clean("gbnf", 'root ::= item ("," item)*\nitem ::= "a" ("b" item "c")?'),
        Clean("gbnf", "root ::= [a-z]{1,20}"),
        Clean("regex", r"a{2,5}[*+]\*"),
        Clean("json", '{"type": ["string", "null"], "maxLength": 4}'),
        Clean("json", '{"type": "array", "maxItems": 4, "const": [{"type": "string"}]}'),
        Clean("json", '{"enum": ["a"], "type": "string"}'),
    ],
    "absent-token": [
        Clean("gbnf", 'root ::= <|think|> "a"', {"vocab": BYTES}),
        Clean("gbnf", 'root ::= "<think>" <[97]>', {"vocab": BYTES}),
    ],
    "token-as-text": [Clean("gbnf", 'root ::= "<|thin" <|think|>', {"vocab": BYTES})],
    "unspellable": [
        Clean("gbnf", 'root ::= "a" [bx]', {"vocab": LETTERS}),
        Clean("regex", "[^é]+é", {"vocab": BYTES}),
    ],
    "unused-definition": [
        Clean("json", '{"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {}}, "$ref": "#/$defs/a"}'),
        Clean("json", '{"$defs": {"a": {"$anchor": "x"}}, "$ref": "#x"}'),
        Clean("json", '{"$defs": {"a/b": {}}, "$ref": "#/$defs/a~1b"}'),
    ],
}

r"""The formats of the 2020-12 vocabulary as regular languages over code points.

Each is written from the grammar of its specification, with what a grammar alone cannot say worked
in: 29 February only in leap years, a leap second only where it is 23:59:60 in UTC, no `xn--`
labels that nobody has decoded. Where the exact set is no finite-state matter, or is a table that
changes with Unicode, the language is a subset that is surely valid, and `SUBSETS` says so: nothing
invalid is ever accepted.

A name that is not here says nothing about a value, as the specification wants.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Final

from constrain.algebra.codepoints import CodepointSet
from constrain.algebra.terms import Rule, Term, alt, cat, intersect, optional, repeat
from constrain.algebra.utf8 import Alphabet
from constrain.frontends.json_schema.string import Language
from constrain.frontends.regex import lower, parse

__all__ = ["FORMATS", "SUBSETS", "format_language"]

SUBSETS: Final = {
    "hostname": "no label with hyphens at its third and fourth place (so no `xn--` label)",
    "idn-hostname": "ASCII names as in `hostname`; others have at most 30 code points, and labels "
    "of at most 9 letters out of the common Latin, Greek, Cyrillic, Hangul, kana and Han ranges",
    "idn-email": "domains as in `idn-hostname`; local parts with letters beyond ASCII have at most "
    "16 code points",
    "regex": "groups nest at most three deep, no lookaround, no back-references, no named groups",
    "uri-template": "no operators that RFC 6570 reserves",
}
"""Formats of which only a part is accepted, and which part."""

_AROUND: Final = {
    "hostname": "[A-Za-z0-9.-]+",
    "idn-hostname": "[A-Za-z0-9.\u0080-\U0010ffff-]+",
    "idn-email": "(?s:.)+@(?s:.)+",
}
"""For some of them, what every text of the format is surely in."""


def _pattern(source: str, longest: int | None = None) -> Callable[[Alphabet], Term]:
    """Full matches of a pattern in Python syntax, of at most `longest` code points."""

    def make(alphabet: Alphabet) -> Term:
        term = lower(parse(source, "python"), alphabet)
        if longest is None:
            return term
        return intersect((term, repeat(alphabet.spell(CodepointSet.ANY), 0, longest)))

    return make


def _either(*makers: Callable[[Alphabet], Term]) -> Callable[[Alphabet], Term]:
    return lambda alphabet: alt([make(alphabet) for make in makers])


def _text(alphabet: Alphabet, characters: str) -> Term:
    """Exactly this text."""
    return cat(*[alphabet.spell(CodepointSet.of(c)) for c in characters])


# RFC 3339

_YEAR: Final = "[0-9]{4}"
_LEAP_YEAR: Final = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_DATE: Final = (
    f"(?:{_YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))"
    f"|{_LEAP_YEAR}-02-29)"
)
_HOUR: Final = "(?:[01][0-9]|2[0-3])"
_SIXTY: Final = "[0-5][0-9]"
_FRACTION: Final = r"(?:\.[0-9]+)?"
_OFFSET: Final = f"(?:[Zz]|[+-]{_HOUR}:{_SIXTY})"
_DAY: Final = 24 * 60
_TIME: Final = f"{_HOUR}:{_SIXTY}:{_SIXTY}{_FRACTION}{_OFFSET}"


def _leap_second(alphabet: Alphabet) -> Term:
    """hh:mm:60 with every offset that makes it 23:59:60 in UTC. Made hour by hour as texts need."""
    text = partial(_text, alphabet)

    def clock(minutes: int) -> str:
        return f"{minutes // 60 % 24:02d}:{minutes % 60:02d}"

    def offsets(local: int) -> Term:
        parts = [text("+" + clock(local + 1)), text("-" + clock(_DAY - 1 - local))]
        if local == _DAY - 1:
            parts.append(alphabet.spell(CodepointSet.of("Zz")))
        return cat(fraction, alt(parts))

    def minutes(hour: int) -> Term:
        parts = []
        for minute in range(60):
            local = 60 * hour + minute
            rest = Rule(f"offset of {clock(local)}:60", partial(offsets, local), regular=True)
            parts.append(cat(text(f"{minute:02d}:60"), rest))
        return alt(parts)

    fraction = lower(parse(_FRACTION, "python"), alphabet)
    hours = []
    for hour in range(24):
        rest = Rule(f"leap second of hour {hour}", partial(minutes, hour), regular=True)
        hours.append(cat(text(f"{hour:02d}:"), rest))
    return alt(hours)


def _date_time(alphabet: Alphabet) -> Term:
    date, time = _pattern(f"{_DATE}[Tt]")(alphabet), _pattern(_TIME)(alphabet)
    return cat(date, alt((time, _leap_second(alphabet))))


def _duration() -> str:
    n = "[0-9]+"
    time = f"T(?:{n}H(?:{n}M(?:{n}S)?)?|{n}M(?:{n}S)?|{n}S)"
    date = f"(?:{n}Y(?:{n}M(?:{n}D)?)?|{n}M(?:{n}D)?|{n}D)"
    return f"P(?:{date}(?:{time})?|{time}|{n}W)"


# Hosts and addresses

_BYTE: Final = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4: Final = rf"{_BYTE}(?:\.{_BYTE}){{3}}"


_IPV4_ADDRESS: Final = _pattern(_IPV4)
_GROUP: Final = _pattern("[0-9A-Fa-f]{1,4}")


# Put together from terms: as one pattern it would be read group by group, some sixty times.
def _ipv6(alphabet: Alphabet) -> Term:
    group, colon = _GROUP(alphabet), _text(alphabet, ":")
    groups = cat(group, colon)

    def before(most: int) -> Term:
        """At most so many groups, and one more, before a double colon."""
        return optional(cat(repeat(groups, 0, most), group))

    last = alt((cat(groups, group), _IPV4_ADDRESS(alphabet)))
    forms = [cat(repeat(groups, 6, 6), last), cat(colon, colon, repeat(groups, 5, 5), last)]
    forms += [cat(before(4 - n), colon, colon, repeat(groups, n, n), last) for n in range(5)]
    forms += [cat(before(5), colon, colon, group), cat(before(6), colon, colon)]
    return alt(forms)


_ALNUM: Final = "[A-Za-z0-9]"
_LDH: Final = "[A-Za-z0-9-]"
# A label of at most 63, no hyphen first or last, no hyphens at both the third and fourth place.
_LABEL: Final = (
    f"(?:{_ALNUM}(?:{_LDH}?{_ALNUM})?|{_ALNUM}{_LDH}(?:{_ALNUM}{_ALNUM}|-{_ALNUM})"
    f"|{_ALNUM}{_LDH}(?:{_ALNUM}{_LDH}|-{_ALNUM}){_LDH}{{0,58}}{_ALNUM})"
)
_HOSTNAME: Final = rf"{_LABEL}(?:\.{_LABEL})*"
_LETTERS: Final = (
    "a-z0-9\u00e0-\u00f6\u00f8-\u00ff\u03b1-\u03c9\u0430-\u044f"
    "\u3041-\u3094\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3"
)
_IDN_LABEL: Final = f"[{_LETTERS}]{{1,9}}"
_IDN: Final = f"{_IDN_LABEL}(?:[.\u3002\uff0e\uff61]{_IDN_LABEL})*"

_ATEXT: Final = r"A-Za-z0-9!#$%&'*+/=?^_`{|}~\-"
_QUOTABLE: Final = r" !#-\[\]-~"


def _local(more: str = "") -> str:
    atom = f"[{_ATEXT}{more}]+"
    quoted = rf'"(?:[{_QUOTABLE}{more}]|\\[ -~])*"'
    return rf"(?:{atom}(?:\.{atom})*|{quoted})"


_MAIL_DOMAIN: Final = (
    rf"{_ALNUM}(?:{_LDH}{{0,61}}{_ALNUM})?(?:\.{_ALNUM}(?:{_LDH}{{0,61}}{_ALNUM})?)*"
)
_BEYOND_ASCII: Final = "\u0080-\U0010ffff"


def _mail(local: str, longest: int, domain: str) -> Callable[[Alphabet], Term]:
    before, after = _pattern(local, longest), _pattern(domain)

    def make(alphabet: Alphabet) -> Term:
        text = partial(_text, alphabet)
        address = alt((_IPV4_ADDRESS(alphabet), cat(text("IPv6:"), _ipv6(alphabet))))
        host = alt((after(alphabet), cat(text("["), address, text("]"))))
        return cat(before(alphabet), text("@"), host)

    return make


# RFC 3986 and 3987

_UCS: Final = (
    "\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef"
    + "".join([f"{chr(p << 16)}-{chr((p << 16) + 0xFFFD)}" for p in range(1, 14)])
    + "\U000e1000-\U000efffd"
)
_PRIVATE: Final = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"
_PERCENT: Final = "%[0-9A-Fa-f]{2}"
_SUB: Final = "!$&'()*+,;="
_UNRESERVED: Final = r"A-Za-z0-9._~\-"


def _reference(more: str, more_in_query: str, *, relative: bool) -> Callable[[Alphabet], Term]:
    """RFC 3986, appendix A, with `more` unreserved characters (RFC 3987)."""
    plain = f"{_UNRESERVED}{_SUB}{more}"
    pchar = f"(?:[{plain}:@]|{_PERCENT})"
    user = _pattern(f"(?:(?:[{plain}:]|{_PERCENT})*@)?")
    future = _pattern(rf"[vV][0-9A-Fa-f]+\.[{_UNRESERVED}{_SUB}:]+")
    name = _pattern(f"(?:[{plain}]|{_PERCENT})*")
    after_host = _pattern(f"(?::[0-9]*)?(?:/{pchar}*)*")
    absolute = f"/(?:{pchar}+(?:/{pchar}*)*)?"
    rootless = f"{pchar}+(?:/{pchar}*)*"
    no_scheme = f"(?:[{plain}@]|{_PERCENT})+(?:/{pchar}*)*"
    scheme = _pattern("[A-Za-z][A-Za-z0-9+.-]*:")
    after_scheme, without = (
        _pattern(f"{absolute}|{rootless}|"),
        _pattern(f"{absolute}|{no_scheme}|"),
    )
    query = rf"(?:\?(?:[{plain}{more_in_query}:@/?]|{_PERCENT})*)?"
    fragment = f"(?:#(?:[{plain}:@/?]|{_PERCENT})*)?"
    end = _pattern(f"{query}{fragment}")

    def make(alphabet: Alphabet) -> Term:
        text = partial(_text, alphabet)
        in_brackets = alt((_ipv6(alphabet), future(alphabet)))
        host = alt((cat(text("["), in_brackets, text("]")), name(alphabet)))
        net_path = cat(text("//"), user(alphabet), host, after_host(alphabet))
        start = cat(scheme(alphabet), alt((net_path, after_scheme(alphabet))))
        if relative:
            start = alt((start, net_path, without(alphabet)))
        return cat(start, end(alphabet))

    return make


def _uri_template() -> str:
    literal = f"(?:[!#$&'-;=?-\\[\\]_a-z~{_UCS}{_PRIVATE}]|{_PERCENT})"
    character = f"(?:[A-Za-z0-9_]|{_PERCENT})"
    name = rf"{character}(?:\.?{character})*"
    variable = rf"{name}(?::[1-9][0-9]{{0,3}}|\*)?"
    return rf"(?:{literal}|\{{[+#./;?&]?{variable}(?:,{variable})*\}})*"


# Pointers and patterns

_POINTER: Final = "(?:/(?:[^~/]|~[01])*)*"


def _regex() -> str:
    """Patterns that are valid in ECMA-262 with the flag u, as in `SUBSETS`."""
    character = "[A-Za-z0-9 _,:;=!@#%&~\"'<>`/-]"
    escape = r"\\[dDwWsStnrfv.*+?^$(){}|\[\]\\/]"
    ranges = []
    for first, last in ("az", "AZ", "09"):
        ranges += [f"{chr(c)}-[{chr(c)}-{last}]" for c in range(ord(first), ord(last) + 1)]
    member = rf"(?:{'|'.join(ranges)}|[A-Za-z0-9 _,:;=!@#%&~\"'<>`/.*+?$(){{}}|]|{escape})"
    counts = ["[0-9]{1,4},?", "[0-9]{1,2},[1-9][0-9]{2,3}", "[0-9],[1-9][0-9]"]
    counts += [f"{n},[{n}-9]" for n in range(10)]
    quantifier = rf"(?:(?:[*+?]|\{{(?:{'|'.join(counts)})\}})\??)?"
    simple = rf"(?:{character}|\.|{escape}|\[\^?{member}+\])"
    inner = f"(?:{simple}{quantifier}|[$^])*"
    for _ in range(3):
        inner = rf"(?:(?:{simple}|\((?:\?:)?{inner}(?:\|{inner})*\)){quantifier}|[$^])*"
    return rf"{inner}(?:\|{inner})*"


FORMATS: Final[dict[str, Callable[[Alphabet], Term]]] = {
    "date": _pattern(_DATE),
    "time": _either(_pattern(_TIME), _leap_second),
    "date-time": _date_time,
    "duration": _pattern(_duration()),
    "ipv4": _IPV4_ADDRESS,
    "ipv6": _ipv6,
    "hostname": _pattern(_HOSTNAME, 253),
    "idn-hostname": _either(_pattern(_HOSTNAME, 253), _pattern(_IDN, 30)),
    "email": _mail(_local(), 64, _MAIL_DOMAIN),
    "idn-email": _either(
        _mail(_local(), 64, f"{_MAIL_DOMAIN}|{_IDN}"),
        _mail(_local(_BEYOND_ASCII), 16, f"{_MAIL_DOMAIN}|{_IDN}"),
    ),
    "uri": _reference("", "", relative=False),
    "uri-reference": _reference("", "", relative=True),
    "iri": _reference(_UCS, _PRIVATE, relative=False),
    "iri-reference": _reference(_UCS, _PRIVATE, relative=True),
    "uri-template": _pattern(_uri_template()),
    "uuid": _pattern("[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"),
    "json-pointer": _pattern(_POINTER),
    "relative-json-pointer": _pattern(f"(?:0|[1-9][0-9]*)(?:#|{_POINTER})"),
    "regex": _pattern(_regex()),
}


@cache
def format_language(name: str) -> Language | None:
    """The strings of a format, or None for a name that says nothing."""
    make = FORMATS.get(name)
    if make is None:
        return None
    around = _AROUND.get(name)
    return Language(
        f"format {name!r}",
        make,
        exact=name not in SUBSETS,
        has_text=True,
        around=None if around is None else Language(f"around {name!r}", _pattern(around)),
    )

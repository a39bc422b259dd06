"""Reading a grammar with lark's own loader, and its errors as ours.

lark reads the text, resolves imports and templates, and makes productions without operators. What
it says of a grammar that is wrong is kept; the place is looked up in the text, so that the message
has a caret under it.
"""

from __future__ import annotations

import ast
import difflib
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from constrain.errors import (
    BackendUnavailableError,
    GrammarError,
    GrammarSyntaxError,
    UnsupportedFeatureError,
)
from constrain.frontends.lark.alternatives import check_alternatives
from constrain.frontends.lark.templates import check_templates
from constrain.limits import Limits

if TYPE_CHECKING:
    from lark import Lark

__all__ = ["check_options", "read"]

LEXERS: Final = {
    "lalr": ("auto", "contextual", "basic"),
    "earley": ("auto", "dynamic", "dynamic_complete", "basic"),
}

_HEAD: Final = re.compile(r"(?m)^[ \t]*[?!]*(\w+)(?:\.-?\d+)?(?:\{[^}\n]*\})?[ \t]*:")
_DEFINITION_COST: Final = 1_000
"""What a rule or terminal costs in `Limits.max_source_nodes`. lark's analysis takes time in the
square of their number where rules begin with each other: 7 s for 1,000, 46 s for 2,000."""

_WAYS_OUT: Final = (
    (
        "Lexer does not allow zero-width",
        "let it match a character at least, and write NAME? for it",
    ),
    ("Empty terminals", "leave it out: an alternative may be empty, as in `a: | B`"),
    ("Recursion in terminal", "make it a rule, whose name is in lower case"),
    ("Expecting a value", "a name, text, pattern or group comes next, without a comma before it"),
    ("[Errno 2]", "import_paths=[...] has the folders in which %import looks"),
    ("Rules aren't allowed inside terminals", "make it a terminal, whose name is in upper case"),
    ("Wrong number of template arguments", "give it one argument for each of its parameters"),
    ("Bad Range", "counts are ~n or ~least..most"),
    ("an escape that means", r"\xHH, \uHHHH and \UHHHHHHHH have so many digits; \\ is a backslash"),
    ("Terminals cannot be empty (__IGNORE", "name a terminal, or write a pattern: %ignore / +/"),
    ("Alias expects lowercase", "a name of letters in lower case, as of a rule"),
    ("template ", "say them in braces behind its name"),
    ("a range is between", 'write "a".."z", or a pattern: /[a-z]/'),
)
"""Beginnings of what lark says, and what to do."""

_LONG: Final = r'"(?:\\.|[^"\\\n])(?:\\.|[^"\\\n])+"'
_TEXT: Final = r'"(?:\\.|[^"\\\n])*"'
_PLACES: Final = (
    (r"Bad Range .*\((\d+)\.\.(\d+) isn't", r"~\s*{0}\s*\.\.\s*{1}(?!\d)"),
    (r"\[Errno 2\].*?(\w+)\.lark'", r"(?<=%import[ \t])[ \t]*[\w.]*\b{0}\b"),
    (r"Lexer does not allow zero-width .*\(__\w+: '(.*)'\)", "/{0}/"),
    (r"an escape that means nothing in (.*)", '"{0}"|/{0}/'),
    (r"Terminals cannot be empty \(__IGNORE", r"%ignore(?=[ \t]*$)"),
    (r"Empty terminals", r'(?<![\\"\w])""(?!")'),
    (r"a range is between", rf"{_LONG}\s*\.\.\s*{_TEXT}|{_TEXT}\s*\.\.\s*{_LONG}"),
    (r"the pattern of .*bad character range (\S)-(\S)$", r'"{0}"\s*\.\.\s*"{1}"'),
)
"""What lark says without a place, and how that is written in the grammar."""

_STRAY: Final = {
    ";": "a rule ends with its line, without a semicolon",
    "'": 'texts are in double quotes: "text"',
    '"': "the text that begins here is not closed on its line",
    "/": "the pattern that begins here is not closed on its line",
    "=": "a rule is its name, a colon and what it matches",
}
"""What to say of a character that lark cannot read."""

# What lark lets through besides its own errors when a grammar is wrong, e.g. `%declare rule`.
_REFUSALS: Final = (
    re.error,
    OSError,
    AssertionError,
    AttributeError,
    LookupError,
    OverflowError,
    ValueError,
)


def check_options(
    parser: str,
    lexer: str,
    postlex: Any,  # noqa: ANN401 - a lark PostLex
) -> None:
    """Refuse what lark does not offer either.

    Raises:
        GrammarError: There is no such parser, or it has no such lexer.
        UnsupportedFeatureError: A `postlex` that is no `Indenter`, or with a parser that is not
            "lalr".
    """
    if parser not in LEXERS:
        raise GrammarError(f"parser must be 'lalr' or 'earley', not {parser!r}")
    if lexer not in LEXERS[parser]:
        names = ", ".join(map(repr, LEXERS[parser]))
        raise GrammarError(f"parser {parser!r} has the lexers {names}, not {lexer!r}")
    if postlex is None:
        return
    plain = all(
        getattr(type(postlex), name, None) is getattr(_indenter(), name)
        for name in ("process", "_process", "handle_NL", "always_accept")
    )
    if not plain:
        raise UnsupportedFeatureError(
            "postlex may be an Indenter of lark, with its own way to make lexemes",
            hint="derive from lark.indenter.Indenter and set its names and tab_len only",
        )
    if parser != "lalr":
        raise UnsupportedFeatureError("postlex needs parser='lalr'")


def _indenter() -> Any:  # noqa: ANN401 - lark.indenter.Indenter
    from lark.indenter import Indenter

    return Indenter


def read(
    text: str,
    starts: Sequence[str],
    parser: str,
    lexer: str,
    import_paths: Sequence[Any],
    postlex: Any,  # noqa: ANN401 - a lark PostLex
    limits: Limits,
) -> Lark:
    """What lark makes of a grammar.

    Raises:
        BackendUnavailableError: lark is not installed.
        GrammarSyntaxError: lark refuses the grammar.
        LimitExceededError: It is longer than `max_input_bytes`, or needs more than
            `max_source_nodes`.
    """
    try:
        import lark
    except ImportError as e:
        raise BackendUnavailableError(
            "lark", extra="lark", needed_for="reading a Lark grammar"
        ) from e
    if not isinstance(text, str):
        raise GrammarError(f"a grammar must be a str, not {type(text).__name__}")
    limits.check("max_input_bytes", len(text.encode(errors="replace")), "a Lark grammar")
    definitions = len(_HEAD.findall(text))
    limits.check("max_source_nodes", _DEFINITION_COST * definitions, "a Lark grammar")
    check_templates(text)
    check_alternatives(text, limits)
    from constrain.frontends.lark.lexers import plugins

    try:
        return lark.Lark(
            text,
            start=list(starts),
            parser=parser,
            lexer=lexer,
            import_paths=list(import_paths),
            postlex=postlex,
            _plugins=plugins(limits),
        )
    except lark.exceptions.UnexpectedInput as e:
        raise _unexpected(e, text) from e
    except RecursionError as e:
        raise _too_deep(text) from e
    except TypeError as e:  # lark 1.3.1 may fail where it says what is wrong
        cause = _first_unexpected(e)
        if cause is None:
            raise
        raise _unexpected(cause, text) from e
    except lark.exceptions.VisitError as e:
        raise (
            _too_deep(text) if isinstance(e.orig_exc, RecursionError) else _refused(e, text)
        ) from e
    except (lark.exceptions.LarkError, *_REFUSALS, _regex_error()) as e:
        raise _refused(e, text) from e


def _too_deep(text: str) -> GrammarSyntaxError:
    return GrammarSyntaxError(
        "the grammar nests too deep for lark, or imports itself",
        source=text,
        hint="give names to inner groups",
    )


def _regex_error() -> type[Exception]:
    """The error of the module `regex`, with which lark measures terminals where it is installed."""
    loaded = sys.modules.get("regex")
    found: type[Exception] = re.error if loaded is None else loaded.error
    return found


def _first_unexpected(error: BaseException) -> Any:  # noqa: ANN401 - UnexpectedInput or None
    """What was unexpected in the grammar itself: the first of those that led to an error."""
    from lark.exceptions import UnexpectedInput

    found = None
    at: BaseException | None = error
    while at is not None:
        found = at if isinstance(at, UnexpectedInput) else found
        at = at.__context__
    return found


def _unexpected(error: Any, text: str) -> GrammarSyntaxError:  # noqa: ANN401 - UnexpectedInput
    """Say that lark could not parse the grammar text itself."""
    at = error.pos_in_stream
    if not isinstance(at, int) or at < 0:
        at = len(text)
    expected = getattr(error, "accepts", None) or getattr(error, "expected", None) or ()
    names = ", ".join(sorted(map(str, expected)))
    reason = "the grammar ends too early" if at >= len(text) else f"unexpected {text[at]!r}"
    hint = _hint_on_cases(text, at) or (f"expected {names}" if names else None)
    return GrammarSyntaxError(reason, source=text, span=(at, at + 1), hint=hint)


def _refused(error: Exception, text: str) -> GrammarSyntaxError:
    """Say what lark found wrong in a grammar that it could parse."""
    message = str(error) or type(error).__name__
    place = re.search(r",? at line (\d+) column (\d+)", message)
    span = None
    if place is not None:
        lines = text.splitlines(keepends=True)
        line, column = int(place[1]), int(place[2])
        start = sum([len(part) for part in lines[: line - 1]]) + column - 1
        span = (start, start + 1)
        message = message[: place.start()]
    template = re.escape(message[1:-1])
    if isinstance(error, KeyError) and re.search(rf"(?m)^[ \t?!]*{template}[.\d-]*\{{", text):
        message = f"template {message} is used without its arguments"
    elif len(error.args) == 2 and isinstance(error.args[1], SyntaxError):
        message = f"an escape that means nothing in {error.args[0]}"
    elif 'process rule "range"' in message:
        message = "a range is between two texts of one character"
    span = span or _written(message, text)
    hint = None
    name = _name_in(message)
    if name is not None and message.startswith("Using an undefined rule"):
        message = f"there is no rule {name!r}, which is to be the start"
        near = _close(name, text)
        hint = f"did you mean {near!r}?" if near else "define it, or name another with start="
    elif broken := re.fullmatch(r"Cannot compile token (\w+): ('.*'|\".*\")", message, re.S):
        pattern = ast.literal_eval(broken[2])
        why = _why_broken(broken[1], pattern)
        message = f"the pattern of terminal {broken[1]} does not compile: {why}"
        written = re.search(re.escape(f"/{pattern}/"), text)
        written = written or re.search(rf"(?m)^[ \t]*{broken[1]}\b", text)  # it has flags
        span = _written(message, text) if written is None else written.span()
        hint = "patterns are those of the module re; \\ before a character means itself"
        if "global flags" in message:
            hint = "flags come after a pattern, /.../i, or before a part of it, /(?i:...)/"
    elif message.startswith("Reduce/Reduce"):
        message = re.sub(r"\s*\n\s*-?\s*", " ", message)
        hint = "let one of the rules stand for both, or use parser='earley'"
    elif span is not None and _hint_on_cases(text, span[0]):
        hint = _hint_on_cases(text, span[0])
    elif message.startswith("Unexpected input") and span is not None:
        hint = _STRAY.get(text[span[0] : span[1]])
    elif name is not None:
        if span is None:
            used = re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text)
            span = None if used is None else used.span()
        if re.search(r"(?i)(not|n't) defined|undefined|doesn't exist|nonexist|used but", message):
            hint = _nearest(name, text)
        elif message.endswith("defined more than once"):
            hint = "join the two with |; %override replaces and %extend adds to an imported one"
    hint = hint or next((out for begin, out in _WAYS_OUT if message.startswith(begin)), None)
    return GrammarSyntaxError(message.strip(), source=text, span=span, hint=hint)


def _written(message: str, text: str) -> tuple[int, int] | None:
    """Where in the grammar is what a message is about, if it says how that is written."""
    for said, pattern in _PLACES:
        if about := re.match(said, message, re.DOTALL):
            for n, part in enumerate(about.groups()):
                pattern = pattern.replace(f"{{{n}}}", re.escape(part))
            found = re.search(pattern, text, re.MULTILINE)
            return None if found is None else found.span()
    return None


def _why_broken(name: str, pattern: str) -> str:
    """What `re` says of a pattern that does not compile."""
    for written in (pattern, f"(?P<{name}>{pattern})"):  # alone, and as it stands among others
        try:
            re.compile(written)
        except re.error as error:
            return error.msg
    return "not with its flags"


def _hint_on_cases(text: str, at: int) -> str | None:
    """What to say if a place is in a word with letters of both cases."""
    for found in re.finditer(r"(?<!\w)[^\W\d]\w*", text):
        if found.start() <= at <= found.end():
            if found[0] in (found[0].lower(), found[0].upper()):
                return None
            return f"names of rules are in lower case, of terminals in upper case: {found[0]!r}"
    return None


def _name_in(message: str) -> str | None:
    """The symbol that a message of lark is about, if it names one."""
    for pattern in (r"\((\w+): '", r"'(\w+)'", r"rule:? (\w+)", r"defined: (\w+)"):
        if found := re.search(pattern, message):
            return found[1]
    return None


def _nearest(name: str, text: str) -> str:
    near = _close(name, text)
    return f"did you mean {near!r}?" if near else "define it, or %import it"


def _close(name: str, text: str) -> str | None:
    defined = [d for d in _HEAD.findall(text) if d != name]
    return next(iter(difflib.get_close_matches(name, defined, 1, 0.5)), None)

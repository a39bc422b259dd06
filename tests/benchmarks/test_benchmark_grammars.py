"""Templates written out, spellings for peers, what a summary of grammars holds."""

import pytest

from benchmarks.grammars.run import WARM_UPS, masks_per_second, summarise_grammars
from benchmarks.grammars.spellings import GRAMMARS, spelling
from benchmarks.grammars.templates import expand_templates
from benchmarks.plan import Plan, PlannedSchema, PlannedText
from benchmarks.play import PlayedText, Record
from benchmarks.watch import Run

TEMPLATES = r"""// a list of lists
start: list{item} | list{pair{A, "x"}}  // used twice
item: A | "list{item}" | /[{}]{2}\/{1}/
?pair{x, y}: x ":" y
    | list{x}
list{x}: "[" x ("," x)* "]"
A: /a\/{1,2}/
"""


def test_templates_become_rules_once_for_each_use():
    with pytest.raises(ValueError, match="pair takes 2"):
        expand_templates('start: pair{A}\npair{x, y}: x y\nA: "a"\n')
    expanded = expand_templates(TEMPLATES.replace('"x"', "B") + 'B: "b"\n')
    assert expanded.splitlines() == [
        "start: list__item | list__pair__a__b",
        r'item: A | "list{item}" | /[{}]{2}\/{1}/',
        r"A: /a\/{1,2}/",
        'B: "b"',
        'list__item: "[" item ("," item)* "]"',
        '?pair__a__b: A ":" B',
        "    | list__a",
        'list__pair__a__b: "[" pair__a__b ("," pair__a__b)* "]"',
        'list__a: "[" A ("," A)* "]"',
    ]


def test_expanded_templates_are_the_same_language():
    lark = pytest.importorskip("lark")
    text = TEMPLATES.replace('"x"', "B") + 'B: "b"\n'
    parsers = [lark.Lark(each, parser="lalr") for each in (text, expand_templates(text))]
    for sentence in ("[a/]", "[a/:b,[a/,a/]]", "[list{item}]", "[a/:a/]", "[]"):
        verdicts = []
        for parser in parsers:
            try:
                parser.parse(sentence)
                verdicts.append(True)
            except lark.exceptions.LarkError:
                verdicts.append(False)
        assert verdicts[0] == verdicts[1], sentence


@pytest.mark.parametrize("name", GRAMMARS)
def test_a_spelling_has_nothing_that_a_peer_cannot_read(name):
    for notation in ("ebnf", "lark", "lark with complements"):
        text = spelling(name, notation)
        if text is not None and notation != "ebnf":
            assert "(?!" not in text
            assert "(?=" not in text
            assert ("& ~" in text) == (notation == "lark with complements" and name == "sql_select")
    assert spelling("python", "lark") is None


@pytest.mark.parametrize("notation", ["lark", "ebnf"])
def test_spellings_accept_what_the_catalogue_accepts(notation, tmp_path):
    import constrain
    from benchmarks.grammars.spellings import CATALOGUE
    from constrain.fixtures import load

    text = spelling("json", notation)
    read = constrain.Grammar.from_lark if notation == "lark" else constrain.Grammar.from_gbnf
    grammar = read(text)
    fixtures = load(CATALOGUE / "json.gbnf").fixtures
    assert {fixture.verdict for fixture in fixtures} == {"accept", "reject"}
    for fixture in fixtures:
        assert grammar.accepts(fixture.data) == (fixture.verdict == "accept"), fixture.name


def test_each_grammar_has_its_own_figures_and_the_warm_up_none():
    texts = (PlannedText(0, "accept/a", True, (1,), None),)
    names = (*WARM_UPS, "json", "python")
    schemas = tuple(PlannedSchema(name, "catalogue", name, texts, "grammar") for name in names)
    plan = Plan("tiny", "nowhere", 32, ("constrain", "peer"), {}, 0, schemas)
    played = PlayedText(0, True, True, None, cold_ns=[4_000, 6_000], visited_ns=[1_000])
    records = [
        Record("json", "constrain", first_mask_ns=2_000_000, texts=[played]),
        Record("json", "peer", refused=("RefusedError", "no spelling of json")),
        Record("python", "constrain", first_mask_ns=9_000_000, texts=[played]),
        Record("python", "peer", broken="timeout (play)"),
    ]
    document = summarise_grammars(plan, [Run(records)], {}, {})
    assert list(document["grammars"]) == ["json", "python"]
    json_figures = document["grammars"]["json"]["engines"]["constrain"]["measures"]
    assert json_figures["first_mask_ms"]["mean"]["median"] == 2.0
    assert masks_per_second(json_figures["mask_cold_us"]) == 200_000
    assert masks_per_second({"n": 0}) is None
    assert document["grammars"]["python"]["engines"]["peer"]["broken"] == {
        "python": "timeout (play)"
    }

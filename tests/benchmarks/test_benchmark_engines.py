"""Every adapter on a tiny vocabulary: the protocol, a verdict each way, and the mask itself."""

import functools
import json
from dataclasses import replace

import pytest

from benchmarks.engines import DEFAULT_ENGINES, ENGINES, absence, create, installed_version
from benchmarks.plan import PlannedSchema, PlannedText, make_plan
from benchmarks.play import play_schema
from benchmarks.registry import Text, Workload
from benchmarks.vocabularies import encode
from benchmarks.watch import Deadlines, watch
from benchmarks.worker import _WARM_UP_TEXTS, WARM_UP_SCHEMAS

SCHEMA = (
    '{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "yz"]}}, '
    '"required": ["a"], "additionalProperties": false}'
)
VERDICTS = {
    '{"a": 12, "b": "yz"}': True,
    '{"a": 0}': True,
    '{"b": "x"}': False,
    '{"a": "1"}': False,
}


def installed(name):
    reason = absence(name)
    return pytest.param(name, marks=pytest.mark.skipif(reason is not None, reason=str(reason)))


EVERY_ENGINE = [installed(name) for name in ENGINES]


@pytest.fixture(scope="module")
def prepared(tiny_tokenizer):
    """Engines by name, each prepared once."""
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_tokenizer.folder)

    @functools.cache
    def prepare(name):
        engine = create(name)
        engine.prepare(tiny_tokenizer, tokenizer)
        return engine

    return prepare


def _planned(schema, verdicts, files):
    ids = encode(list(verdicts), files)
    texts = [
        PlannedText(i, text, valid, text_ids, None)
        for i, ((text, valid), text_ids) in enumerate(zip(verdicts.items(), ids, strict=True))
    ]
    return PlannedSchema("s", "c", schema, tuple(texts))


def test_the_default_engines_are_known():
    assert set(DEFAULT_ENGINES) <= set(ENGINES)


@pytest.mark.parametrize("name", EVERY_ENGINE)
def test_verdicts_on_whole_texts(prepared, tiny_tokenizer, name):
    engine = prepared(name)
    assert engine.name == name
    assert engine.settings
    assert installed_version(name)
    record = play_schema(engine, _planned(SCHEMA, VERDICTS, tiny_tokenizer))
    assert record.refused is None
    assert [text.failure for text in record.texts] == [None] * len(VERDICTS)
    assert [text.accepted for text in record.texts] == list(VERDICTS.values())


@pytest.mark.parametrize("name", EVERY_ENGINE)
def test_the_mask_is_that_of_the_position(prepared, tiny_tokenizer, name):
    compiled = prepared(name).compile('{"enum": [true, "t"]}')
    matcher = compiled.start()
    matcher.fill()
    ids = {data: i for i, data in enumerate(tiny_tokenizer.token_bytes) if data}
    assert matcher.allows(ids[b"t"])
    assert matcher.allows(ids[b'"'])
    assert not matcher.allows(ids[b"f"])
    assert not matcher.allows(tiny_tokenizer.eos_token_id)
    assert not matcher.is_accepting()
    for letter in b"true":
        assert matcher.accept(ids[bytes([letter])])
    matcher.fill()
    assert matcher.is_accepting()
    assert not matcher.allows(ids[b"t"])
    assert matcher.error() is None
    another = compiled.start()
    another.fill()
    assert another.allows(ids[b'"'])


@pytest.mark.parametrize("name", EVERY_ENGINE)
def test_the_warm_up_is_played_by_every_engine(prepared, tiny_tokenizer, name):
    for schema, text in zip(WARM_UP_SCHEMAS, _WARM_UP_TEXTS, strict=True):
        record = play_schema(prepared(name), _planned(schema, {text: True}, tiny_tokenizer))
        assert record.refused is None
        assert [text.accepted for text in record.texts] == [True]


@pytest.mark.parametrize("name", EVERY_ENGINE)
def test_a_schema_that_cannot_be_compiled_is_refused(prepared, tiny_tokenizer, name):
    planned = _planned('{"$ref": "#/$defs/missing"}', {}, tiny_tokenizer)
    record = play_schema(prepared(name), planned)
    assert record.refused is not None
    kind, message = record.refused
    assert kind.isidentifier()
    assert message


def test_styles_of_constrain_are_told_from_faults(prepared, tiny_tokenizer):
    texts = {'{"b":"x","a":1}': True, '{"a":3.5}': True}
    planned = _planned(SCHEMA, texts, tiny_tokenizer)
    record = play_schema(prepared("constrain"), planned)
    assert [(text.accepted, text.style) for text in record.texts] == [(False, True), (False, False)]


def test_a_worker_plays_a_plan(tiny_tokenizer):
    texts = tuple(Text(i, text, valid, None) for i, (text, valid) in enumerate(VERDICTS.items()))
    workloads = [
        Workload("one", "c", SCHEMA, texts),
        Workload("two", "c", '{"const": 1}', texts[:1]),
    ]
    engines = [name for name in ("constrain", "llguidance") if absence(name) is None]
    plan = make_plan(workloads, tiny_tokenizer, engines, {})
    run = watch(plan, Deadlines())
    assert [(r.schema, r.engine, r.broken) for r in run.records] == [
        (plan.schemas[index].id, engine, None) for index, engine in plan.steps()
    ]
    for record in run.records:
        expected = list(VERDICTS.values()) if record.schema == "one" else [False]
        assert [text.accepted for text in record.texts] == expected
    assert list(run.ready["engines"]) == engines
    for prepared_engine in run.ready["engines"].values():
        assert prepared_engine["warm_up_verdicts_right"]
        assert prepared_engine["vocabulary_s"] > 0
    json.dumps(run.ready)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", EVERY_ENGINE)
def test_a_batch_moves_each_row_by_itself(prepared, tiny_tokenizer, name, threads):
    engine = prepared(name)
    compiled = engine.compile(SCHEMA)
    texts = encode(['{"a": 12}', '{"a": 7}', '{"a": 305}'], tiny_tokenizer)
    batch = engine.batch([compiled] * 3, threads)
    for step in range(min(map(len, texts))):
        batch.fill()
        for row, ids in enumerate(texts):
            assert batch.words[row, ids[step] >> 5] >> (ids[step] & 31) & 1
            assert batch.accept(row, ids[step])
    batch.fill()


@pytest.mark.parametrize("name", EVERY_ENGINE)
def test_verbs_beyond_the_protocol_do_what_they_say(prepared, tiny_tokenizer, name):
    ids = encode(['{"a": 12}'], tiny_tokenizer)[0]
    matcher = prepared(name).compile(SCHEMA).start()
    for token_id in ids[:4]:
        assert matcher.accept(token_id)
    assert matcher.fork() is not None
    if hasattr(matcher, "rollback"):
        matcher.rollback(2)
        matcher.fill()
        assert matcher.allows(ids[2])
        assert matcher.accept(ids[2])
        assert matcher.accept(ids[3])
    matcher.fill()
    assert matcher.allows(ids[4])


@pytest.mark.parametrize("name", EVERY_ENGINE)
def test_a_grammar_of_the_catalogue_is_played_like_a_schema(prepared, tiny_tokenizer, name):
    verdicts = {'{"a": [1, "x"]}': True, '{"a": [1, }': False, "nul": False}
    planned = replace(_planned("json", verdicts, tiny_tokenizer), kind="grammar")
    record = play_schema(prepared(name), planned)
    assert record.refused is None
    assert [text.failure for text in record.texts] == [None] * 3
    assert [text.accepted for text in record.texts] == list(verdicts.values())

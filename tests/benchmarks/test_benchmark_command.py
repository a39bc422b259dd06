import pytest

import benchmarks
from benchmarks import options
from benchmarks import run as command
from benchmarks.registry import DataMissingError


def test_an_unknown_engine_is_named(capsys):
    assert benchmarks.main(["--engines", "nonsense"]) == 2
    assert "no engine is called nonsense" in capsys.readouterr().err


def test_absent_data_ends_with_a_sentence(monkeypatch, capsys):
    def nothing(*_args, **_named):
        raise DataMissingError("no schemas: the benchmark expects them elsewhere")

    monkeypatch.setattr(command, "sample", nothing)
    assert benchmarks.main(["--engines", "constrain"]) == 2
    assert "no schemas" in capsys.readouterr().err


def test_nothing_installed_is_not_a_result(monkeypatch, capsys):
    monkeypatch.setattr(options, "absence", lambda name: f"{name} is not installed")
    assert benchmarks.main([]) == 2
    assert "no engine is installed" in capsys.readouterr().err


@pytest.mark.parametrize("limit", ["xgrammar", "xgrammar=many", "nobody=3"])
def test_a_limit_needs_an_engine_and_a_number(limit):
    with pytest.raises(SystemExit):
        benchmarks.main(["--limit", limit])


@pytest.mark.parametrize(
    "name", [name for name in benchmarks.COMMANDS if name not in ("apply", "lengths")]
)
def test_every_command_says_what_it_lacks(name, capsys):
    assert benchmarks.main([name, "--engines", "nonsense"]) == 2
    assert "no engine is called nonsense" in capsys.readouterr().err


def test_one_file_cannot_hold_two_vocabularies(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(command, "locate", lambda name: name)
    out = str(tmp_path / "one.json")
    assert benchmarks.main(["--vocab", "a,b", "--out", out]) == 2
    assert "each vocabulary needs its own" in capsys.readouterr().err

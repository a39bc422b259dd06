"""The other commands: what is printed where, and how each ends."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import constrain
from constrain.cli.app import run
from constrain.errors import ModelError
from constrain.generation.packages import import_packages
from tests.generation.test_prompts import small_tokenizer
from tests.real_model import model_folder


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a random model over single bytes, as transformers saves it."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    folder = tmp_path_factory.mktemp("tiny-model")
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=288,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        eos_token_id=256,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    small_tokenizer().save_pretrained(folder)
    return folder


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"constrain {version('constrain-decoding')}\n"


def test_the_package_is_the_command_line_too() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "constrain", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"constrain {version('constrain-decoding')}\n"


@pytest.mark.parametrize(
    "command",
    ["demo", "generate", "check", "lint", "explain", "warmup", "model", "model fetch", "bench"],
)
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command.split(), "--help"]) == 0
    if command != "bench":  # a process of its own prints that
        assert f"constrain {command}" in capsys.readouterr().out


def test_paragraphs_of_help_are_wrapped_by_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not where the docstring in the code has its line ends."""
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    assert run(["lint", "--help"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    first = next(i for i, line in enumerate(lines) if line.startswith("Each finding has"))
    text = " ".join(lines[first : lines.index("", first)])
    assert text.endswith("2 if a file cannot be read.")
    assert all(len(line) > 60 for line in lines[first : lines.index("", first) - 1])


def test_generate_writes_the_text_to_standard_output_and_nothing_else(
    tiny_model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["generate", "--regex", "[a-c]{8}", "--prompt", "x", "--model", str(tiny_model)]
    assert run([*arguments, "--seed", "5"]) == 0
    first = capsys.readouterr()
    assert len(first.out) == 9
    assert set(first.out[:-1]) <= set("abc")
    assert first.err.splitlines() == ["Loading the model ...", "Loading kernels ..."]
    assert run([*arguments, "--seed", "5"]) == 0
    assert capsys.readouterr().out == first.out


def test_generate_as_json_has_the_figures(
    tiny_model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["generate", "--regex", "(a|b){4}", "--prompt", "x", "--model", str(tiny_model)]
    assert run([*arguments, "--json", "--temperature", "0"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (
        len(printed["text"]) == len(printed["token_ids"]) == printed["timings"]["num_tokens"] == 4
    )
    assert printed["finish_reason"] == "stop"
    assert printed["timings"]["num_prompt_tokens"] == 1
    assert printed["timings"]["mask_p99_us"] >= printed["timings"]["mask_p50_us"] > 0


def test_generate_with_a_schema(tiny_model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema = tiny_model / "schema.json"
    schema.write_text('{"type": "array", "items": {"enum": [1, 2]}, "minItems": 3, "maxItems": 3}')
    arguments = ["generate", "--schema", str(schema), "--prompt", "x", "--model", str(tiny_model)]
    assert run([*arguments, "--seed", "1"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert len(values) == 3
    assert set(values) <= {1, 2}


def test_a_cut_text_is_exit_code_1(tiny_model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["generate", "--regex", "a{9}", "--prompt", "x", "--model", str(tiny_model)]
    assert run([*arguments, "--max-new-tokens", "4"]) == 1
    printed = capsys.readouterr()
    assert printed.out == "aaaa\n"
    assert "the text was cut after 4 tokens" in printed.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--regex", "a", "--prompt", "x", "--model", "no/such/folder"], "there is no model at"),
        (["--regex", "a"], "--prompt"),
        (["--prompt", "x"], "give one of --schema FILE, --regex PATTERN, --gbnf FILE"),
        (["--regex", "a", "--prompt", "x", "--temperature", "-1"], "temperature=-1"),
        (["--regex", "a", "--prompt", "x", "--max-new-tokens", "-1"], "--max-new-tokens"),
    ],
)
def test_a_wrong_question_is_exit_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["generate", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert "Traceback" not in printed.err


@pytest.mark.parametrize("left", [0, 100, -50])
def test_damaged_weights_are_exit_code_2_with_a_way_out(
    left: int, tiny_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(tiny_model, folder)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:left])
    arguments = ["generate", "--regex", "a", "--prompt", "x", "--model", str(folder)]
    assert run(arguments) == 2
    printed = capsys.readouterr().err
    assert f"cannot load a model from {folder}" in printed
    assert "hint: the folder must be one that save_pretrained wrote" in printed


def test_debug_shows_the_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--debug", "explain", "--regex", "("]) == 2
    printed = capsys.readouterr().err
    assert printed.startswith("Traceback")
    assert "regex syntax error: " in printed


def test_a_bug_is_exit_code_70(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(constrain.Grammar, "from_regex", fail)
    assert run(["explain", "--regex", "a"]) == 70
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("bug: ZeroDivisionError: by zero\n")
    assert "Traceback" not in printed.err
    assert run(["--debug", "explain", "--regex", "a"]) == 70
    assert "Traceback" in capsys.readouterr().err


def test_the_demo_does_not_hide_what_jsonschema_says(
    tiny_model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    anything = constrain.Grammar.from_regex("[1-9]")
    monkeypatch.setattr(constrain.Grammar, "from_json_schema", lambda *_: anything)
    assert run(["demo", "--model", str(tiny_model)]) == 70
    assert "jsonschema objects to what the grammar allowed" in capsys.readouterr().err


def test_explain_says_how_texts_begin(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "--regex", "ab+[0-9]"]) == 0
    printed = capsys.readouterr().out
    assert "every text begins with: ab" in printed
    assert "then comes: '0' to '9', 'b'" in printed


def test_explain_cuts_a_long_beginning_for_people_and_not_for_programs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["explain", "--regex", "a{300}"]) == 0
    assert f"every text begins with: {'a' * 200}... (300 bytes)\n" in capsys.readouterr().out
    assert run(["explain", "--regex", "a{300}", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["begins_with"] == "a" * 300


def test_explain_takes_the_options_of_a_schema(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text(r'{"type": "string", "pattern": "^(a)\\1$", "format": "date"}')
    arguments = ["explain", "--schema", str(schema), "--json"]
    assert run(arguments) == 2
    assert json.loads(capsys.readouterr().out)["kind"] == "unsupported-feature"
    relaxed = [*arguments, "--on-unsupported", "relax", "--format", "annotate"]
    assert run([*relaxed, "--dialect", "draft7"]) == 0
    keywords = json.loads(capsys.readouterr().out)["keywords"]
    uses = {entry["keyword"]: entry["use"] for entry in keywords}
    assert uses == {"type": "enforced", "pattern": "relaxed", "format": "annotation"}


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (["explain", "--regex", r"[^\s\S]"], "unsatisfiable"),
        (["generate", "--regex", "a", "--prompt", "x", "--model", "no/such/folder"], "model"),
        (["check", "--grammar", "none.lark"], "grammar"),
        (["check", "."], "grammar"),
        (["lint", "."], "grammar"),
    ],
)
def test_each_error_is_json_for_a_program(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    kind: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run([*arguments, "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["kind"] == kind
    assert run(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"{kind} error: " in printed.err


def test_explain_as_json_lists_the_keywords(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text('{"type": "string", "maxLength": 3, "title": "a name"}')
    assert run(["explain", "--schema", str(schema), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    uses = {entry["keyword"]: entry["use"] for entry in printed["keywords"]}
    assert uses["maxLength"] == "enforced"
    assert uses["title"] == "annotation"
    assert printed["begins_with"] == '"'
    assert printed["num_terms"] > 0


@pytest.mark.parametrize(
    "command",
    [["demo"], ["generate", "--prompt", "x", "--regex", "ab"], ["explain", "--regex", "a"]],
)
def test_a_cold_cache_is_announced_before_a_grammar_is_read(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = []

    def grammar(*_: Any, **__: Any) -> None:
        said.append(capsys.readouterr().err)
        raise ModelError("far enough")

    (tmp_path / "walk").mkdir()  # numba makes it before it compiles
    monkeypatch.setattr("constrain.kernels.compile.kernel_folder", lambda: tmp_path)
    monkeypatch.setattr(constrain.Grammar, "from_regex", grammar)
    monkeypatch.setattr(constrain.Grammar, "from_json_schema", grammar)
    assert run(command) == 2
    assert said == ["Compiling kernels (once) ...\n"]


def test_kernels_that_are_kept_are_not_called_compiling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "walk").mkdir()
    (tmp_path / "walk" / "kernel.nbi").touch()
    monkeypatch.setattr("constrain.kernels.compile.kernel_folder", lambda: tmp_path)
    assert run(["explain", "--regex", "a"]) == 0
    assert capsys.readouterr().err == ""
    assert run(["warmup"]) == 0
    assert capsys.readouterr().err.startswith("Loading kernels ...\nkernels are ready")


def test_importing_torch_is_a_step_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    steps: list[Any] = []
    for _ in range(2):
        import_packages(("colorsys", "json"), "a test", lambda *step: steps.append(step))
    assert steps == [("import", 0, 1), ("import", 1, 1)]


def test_bench_names_the_package_that_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda *_: None)
    assert run(["bench"]) == 2
    printed = capsys.readouterr().err
    assert "not installed: tokenizers" in printed
    assert "pip install -e '.[bench]'" in printed


def test_bench_without_its_data_says_where_it_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    root = Path(constrain.__file__).parents[1]
    shutil.copytree(
        root / "benchmarks", tmp_path / "benchmarks", ignore=shutil.ignore_patterns("results")
    )
    monkeypatch.setattr(constrain, "__file__", str(tmp_path / "constrain" / "__init__.py"))
    assert run(["bench", "--quick"]) == 2
    printed = capfd.readouterr().err
    assert "benchmark: no schemas: the benchmark expects the MaskBench data" in printed
    assert "Traceback" not in printed


def test_warmup_says_when_it_is_ready(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["warmup"]) == 0
    assert "kernels are ready" in capsys.readouterr().err


def test_model_fetch_prints_the_folder(capsys: pytest.CaptureFixture[str]) -> None:
    folder = model_folder()
    assert run(["model", "fetch"]) == 0
    assert capsys.readouterr().out == f"{folder}\n"
    assert run(["model", "fetch", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["folder"] == str(folder)


def test_the_demo_writes_valid_json_and_says_what_it_cost(
    capsys: pytest.CaptureFixture[str],
) -> None:
    model_folder()
    assert run(["demo"]) == 0
    printed = capsys.readouterr()
    assert "jsonschema finds nothing to object to" in printed.out
    for figure in ("compile schema", "first mask", "mask, p50", "mask, p99", "sampler", "tokens/s"):
        assert figure in printed.out
    assert "\x1b" not in printed.out + printed.err, "plain in a pipe"


def test_the_demo_takes_another_model_and_says_when_the_text_is_cut(
    tiny_model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["demo", "--model", str(tiny_model), "--max-new-tokens", "5"]) == 1
    printed = capsys.readouterr()
    assert "the text was cut after 5 tokens" in printed.err
    assert "What it cost" in printed.out


def test_a_reader_that_goes_away_is_no_traceback() -> None:
    command = [sys.executable, "-c", "from constrain.cli import main; main()", "--help"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert "Traceback" not in said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
def test_a_full_disk_is_no_bug(tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text('{"const": 1}')
    command = [sys.executable, "-m", "constrain", "check", "--schema", "schema.json"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    *_, last = done.stderr.splitlines()  # where kernels are compiled, that is said before
    assert last == "system error: No space left on device"


def test_texts_are_utf_8_in_any_locale(tmp_path: Path) -> None:
    (tmp_path / "schéma.json").write_text('{"const": "é"}')
    done = subprocess.run(
        [
            *(sys.executable, "-c", "from constrain.cli import main; main()"),
            *("explain", "--json", "--schema", "schéma.json"),
        ],
        cwd=tmp_path,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout.decode())["begins_with"] == '"é"'


def test_looking_at_the_command_line_is_cheap() -> None:
    code = (
        "import sys; from constrain.cli.app import run; run(['--version']); "
        "heavy = {'torch', 'transformers', 'tokenizers', 'triton'} & set(sys.modules); "
        "sys.exit(','.join(heavy) or 0)"
    )
    done: Any = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr

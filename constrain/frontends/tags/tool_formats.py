r"""How model families write tool calls: one entry for each, with where it is documented.

>>> sorted(TOOL_FORMATS)[:3]
['deepseek', 'deepseek-v3.1', 'gemma']
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from constrain.errors import GrammarError, UnsupportedFeatureError

__all__ = ["TOOL_FORMATS", "ToolFormat", "resolve_tool_format"]


@dataclass(frozen=True, slots=True)
class ToolFormat:
    """How a turn with tool calls is written: `begin`, calls with `between` between them, `end`.

    Texts in brackets, such as `<tool_call>`, are matched as text and as special tokens.

    Attributes:
        call: One call: a text with `$NAME` where the name of the tool stands, and behind it `$ARGS`
            where its arguments stand, a JSON object.
        json_name: The name is a JSON string with its quotes, not the bare name.
        begin: Before the first call.
        between: Between two calls; None if a turn has one call only.
        end: After the last call.
        trigger: Where free text turns into calls: a beginning of what comes before the first
            name, by default `begin`, or all of it where that is empty.
        whole_message: A turn is either calls or text; there is no text before calls, and a text
            does not begin as calls do.
        always_text: Text comes first even where calls are required, since the model reasons in it.
        never: Texts that may not appear before the calls.
        stop: What may stand at the very end. Mostly an end token, so it may be absent as well.
        source: Where the format is documented.

    Raises:
        GrammarError: The texts do not fit together.
    """

    call: str
    json_name: bool = True
    begin: str = ""
    between: str | None = None
    end: str = ""
    trigger: str = ""
    whole_message: bool = False
    always_text: bool = False
    never: tuple[str, ...] = ()
    stop: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        name, arguments = self.call.find("$NAME"), self.call.find("$ARGS")
        if not 0 <= name < arguments or self.call.count("$NAME") + self.call.count("$ARGS") != 2:
            raise GrammarError(
                f"a call has $NAME and then $ARGS in it, once each, and {self.call!r} has not"
            )
        if not self.opening:
            raise GrammarError("something must stand before the name of the first tool")
        if self.whole_message and self.always_text:
            raise GrammarError("a turn that is either calls or text has no text before calls")
        if not self.opening.startswith(self.trigger):
            raise GrammarError(
                f"calls begin with {self.opening!r}, which {self.trigger!r} does not begin"
            )

    @property
    def call_parts(self) -> tuple[str, str, str]:
        """A call before the name, between name and arguments, and after them."""
        before, rest = self.call.split("$NAME")
        between, after = rest.split("$ARGS")
        return before, between, after

    @property
    def opening(self) -> str:
        """All that comes before the name of the first tool."""
        return self.begin + self.call_parts[0]

    @property
    def first_trigger(self) -> str:
        """The trigger, or its default."""
        return self.trigger or self.begin or self.opening


TOOL_FORMATS: Final[Mapping[str, ToolFormat]] = MappingProxyType(
    {
        "hermes": ToolFormat(
            call='<tool_call>\n{"name": $NAME, "arguments": $ARGS}\n</tool_call>',
            between="\n",
            trigger="<tool_call>",
            source="github.com/NousResearch/Hermes-Function-Calling; Qwen 2.5 and Qwen 3: the chat "
            "template in their tokenizer_config.json",
        ),
        "llama3": ToolFormat(
            call='{"name": $NAME, "parameters": $ARGS}',
            whole_message=True,
            source="llama.com/docs/model-cards-and-prompt-formats/llama3_1, JSON based tool "
            "calling",
        ),
        "mistral": ToolFormat(
            call="[TOOL_CALLS]$NAME[ARGS]$ARGS",
            json_name=False,
            between="",
            trigger="[TOOL_CALLS]",
            source="mistral-common, tokens/tokenizers/instruct.py: InstructTokenizerV13",
        ),
        "mistral-v3": ToolFormat(
            begin="[TOOL_CALLS][",
            call='{"name": $NAME, "arguments": $ARGS}',
            between=", ",
            end="]",
            trigger="[TOOL_CALLS]",
            source="mistral-common, tokens/tokenizers/instruct.py: InstructTokenizerV2 to V7",
        ),
        "deepseek": ToolFormat(
            begin="<｜tool▁calls▁begin｜>",
            call="<｜tool▁call▁begin｜>function<｜tool▁sep｜>$NAME\n```json\n$ARGS\n```"
            "<｜tool▁call▁end｜>",
            json_name=False,
            between="\n",
            end="<｜tool▁calls▁end｜>",
            source="DeepSeek-V3 and DeepSeek-R1: the chat template in their tokenizer_config.json",
        ),
        "deepseek-v3.1": ToolFormat(
            begin="<｜tool▁calls▁begin｜>",
            call="<｜tool▁call▁begin｜>$NAME<｜tool▁sep｜>$ARGS<｜tool▁call▁end｜>",
            json_name=False,
            between="",
            end="<｜tool▁calls▁end｜>",
            source="huggingface.co/deepseek-ai/DeepSeek-V3.1, README, ToolCall",
        ),
        "harmony": ToolFormat(
            call="<|channel|>commentary to=functions.$NAME <|constrain|>json<|message|>$ARGS",
            json_name=False,
            always_text=True,
            never=(" to=functions.",),
            stop="<|call|>",
            source="github.com/openai/harmony, docs/format.md, Receiving tool calls",
        ),
        "gemma": ToolFormat(
            call='{"name": $NAME, "parameters": $ARGS}',
            whole_message=True,
            source="ai.google.dev/gemma/docs/capabilities/function-calling (Gemma 3, where the "
            "prompt asks for JSON)",
        ),
    }
)
_NOT_JSON: Final = "it writes arguments in a form of its own, which is not JSON"
_REFUSED: Final = {
    "functiongemma": _NOT_JSON,
    "gemma4": _NOT_JSON,
    "qwen3-coder": _NOT_JSON,
    "deepseek-v3.2": _NOT_JSON,
}


def resolve_tool_format(given: object) -> ToolFormat:
    """The format of a name; a `ToolFormat` is returned as it is.

    Raises:
        GrammarError: There is no format of this name.
        UnsupportedFeatureError: There is, but it is not honoured here.
    """
    if isinstance(given, ToolFormat):
        return given
    found = TOOL_FORMATS.get(given) if isinstance(given, str) else None
    if found is not None:
        return found
    if isinstance(given, str) and given in _REFUSED:
        raise UnsupportedFeatureError(f"the tool-call format {given!r}: {_REFUSED[given]}")
    names = ", ".join(map(repr, TOOL_FORMATS))
    raise GrammarError(
        f"format must be one of {names}, or a ToolFormat, not {given!r}",
        hint='ToolFormat(call=\'<call>{"name": $NAME, "arguments": $ARGS}</call>\')',
    )

r"""How model families write tool calls: one entry for each, with where it is documented.

>>> sorted(TOOL_FORMATS)[:3]
['command-r7b', 'deepseek', 'deepseek-v3.1']
>>> TOOL_FORMATS["qwen3-coder"].opening
'<tool_call>\n<function='
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from constrain.errors import GrammarError
from constrain.frontends.mistaken import hint_on_name
from constrain.frontends.tags.argument_styles import PARAMETERS, PYTHON, ArgumentStyle
from constrain.frontends.tags.markers import bracketed

__all__ = ["TOOL_FORMATS", "ToolFormat", "resolve_tool_format"]

_PLACES: Final = re.compile(r"(\$NAME|\$ARGS|\$ID)")


@dataclass(frozen=True, slots=True)
class ToolFormat:
    """How a turn with tool calls is written: `begin`, calls with `between` between them, `end`.

    Texts in brackets, such as `<tool_call>`, are matched as text and as special tokens.

    Attributes:
        call: One call: a text with `$NAME` where the name of the tool stands, and behind it `$ARGS`
            where its arguments stand. `$ID` is where the model gives the call an id of its own.
        arguments: How the arguments are written; None for a JSON object.
        json_name: The name is a JSON string with its quotes, not the bare name.
        names: A pattern of `re` for the names that can be written bare.
        id: A pattern in ECMA-262 for `$ID`.
        begin: Before the first call.
        between: Between two calls; None if a turn has one call only.
        end: After the last call.
        lead: What may stand before `begin` where calls are required and no text comes first: this
            or a beginning of it.
        trigger: Where free text turns into calls: a beginning of what comes before the first
            name, by default `begin`, or all of it where that is empty.
        gap: What may stand right behind `trigger` or not.
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
    arguments: ArgumentStyle | None = None
    json_name: bool = True
    names: str = r"[\w.:/-]+"
    id: str = ""
    begin: str = ""
    between: str | None = None
    end: str = ""
    lead: str = ""
    trigger: str = ""
    gap: str = ""
    whole_message: bool = False
    always_text: bool = False
    never: tuple[str, ...] = ()
    stop: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        places = [piece for piece in self.pieces if piece.startswith("$")]
        known = [place for place in places if place != "$ID"]
        if known != ["$NAME", "$ARGS"] or len(places) > 3:
            raise GrammarError(
                f"a call has $NAME and then $ARGS in it, once each, and {self.call!r} has not"
            )
        if ("$ID" in places) != bool(self.id):
            raise GrammarError(
                "$ID stands in a call, and the pattern `id` says what it is: or none"
            )
        if not self.opening:
            raise GrammarError("something must stand before the name of the first tool")
        if self.whole_message and self.always_text:
            raise GrammarError("a turn that is either calls or text has no text before calls")
        if self.whole_message and self.gap:
            raise GrammarError("a turn that is either calls or text has no gap behind a trigger")
        if not self.opening.startswith(self.trigger):
            raise GrammarError(
                f"calls begin with {self.opening!r}, which {self.trigger!r} does not begin"
            )

    @property
    def pieces(self) -> list[str]:
        """A call, cut where something stands that differs: texts, "$ID", "$NAME", "$ARGS"."""
        return [piece for piece in _PLACES.split(self.call) if piece]

    @property
    def opening(self) -> str:
        """All that comes before what differs in the first call."""
        first = self.pieces[0]
        return self.begin if first.startswith("$") else self.begin + first

    @property
    def openings(self) -> tuple[str, ...]:
        """`opening`, and with the gap in it."""
        at = len(self.first_trigger)
        with_gap = self.opening[:at] + self.gap + self.opening[at:]
        return (self.opening, with_gap) if self.gap else (self.opening,)

    @property
    def first_trigger(self) -> str:
        """The trigger, or its default."""
        return self.trigger or self.begin or self.opening

    @property
    def marks(self) -> tuple[str, ...]:
        """Marks that no argument has in it, since readers cut a call there before they read it.

        Those that stand after arguments, where a string is its text; else all, as what is between
        quotes ends nothing, but readers that look for `<tool_call>` and `</tool_call>` find them
        there, and take the rest for another call.
        """
        if self.arguments is not None and self.arguments.nested != "python":
            return tuple(bracketed(self.call.partition("$ARGS")[2]) + bracketed(self.end))
        texts = [self.begin, *self.pieces, self.between or "", self.end, self.stop]
        found = dict.fromkeys([mark for text in texts for mark in bracketed(text)])
        return tuple([m for m in found if not any([o != m and m in o for o in found])])


_DIGITS: Final = "^(?:0|[1-9][0-9]{0,8})$"
_WORD: Final = rf"(?!(?:{'|'.join(keyword.kwlist)})\b)[A-Za-z_][A-Za-z0-9_]*"
_DOTTED: Final = rf"{_WORD}(?:\.{_WORD})*"
_GEMMA: Final = replace(PARAMETERS["gemma"], any_order=True)
_QWEN: Final = ArgumentStyle("<parameter=$KEY>\n$VALUE\n</parameter>\n")
_LLAMA_CPP: Final = "github.com/ggml-org/llama.cpp, models/templates"

TOOL_FORMATS: Final[Mapping[str, ToolFormat]] = MappingProxyType(
    {
        "hermes": ToolFormat(
            call='<tool_call>\n{"name": $NAME, "arguments": $ARGS}\n</tool_call>',
            between="\n",
            lead="\n\n",
            trigger="<tool_call>",
            source="github.com/NousResearch/Hermes-Function-Calling; Qwen 2.5 and Qwen 3: the chat "
            "template in their tokenizer_config.json",
        ),
        "qwen3-coder": ToolFormat(
            call="<tool_call>\n<function=$NAME>\n$ARGS</function>\n</tool_call>",
            arguments=_QWEN,
            json_name=False,
            between="\n",
            lead="\n\n",
            trigger="<tool_call>",
            source="Qwen3-Coder and Qwen 3.5: chat_template.jinja; values that are no strings as "
            "JSON, as in Qwen 3.5",
        ),
        "llama3": ToolFormat(
            call='{"name": $NAME, "parameters": $ARGS}',
            whole_message=True,
            source="llama.com/docs/model-cards-and-prompt-formats/llama3_1, JSON based tool "
            "calling",
        ),
        "pythonic": ToolFormat(
            begin="[",
            call="$NAME$ARGS",
            arguments=PYTHON,
            json_name=False,
            names=_DOTTED,
            between=", ",
            end="]",
            whole_message=True,
            source="github.com/meta-llama/llama-models, models/llama4/prompt_format.md and "
            "models/llama3_2/text_prompt_format.md, zero-shot function calling",
        ),
        "lfm2": ToolFormat(
            begin="<|tool_call_start|>[",
            call="$NAME$ARGS",
            arguments=PYTHON,
            json_name=False,
            names=_DOTTED,
            between=", ",
            end="]<|tool_call_end|>",
            trigger="<|tool_call_start|>",
            source=f"{_LLAMA_CPP}/LFM2.5-8B-A1B.jinja",
        ),
        "mistral": ToolFormat(
            call="[TOOL_CALLS]$NAME[ARGS]$ARGS",
            json_name=False,
            between="",
            trigger="[TOOL_CALLS]",
            source="mistral-common, tokens/tokenizers/instruct.py: InstructTokenizerV13",
        ),
        "mistral-v11": ToolFormat(
            call="[TOOL_CALLS]$NAME[CALL_ID]$ID[ARGS]$ARGS",
            json_name=False,
            id="^[a-zA-Z0-9]{9}$",
            between="",
            trigger="[TOOL_CALLS]",
            source="mistral-common, tokens/tokenizers/instruct.py: InstructTokenizerV11",
        ),
        "mistral-v3": ToolFormat(
            begin="[TOOL_CALLS][",
            call='{"name": $NAME, "arguments": $ARGS$ID}',
            id='^(?:, "id": "[a-zA-Z0-9]{9}")?$',  # from v3 on
            between=", ",
            end="]",
            trigger="[TOOL_CALLS]",
            gap=" ",  # in the tokenizers of SentencePiece
            source="mistral-common, tokens/tokenizers/instruct.py: InstructTokenizerV2 to V7",
        ),
        "deepseek": ToolFormat(
            begin="<｜tool▁calls▁begin｜>",
            call="<｜tool▁call▁begin｜>function<｜tool▁sep｜>$NAME\n```json\n$ARGS\n```"
            "<｜tool▁call▁end｜>",
            json_name=False,
            between="\n",
            end="<｜tool▁calls▁end｜>",
            never=("<｜tool▁call▁begin｜>",),
            source="DeepSeek-V3 and DeepSeek-R1: the chat template in their tokenizer_config.json",
        ),
        "deepseek-v3.1": ToolFormat(
            begin="<｜tool▁calls▁begin｜>",
            call="<｜tool▁call▁begin｜>$NAME<｜tool▁sep｜>$ARGS<｜tool▁call▁end｜>",
            json_name=False,
            between="",
            end="<｜tool▁calls▁end｜>",
            never=("<｜tool▁call▁begin｜>",),
            source="huggingface.co/deepseek-ai/DeepSeek-V3.1, README, ToolCall",
        ),
        "deepseek-v3.2": ToolFormat(
            begin="<｜DSML｜function_calls>\n",
            call='<｜DSML｜invoke name="$NAME">\n$ARGS\n</｜DSML｜invoke>',
            arguments=replace(PARAMETERS["deepseek_xml"], between="\n"),
            json_name=False,
            between="\n",
            end="\n</｜DSML｜function_calls>",
            lead="\n\n",
            trigger="<｜DSML｜function_calls>",
            source=f"{_LLAMA_CPP}/DeepSeek-V3.2.jinja",
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
        "gemma4": ToolFormat(
            call="<|tool_call>call:$NAME$ARGS<tool_call|>",
            arguments=_GEMMA,
            json_name=False,
            between="",
            trigger="<|tool_call>",
            stop="<|tool_response>",
            source=f"{_LLAMA_CPP}/gemma4.jinja; ai.google.dev/gemma/docs/core/"
            "prompt-formatting-gemma4",
        ),
        "functiongemma": ToolFormat(
            call="<start_function_call>call:$NAME$ARGS<end_function_call>",
            arguments=replace(_GEMMA, string="<escape>$VALUE<escape>", mark="<escape>"),
            json_name=False,
            between="",
            trigger="<start_function_call>",
            stop="<start_function_response>",
            source="ai.google.dev/gemma/docs/functiongemma/formatting-and-best-practices",
        ),
        "glm-4.5": ToolFormat(
            call="<tool_call>$NAME\n$ARGS</tool_call>",
            arguments=ArgumentStyle("<arg_key>$KEY</arg_key>\n<arg_value>$VALUE</arg_value>\n"),
            json_name=False,
            between="\n",
            lead="\n\n",
            trigger="<tool_call>",
            source=f"{_LLAMA_CPP}/GLM-4.6.jinja, and GLM-4.5 the same",
        ),
        "glm-4.7": ToolFormat(
            call="<tool_call>$NAME$ARGS</tool_call>",
            arguments=PARAMETERS["glm_xml"],
            json_name=False,
            between="",
            lead="\n\n",
            trigger="<tool_call>",
            source="xgrammar 0.2.9, builtin structural tags: glm_4_7 (GLM-4.7, GLM-5)",
        ),
        "minimax-m2": ToolFormat(
            begin="<minimax:tool_call>\n",
            call='<invoke name="$NAME">\n$ARGS</invoke>\n',
            arguments=ArgumentStyle('<parameter name="$KEY">$VALUE</parameter>\n'),
            json_name=False,
            between="",
            end="</minimax:tool_call>",
            lead="\n\n",
            trigger="<minimax:tool_call>",
            source=f"{_LLAMA_CPP}/unsloth-MiniMax-M2.jinja",
        ),
        "minimax-m3": ToolFormat(
            begin="]<]minimax[>[<tool_call>\n",
            call=']<]minimax[>[<invoke name="$NAME">$ARGS]<]minimax[>[</invoke>\n',
            arguments=PARAMETERS["minimax_m3_xml"],
            json_name=False,
            between="",
            end="]<]minimax[>[</tool_call>",
            lead="\n\n",
            trigger="]<]minimax[>[<tool_call>",
            source="xgrammar 0.2.9, builtin structural tags: minimax_m3",
        ),
        "kimi-k2": ToolFormat(
            begin="<|tool_calls_section_begin|>",
            call="<|tool_call_begin|>functions.$NAME:$ID<|tool_call_argument_begin|>$ARGS"
            "<|tool_call_end|>",
            json_name=False,
            id=_DIGITS,
            between="",
            end="<|tool_calls_section_end|>",
            never=("<|tool_call_begin|>",),
            source=f"{_LLAMA_CPP}/Kimi-K2-Thinking.jinja; huggingface.co/moonshotai/"
            "Kimi-K2-Instruct, docs/tool_call_guidance.md",
        ),
        "kimi-k3": ToolFormat(
            begin="<|open|>tools<|sep|>",
            call='<|open|>call tool="$NAME" index="$ID"<|sep|>$ARGS<|close|>call<|sep|>',
            arguments=PARAMETERS["kimi_k3_xml"],
            json_name=False,
            id=_DIGITS,
            between="",
            end="<|close|>tools<|sep|>",
            always_text=True,
            stop="<|close|>message<|sep|>",
            source=f"{_LLAMA_CPP}/Kimi-K3.jinja",
        ),
        "phi4-mini": ToolFormat(
            call='<|tool_call|>{"name": $NAME, "arguments": $ARGS}<|/tool_call|>',
            between="",
            trigger="<|tool_call|>",
            source=f"{_LLAMA_CPP}/llama-cpp-microsoft-Phi-4-mini-instruct.jinja",
        ),
        "granite": ToolFormat(
            begin="<|tool_call|>[",
            call='{"name": $NAME, "arguments": $ARGS}',
            between=", ",
            end="]",
            trigger="<|tool_call|>",
            source="IBM Granite 3.2 and 3.3: the chat template in their tokenizer_config.json",
        ),
        "nemotron": ToolFormat(
            begin="<TOOLCALL>[",
            call='{"name": $NAME, "arguments": $ARGS}',
            between=", ",
            end="]</TOOLCALL>",
            trigger="<TOOLCALL>",
            source=f"{_LLAMA_CPP}/NVIDIA-Nemotron-Nano-v2.jinja",
        ),
        "command-r7b": ToolFormat(
            begin="<|START_ACTION|>[\n    ",
            call='{"tool_call_id": "$ID", "tool_name": $NAME, "parameters": $ARGS}',
            id=_DIGITS,
            between=",\n    ",
            end="\n]<|END_ACTION|>",
            trigger="<|START_ACTION|>",
            source=f"{_LLAMA_CPP}/CohereForAI-c4ai-command-r7b-12-2024-tool_use.jinja",
        ),
        "exaone4": ToolFormat(
            call='<tool_call>{"name": $NAME, "arguments": $ARGS}</tool_call>',
            between="\n",
            lead="\n\n",
            trigger="<tool_call>",
            source="LGAI-EXAONE/EXAONE-4.0-32B: the chat template",
        ),
    }
)


_NAMES_OF_QWEN: Final = "'hermes' is that of Qwen 2.5 and Qwen 3, 'qwen3-coder' that of Qwen3-Coder"
_FAMILIES: Final = {
    **dict.fromkeys(("qwen", "qwen2", "qwen2.5", "qwen3"), _NAMES_OF_QWEN),
    **dict.fromkeys(("openai", "gpt-oss", "gptoss"), "'harmony' is that of GPT-OSS"),
}
"""Names of families whose formats have names that are not like theirs."""


def resolve_tool_format(given: object) -> ToolFormat:
    """The format of a name; a `ToolFormat` is returned as it is.

    Raises:
        GrammarError: There is no format of this name.
    """
    if isinstance(given, ToolFormat):
        return given
    found = TOOL_FORMATS.get(given) if isinstance(given, str) else None
    if found is not None:
        return found
    names = ", ".join(map(repr, TOOL_FORMATS))
    family = _FAMILIES.get(given.lower()) if isinstance(given, str) else None
    own = 'ToolFormat(call=\'<call>{"name": $NAME, "arguments": $ARGS}</call>\')'
    raise GrammarError(
        f"format must be one of {names}, or a ToolFormat, not {given!r}",
        hint=family or (hint_on_name(given, TOOL_FORMATS, own) if isinstance(given, str) else own),
    )

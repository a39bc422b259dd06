r"""Tools: text flows freely until a call begins, and the call is then exactly one that is offered.

$ python examples/08_tool_calls.py
anything may come              before 'It is warm.'
anything may come              before ' Let me look. '
anything may come              before '<tool_'
anything may come              before 'call>'
'\n{"name": "weather", "arguments": {' is forced after that
yes   Let me look. <tool_call> ... {"city": "Oslo"} ...
no    Let me look. <tool_call> ... {"town": "Oslo"} ...
yes   <think>A call, or not?</think>It is warm.
"""

from __future__ import annotations

import constrain

WEATHER = {
    "name": "weather",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
}
PIECES = ["It is warm.", " Let me look. ", "<tool_", "call>"]


def main() -> None:
    """Look at what a model may write, piece by piece."""
    tools = [{"type": "function", "function": WEATHER}]
    turn = constrain.Grammar.from_tools(tools, tool_choice="auto", format="hermes")

    letters = [bytes([b]) for b in range(256)]
    vocab = constrain.Vocabulary([*letters, *map(str.encode, PIECES), None], eos_token_ids=[260])
    matcher = constrain.compile(turn, vocab).matcher()
    bitmask = constrain.allocate_token_bitmask(1, vocab.vocab_size)
    for i, piece in enumerate(PIECES):
        restricts = matcher.fill_next_token_bitmask(bitmask)
        print(f"{'a choice' if restricts else 'anything'} may come{'':14}before {piece!r}")
        matcher.accept_token(256 + i)
    print(f"{matcher.find_jump_forward_bytes().decode()!r} is forced after that")

    call = 'Let me look. <tool_call>\n{"name": "weather", "arguments": ARGS}\n</tool_call>'
    for arguments in ('{"city": "Oslo"}', '{"town": "Oslo"}'):
        text = call.replace("ARGS", arguments)
        verdict = "yes" if turn.accepts(text.encode()) else "no"
        print(f"{verdict:5} Let me look. <tool_call> ... {arguments} ...")

    thoughtful = turn.with_reasoning("</think>", begin="<think>")
    text = "<think>A call, or not?</think>It is warm."
    print(f"{'yes' if thoughtful.accepts(text.encode()) else 'no':5} {text}")


if __name__ == "__main__":
    main()

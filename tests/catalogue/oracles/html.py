"""HTML: the tree that the tags say is the tree that a browser makes (`justhtml`).

A browser takes any text: it moves, adds and drops elements until there is a tree. So the tags are
read by `html.parser`, which changes nothing, and both trees are compared.
"""

from __future__ import annotations

from html.parser import HTMLParser

from justhtml import JustHTML

VOID = {"br", "hr", "img"}


class Tags(HTMLParser):
    """The tree as it is written: names, attributes, and lists of children."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root: list[object] = []
        self.open: list[tuple[str, list[object]]] = [("", self.root)]
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        children: list[object] = []
        if len(dict(attrs)) < len(attrs):
            self.wrong.append(f"an attribute comes twice in <{tag}>")
        self.open[-1][1].append((tag, dict(attrs), children))
        if tag not in VOID:
            self.open.append((tag, children))

    def handle_endtag(self, tag: str) -> None:
        if self.open[-1][0] == tag:
            self.open.pop()
        else:
            self.wrong.append(f"</{tag}> closes <{self.open[-1][0]}>")

    def handle_data(self, data: str) -> None:
        self.open[-1][1].append(data)

    def handle_comment(self, data: str) -> None:
        self.open[-1][1].append(("#comment", data))


def complaint(text: str) -> str | None:
    tags = Tags()
    tags.feed(text)
    tags.close()
    unclosed = [f"<{name}> is not closed" for name, _ in tags.open[1:]]
    if tags.wrong or unclosed:
        return "; ".join([*tags.wrong, *unclosed])
    made = _tree(JustHTML(text, fragment=True, sanitize=False).root.children)
    return None if made == tags.root else f"a browser makes of it {made}"


def _tree(nodes: list[object]) -> list[object]:
    """A tree of justhtml in the form of `Tags`."""
    found: list[object] = []
    for node in nodes:
        if node.name == "#text":
            found.append(node.data)
        elif node.name == "#comment":
            found.append((node.name, node.data))
        else:
            found.append((node.name, dict(node.attrs), _tree(node.children)))
    return found

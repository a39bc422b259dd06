"""Nodes that lead back to themselves are found if and only if there are some."""

from hypothesis import given
from hypothesis import strategies as st

from constrain.frontends.json_schema.circles import find_circle

GRAPHS = st.lists(st.lists(st.integers(0, 6), max_size=3), min_size=7, max_size=7)


def reached(graph, starts):
    found = set()
    todo = list(starts)
    while todo:
        node = todo.pop()
        if node not in found:
            found.add(node)
            todo += graph[node]
    return found


@given(GRAPHS, st.lists(st.integers(0, 6), max_size=3))
def test_a_circle_is_found_if_there_is_one(graph, starts):
    around = [n for n in reached(graph, starts) if n in reached(graph, graph[n])]
    circle = find_circle(starts, graph.__getitem__)
    assert (circle is not None) == bool(around)
    if circle is not None:
        assert len(set(circle)) == len(circle)
        after = [*circle[1:], circle[0]]
        assert all(b in graph[a] for a, b in zip(circle, after, strict=True))


def test_the_first_that_is_met_comes_first():
    assert find_circle("a", {"a": "b", "b": "cd", "c": "", "d": "b"}.__getitem__) == ["b", "d"]


def test_a_long_way_does_not_recurse():
    assert find_circle([0], lambda n: [n + 1] if n < 100_000 else [0]) == [*range(100_001)]

"""Strongly connected components, beside the definition: nodes that reach each other."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from constrain.frontends.components import components, unions


def reachable(successors, node):
    found = {node}
    todo = [node]
    while todo:
        for other in successors[todo.pop()]:
            if other not in found:
                found.add(other)
                todo.append(other)
    return found


def check(successors):
    component, found = components(successors)
    reaches = [reachable(successors, n) for n in range(len(successors))]
    assert sorted(n for part in found for n in part) == list(range(len(successors)))
    for number, part in enumerate(found):
        for n in part:
            assert component[n] == number
            assert set(part) == {m for m in reaches[n] if n in reaches[m]}
            assert all(component[s] <= number for s in successors[n])


def test_every_graph_of_three_nodes():
    rows = [[n for n in range(3) if bits >> n & 1] for bits in range(8)]
    for successors in product(rows, repeat=3):
        check(successors)


@pytest.mark.parametrize("seed", range(50))
def test_random_graphs(seed):
    random = Random(seed)
    size = random.randrange(4, 30)
    edges = random.randrange(3 * size)
    successors = [[] for _ in range(size)]
    for _ in range(edges):
        successors[random.randrange(size)].append(random.randrange(size))
    check(successors)


def test_nodes_are_in_the_order_of_the_search():
    assert components([[1], [2], [1, 3], []]) == ([2, 1, 1, 0], [[3], [1, 2], [0]])
    assert components([[2], [0], [1]]) == ([0, 0, 0], [[0, 2, 1]])
    assert components([]) == ([], [])


def test_a_long_path_needs_no_recursion():
    size = 100_000
    assert len(components([[n + 1] for n in range(size - 1)] + [[]])[1]) == size
    assert len(components([[n + 1] for n in range(size - 1)] + [[0]])[1]) == 1


@pytest.mark.parametrize("seed", range(50))
def test_unions_are_of_all_that_a_node_leads_to(seed):
    random = Random(seed)
    size = random.randrange(1, 20)
    successors = [[random.randrange(size) for _ in range(random.randrange(3))] for _ in range(size)]
    reaches = [reachable(successors, n) for n in range(size)]
    assert unions([1 << n for n in range(size)], successors) == [
        sum(1 << n for n in reached) for reached in reaches
    ]
    names = [frozenset((f"n{n}",)) for n in range(size)]
    assert unions(names, successors) == [frozenset(f"n{n}" for n in r) for r in reaches]

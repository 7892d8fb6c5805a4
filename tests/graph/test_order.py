"""The static order: no more results at a time than dask needs for the same graph, or hardly more."""
import os
import random
import sys

import pytest

from recorded import BUILD, TOP, run

FOLLOW = os.path.join(BUILD, "tests", "graph", "graph_follow")
DASK = os.path.join(TOP, "build", "neighbours", "%d.%d-dask" % sys.version_info[:2])


def reduced(graph, level, width):
    """Adds tasks that bring many results down to one, so many at a time."""
    while len(level) > 1:
        graph.extend(level[i:i + width] for i in range(0, len(level), width))
        level = list(range(len(graph) - (len(level) + width - 1) // width, len(graph)))
    return level[0]


def tree(leaves, width):
    graph = [[] for _ in range(leaves)]
    reduced(graph, list(range(leaves)), width)
    return graph


def chains(count, length):
    return [[i * length + k - 1] if k else [] for i in range(count) for k in range(length)]


def added(graph, needs):
    graph.append(needs)
    return len(graph) - 1


def two_sums(blocks):
    """Two reductions of the same blocks: a block has to serve both while it is there."""
    graph = [[] for _ in range(blocks)]
    for _ in range(2):
        reduced(graph, [added(graph, [i]) for i in range(blocks)], 4)
    return graph


def less_its_mean(blocks):
    graph = [[] for _ in range(blocks)]
    mean = reduced(graph, list(range(blocks)), 4)
    reduced(graph, [added(graph, [i, mean]) for i in range(blocks)], 4)
    return graph


def stencil(width, steps):
    graph = [[] for _ in range(width)]
    before = list(range(width))
    for _ in range(steps):
        before = [added(graph, [before[k] for k in (i - 1, i, i + 1) if 0 <= k < width]) for i in range(width)]
    graph.append(before)
    return graph


def matrices(n):
    graph = [[] for _ in range(2 * n * n)]
    for i in range(n):
        for j in range(n):
            added(graph, [added(graph, [i * n + k, n * n + k * n + j]) for k in range(n)])
    return graph


def plus_its_transposed(n):
    graph = [[] for _ in range(n * n)]
    turned = [added(graph, [j * n + i]) for i in range(n) for j in range(n)]
    reduced(graph, [added(graph, [i, turned[i]]) for i in range(n * n)], 4)
    return graph


def shuffled(n):
    graph = [[] for _ in range(n)]
    parts = [[added(graph, [i]) for _ in range(n)] for i in range(n)]
    for j in range(n):
        graph.append([parts[i][j] for i in range(n)])
    return graph


def by_chance(count, seed, most, window):
    chance = random.Random(seed)
    return [sorted({chance.randint(max(0, i - window), i - 1) for _ in range(min(i, chance.randint(0, most)))}) for i in range(count)]


GRAPHS = {"tree": tree(256, 2), "wide tree": tree(512, 8), "uneven tree": tree(1000, 3), "chains": chains(50, 20), "two sums": two_sums(256),
          "less its mean": less_its_mean(256), "stencil": stencil(30, 20), "matrices": matrices(7), "plus its transposed": plus_its_transposed(16),
          "shuffled": shuffled(20), "near": by_chance(600, 1, 3, 30), "far": by_chance(600, 2, 4, 600)}


def followed(graph):
    """In which order our engine began the tasks of a graph, and how many results it had at a time."""
    lines = run([FOLLOW], input="".join(" ".join(map(str, needs)) + "\n" for needs in graph)).stdout.splitlines()
    return list(map(int, lines[0].split())), int(lines[1])


def most_at_a_time(graph, order):
    uses = [sum(i in set(needs) for needs in graph) for i in range(len(graph))]
    live = most = 0
    for task in order:
        live += 1
        most = max(most, live)
        for need in set(graph[task]):
            uses[need] -= 1
            live -= uses[need] == 0
    return most


def dasks_order(graph):
    sys.path.insert(0, DASK)
    try:
        from dask.callbacks import Callback
        from dask.local import get_sync
    finally:
        sys.path.remove(DASK)

    order = []
    used = {need for needs in graph for need in needs}
    with Callback(pretask=lambda key, dsk, state: order.append(key[1])):
        get_sync({("k", i): (lambda *given: 1, *(("k", need) for need in needs)) for i, needs in enumerate(graph)},
                 [("k", i) for i in range(len(graph)) if i not in used])
    return order


@pytest.mark.parametrize("name", GRAPHS)
def test_everything_is_begun_once_and_after_what_it_needs(name):
    graph = GRAPHS[name]
    order, most = followed(graph)
    place = {task: i for i, task in enumerate(order)}
    assert sorted(order) == list(range(len(graph)))
    assert all(place[need] < place[task] for task, needs in enumerate(graph) for need in needs)
    assert most == most_at_a_time(graph, order)


@pytest.mark.skipif(not os.path.exists(os.path.join(DASK, "done")), reason="no dask (tools/neighbours)")
@pytest.mark.parametrize("name", GRAPHS)
def test_no_more_results_at_a_time_than_dask(name):
    graph = GRAPHS[name]
    assert followed(graph)[1] <= 1.1 * most_at_a_time(graph, dasks_order(graph))


def test_a_deep_tree_needs_as_many_results_as_it_is_high():
    assert followed(tree(4096, 2))[1] == 14

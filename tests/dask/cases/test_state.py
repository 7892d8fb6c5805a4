"""The dictionary that callbacks are given, beside the one that dask's own scheduler hands out: at every step, and after the run."""
import copy
import gc
import inspect
import pickle
import sys
import threading
import time
import weakref
from collections.abc import Mapping, Sequence, Set
from operator import add

import pytest

import venturi.dask
import venturi.dask.multiprocessing
import venturi.dask.threaded

NAMES = ["dependencies", "dependents", "waiting", "waiting_data", "cache", "ready", "running", "finished", "released"]
GETS = [venturi.dask.get, venturi.dask.threaded.get]
each_get = pytest.mark.parametrize("get", GETS, ids=["sync", "threads"])


def inc(x):
    return x + 1


def total(*values):
    return sum(values)


def fail(*values):
    raise ZeroDivisionError("on purpose")


def tree(depth):
    graph = {("leaf", i): (inc, i + 1000) for i in range(2 ** depth)}
    below = list(graph)
    for level in range(depth):
        above = [(f"level{level}", i) for i in range(len(below) // 2)]
        graph.update({key: (add, below[2 * i], below[2 * i + 1]) for i, key in enumerate(above)})
        below = above
    return graph, below


GRAPHS = {
    "chain": ({"a": (inc, 1), **{f"b{i}": (inc, f"b{i - 1}" if i else "a") for i in range(6)}}, "b5"),
    "tree": tree(3),
    "diamond": ({"a": 1, "b": (inc, "a"), "c": (inc, "a"), "d": (add, "b", "c")}, "d"),
    "middles": ({"a": (inc, 1), "b": (inc, "a"), "c": (add, "a", "b"), "d": (total, "a", "b", "c")}, ["d", ["b", "a"]]),
    "aliases": ({"a": (inc, 1), "b": "a", "c": "b", "d": (add, "c", "a")}, ["d", "b"]),
    "literals": ({"a": 1, "b": 2, "c": [3, 4], "d": (total, "a", "b"), "e": (len, "c"), "f": (add, "d", "e")}, ["f", "b"]),
    "lists": ({"a": 1, "b": (inc, "a"), "l": ["a", ["b", 5]], "s": (len, "l")}, ["s"]),
    "a literal alone": ({"a": 1}, "a"),
    "failing": ({"a": 1, "b": (inc, "a"), "c": (fail, "b"), "d": (inc, "c"), "e": (add, "d", "a")}, "e"),
    "failing first": ({"a": (fail,), "b": (inc, "a")}, ["b"]),
}
each_graph = pytest.mark.parametrize("name", GRAPHS)


def plain(state):
    """All that is in it, as ordinary objects; the older dasks leave out data that nobody waits for."""
    taken = copy.deepcopy(dict(state))
    for name, value in taken.items():
        assert isinstance(value, list if name == "ready" else dict if name in NAMES[:5] else set), name
    if "waiting_data" in taken:
        taken["waiting_data"] = {key: users for key, users in taken["waiting_data"].items() if users}
    return taken


def outcome(get, *args, **options):
    try:
        return get(*args, **options)
    except ZeroDivisionError as error:
        return str(error)


# ---- beside dask's own ------------------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", [name for name in GRAPHS if name not in ("tree", "diamond")])
def test_every_step_is_dasks(name):
    """The same calls, with the same in them. Of tasks that are all alike, dask's versions begin with different ones: no trees."""
    local = pytest.importorskip("dask.local")
    graph, keys = GRAPHS[name]
    told = {}
    for get in (local.get_sync, venturi.dask.get):
        steps = told[get] = []
        hooks = (None, lambda dsk, state: steps.append(("start", None, plain(state))), lambda key, dsk, state: steps.append(("pre", key, plain(state))),
                 lambda key, result, dsk, state, worker: steps.append(("post", key, plain(state))),
                 lambda dsk, state, failed: steps.append(("finish", failed, plain(state))))
        steps.append(("result", outcome(get, graph, keys, callbacks=[hooks])))
    theirs, ours = told.values()
    assert [step[:2] for step in ours] == [step[:2] for step in theirs]
    for our, their in zip(ours, theirs):
        assert our == their


class Following:
    """Moves a dictionary of dask's own along by dask's own functions, and sees that ours stays the same."""

    def __init__(self, keys):
        self.results = set(keys) if isinstance(keys, list) else {keys}
        self.steps = 0

    def compare(self, state, **more):
        ours, theirs = plain(state), plain(self.state)
        for taken in (ours, theirs):
            taken["ready"] = set(taken["ready"])  # dask's versions do not agree on the order of equals
        assert ours == theirs
        self.steps += 1

    def start_state(self, dsk, state):
        import dask.local
        from dask.order import order

        self.order = order(dsk).get
        takes_keys = "keys" in inspect.signature(dask.local.start_state_from_dask).parameters
        self.state = dask.local.start_state_from_dask(dsk, sortkey=self.order, **({"keys": self.results} if takes_keys else {}))
        self.compare(state)

    def pretask(self, key, dsk, state):
        self.state["ready"].remove(key)
        self.state["running"].add(key)
        self.compare(state)

    def posttask(self, key, result, dsk, state, worker):
        import dask.local

        self.state["cache"][key] = result
        dask.local.finish_task(dsk, key, self.state, self.results, self.order)
        self.compare(state)

    def finish(self, dsk, state, failed):
        self.compare(state)
        self.kept = state


@each_get
@each_graph
def test_every_step_follows_dasks(get, name):
    """In whatever order tasks end."""
    pytest.importorskip("dask.local")
    graph, keys = GRAPHS[name]
    flat = ["d", "b", "a"] if name == "middles" else keys
    following = Following(flat)
    outcome(get, graph, keys, callbacks=[(None, following.start_state, following.pretask, following.posttask, following.finish)], num_workers=2)
    steps = following.steps
    following.compare(following.kept)  # and it stays so
    assert steps >= 2 and plain(following.kept) == plain(pickle.loads(pickle.dumps(following.kept)))


def test_what_is_touched_late_is_there():
    """Nothing is looked at until the run has failed, or is over."""
    local = pytest.importorskip("dask.local")
    for graph, keys in GRAPHS.values():
        kept = []
        for get in (local.get_sync, venturi.dask.get):
            outcome(get, graph, keys, callbacks=[(None, lambda dsk, state: kept.append(state), None, None, None)])
        assert plain(kept[0]) == plain(kept[1])


def test_a_hook_that_raises_leaves_its_task_running():
    local = pytest.importorskip("dask.local")
    kept = []

    def pretask(key, dsk, state):
        if key == "b":
            raise ZeroDivisionError("on purpose")

    for get in (local.get_sync, venturi.dask.get):
        outcome(get, {"a": (inc, 1), "b": (inc, "a"), "c": (inc, "b")}, "c",
                callbacks=[(None, None, pretask, None, lambda dsk, state, failed: kept.append(plain(state)))])
    assert kept[0] == kept[1] and kept[1]["running"] == {"b"}


def test_the_older_pair_sees_it_too():
    seen = []
    venturi.dask.get(GRAPHS["diamond"][0], "d", start_callback=lambda key, dask, state: seen.append((key, plain(state)["running"])),
                     end_callback=lambda key, dask, state, id: seen.append((key, plain(state)["finished"])))
    assert [key for key, _ in seen] in (list("bbccdd") + [None, None], list("ccbbdd") + [None, None])
    assert [len(keys) for _, keys in seen] == [1, 1, 1, 2, 1, 3, 0, 3]


# ---- a dictionary -----------------------------------------------------------------------------------------------------------------------------

def state_of(graph=GRAPHS["diamond"][0], keys="d", at="d"):
    """As it was when a task began: of a run that ended there."""
    kept = []

    def pretask(key, dsk, state):
        if key == at:
            kept.append(state)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        venturi.dask.get(graph, keys, callbacks=[(None, None, pretask, None, None)])
    return kept[0]


def test_entries_are_made_when_they_are_touched():
    state = state_of()
    assert isinstance(state, dict) and isinstance(state, Mapping) and dict.__len__(state) == 0
    assert len(state["running"]) == 1 and dict.__len__(state) == 1
    assert state["running"] is state["running"] is state.get("running") and dict.__len__(state) == 1
    assert "ready" in state and "nothing" not in state and state.get("nothing", 5) == 5 and dict.__len__(state) == 1
    with pytest.raises(KeyError, match="nothing"):
        state["nothing"]
    with pytest.raises(TypeError):
        state[[]]
    assert state["ready-set"] == set() and "ready-set" not in state  # dask had it in 2015
    assert len(state) == 9 and dict.__len__(state) == 9 and sorted(state) == sorted(NAMES)


def test_it_is_a_dict():
    for touch in (lambda state: 0, len, lambda state: state["waiting"]):
        made = [state_of() for _ in range(14)]
        for state in made:
            touch(state)
        known = {name: made[0][name] for name in NAMES}
        assert made[1] == known and known == made[2] and made[3] == made[4] and not made[5] != known
        assert set(made[1].keys()) == set(made[2].copy()) == {name for name, _ in made[3].items()} == set(NAMES)
        assert type(made[4].copy()) is dict and dict(made[5]) == {**made[6]} == known and len(list(made[7].values())) == 9
        assert eval(repr(made[8])) == known and set(reversed(made[9])) == set(NAMES)
        assert (made[10] | {"mine": 1})["ready"] == [] and set({"mine": 1} | made[11]) == set(NAMES) | {"mine"} if sys.version_info >= (3, 9) else True
        state = made[12]
        state["mine"] = 5
        assert state["mine"] == 5 and len(state) == 10 and state.pop("running") == {"d"} and "running" not in state
        with pytest.raises(KeyError):
            state["running"]
        del state["ready"]
        assert len(state) == 8 and state.setdefault("ready", 7) == 7 and state.setdefault("cache", 7) == {"b": 2, "c": 2}
        state.clear()
        assert not state and state.get("cache") is None and state == {}
        assert copy.deepcopy(made[13]) == known and type(copy.copy(made[13])) is dict
    assert type(venturi._venturi.State()) is not dict and venturi._venturi.State() == {}


def test_sets():
    running, finished = state_of()["running"], state_of()["finished"]
    assert isinstance(finished, Set) and finished == {"b", "c"} and {"b", "c"} == finished and finished != {"b"} and finished != 5
    assert "b" in finished and "x" not in finished and len(finished) == 2 and sorted(finished) == ["b", "c"] and running
    assert finished | running == {"b", "c", "d"} and finished & {"b"} == {"b"} and {"b"} - finished == set() and finished ^ {"b", "x"} == {"c", "x"}
    assert finished > {"b"} and finished >= {"b"} and {"b"} < finished and not finished <= {"b"} and {"x": 1}.keys() & finished == set()
    assert finished.union([1]) == {"b", "c", 1} and finished.intersection(["b"], "b") == {"b"} and finished.difference("b") == {"c"}
    assert finished.isdisjoint(running) and finished.issubset("abc") and finished.issuperset("b") and finished.symmetric_difference("b") == {"c"}
    assert type(finished.copy()) is type(copy.copy(finished)) is type(finished | set()) is set and repr(running) == "{'d'}"
    for wrong in (lambda: finished.add(1), lambda: hash(finished), lambda: [] in finished, lambda: finished | [1], lambda: finished.union(5)):
        with pytest.raises((AttributeError, TypeError)):
            wrong()


def test_dicts():
    state = state_of(at="b", graph={**GRAPHS["diamond"][0], "e": (inc, "b")}, keys=["e", "d"])
    dependencies, cache = state["dependencies"], state["cache"]
    assert isinstance(dependencies, Mapping) and isinstance(cache, Mapping) and len(dependencies) == 5
    assert dependencies["d"] == {"b", "c"} and dependencies.get("x") is None and dependencies.get("x", 1) == 1 and "d" in dependencies
    assert sorted(dependencies) == sorted(dependencies.keys()) == list("abcde") and dict(dependencies.items()) == dependencies == dict(dependencies)
    assert sorted(len(value) for value in dependencies.values()) == [0, 1, 1, 1, 2] and dependencies | {"x": 1} == {**dependencies, "x": 1}
    assert cache == {"a": 1} or cache == {"a": 1, "c": 2}
    assert cache["a"] == 1 and cache.copy() == cache and "b" not in cache and type(cache.copy()) is dict and eval(repr(dependencies)) == dependencies
    for wrong in (dependencies, cache):
        with pytest.raises(KeyError, match="nothing"):
            wrong["nothing"]
        with pytest.raises(TypeError):
            wrong["x"] = 1


def test_the_list():
    state = state_of(graph={i: (inc, 0.5) for i in range(5)}, keys=list(range(5)), at=0)
    ready = state["ready"]
    plain_list = list(ready)
    assert isinstance(ready, Sequence) and sorted(ready) == [1, 2, 3, 4] and len(ready) == 4 and plain_list == ready and ready == plain_list
    assert [ready[i] for i in range(-4, 4)] == plain_list * 2 and ready[1:3] == plain_list[1:3] and 3 in ready and 0 not in ready
    assert ready.index(plain_list[2]) == 2 and ready.count(1) == 1 and list(reversed(ready)) == plain_list[::-1] and ready + [7] == [*plain_list, 7]
    assert type(ready.copy()) is list and repr(ready) == repr(plain_list)
    for place in (4, -5, 10 ** 30):
        with pytest.raises(IndexError):
            ready[place]


def test_inner_sets_are_live():
    """Whoever holds one sees it shrink, as dask's do."""
    seen, kept = [], {}

    def start_state(dsk, state):
        kept.update(waiting=state["waiting"]["d"], users=state["waiting_data"]["a"], all=state["dependents"]["a"])

    def posttask(key, result, dsk, state, worker):
        seen.append((len(kept["waiting"]), len(kept["users"]), len(kept["all"]), "d" in state["waiting"]))

    venturi.dask.get(GRAPHS["diamond"][0], "d", callbacks=[(None, start_state, None, posttask, None)])
    assert seen == [(1, 1, 2, True), (0, 0, 2, False), (0, 0, 2, False)]
    assert kept["waiting"] == set() and kept["all"] == {"b", "c"}


# ---- what it holds ----------------------------------------------------------------------------------------------------------------------------

class Token:
    pass


def gets_of_both():
    local = pytest.importorskip("dask.local")
    return [local.get_sync, venturi.dask.get]


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_values_live_as_long_as_with_dask(no_collector):
    """A state that is kept holds results, not what was released, nor functions, nor data that nobody needs any more."""
    for get in gets_of_both():
        kept, refs = [], {}

        def made(name, *needs):
            token = Token()
            refs[name] = weakref.ref(token)
            return token

        literal, function_data = made("literal"), made("function")
        graph = {"l": literal, "m": (lambda l, held=function_data: made("middle", l), "l"), "r": (lambda m: made("result", m), "m")}
        del literal, function_data
        result = get(graph, "r", callbacks=[(None, lambda dsk, state: kept.append(state), None, None, None)])
        del graph
        assert {name for name, ref in refs.items() if ref() is not None} == {"result"}, get
        assert kept[0]["cache"] == {"r": result}
        del result
        assert refs["result"]() is not None
        kept.clear()
        assert refs["result"]() is None


def test_values_of_a_run_that_failed(no_collector):
    for get in gets_of_both():
        kept, refs = [], []

        def made():
            token = Token()
            refs.append(weakref.ref(token))
            return token

        try:
            get({"a": (made,), "b": (fail, "a"), "c": (inc, "b")}, "c", callbacks=[(None, None, None, None, lambda dsk, state, failed: kept.append(state))])
        except ZeroDivisionError as error:
            error.__traceback__ = None
        gc.collect()  # the exception's frames
        assert list(kept[0]["cache"].values()) == [refs[0]()] and refs[0]() is not None
        kept.clear()
        gc.collect()
        assert refs[0]() is None


def test_states_in_cycles_are_collected():
    class Key:
        pass

    def once(place):
        token, kept = Token(), []
        key = ("k", Key())
        key[1].kept = token.kept = kept
        graph = {"value": {"x": (lambda: token,)}, "key": {key: (inc, 1), "x": (inc, key)}, "failed": {"a": (lambda: token,), "x": (fail, "a")},
                 "view": {"x": (lambda: token,)}}[place]
        outcome(venturi.dask.get, graph, "x", callbacks=[
            (None, None, lambda key, dsk, state: kept.append(state["cache"] if place == "view" else state), None, None)])
        return weakref.ref(token if place != "key" else key[1])

    for place in ("value", "key", "failed", "view"):
        ref = once(place)
        gc.collect()
        assert ref() is None, place


def test_nothing_is_left_behind():
    """Ten thousand runs, each looked at all over, kept for a while, some of them failing."""
    def posttask(key, result, dsk, state, worker):
        plain(state) if count % 50 == 0 else [len(state[name]) for name in NAMES]
        for _ in state["dependencies"][key] | state["running"]:
            pass

    def blocks():
        gc.collect()
        return sys.getallocatedblocks()

    kept = []
    hooks = [(None, None, None, posttask, lambda dsk, state, failed: kept.append((state["cache"], state["waiting"], state)))]
    for rounds in (2000, 10000):
        before = blocks()
        for count in range(rounds):
            name = "failing" if count % 10 == 0 else "diamond"
            outcome(venturi.dask.get, *GRAPHS[name], callbacks=hooks)
            if count % 20 == 0:
                assert all(cache == state["cache"] for cache, _, state in kept)
                kept.clear()
        kept.clear()
        grown = blocks() - before
    assert grown < 800  # one block for each that failed would be 1000


# ---- several threads --------------------------------------------------------------------------------------------------------------------------

class Slow:
    """A key whose comparison lets other threads run: whatever is looked at meanwhile may go."""

    def __init__(self, name):
        self.name = name

    def __hash__(self):
        time.sleep(0)
        return hash(self.name)

    def __eq__(self, other):
        time.sleep(0)
        return self.name == other.name


def test_looking_while_the_run_ends():
    """From another thread, at a run that may be over at any moment."""
    looked, wrong, stop = [], [], threading.Event()
    states = []

    def look():
        while not stop.is_set():
            for state in states[-1:]:
                try:
                    key = ("k", Slow(3))
                    key in state["finished"], len(state["cache"]), list(state["released"]), key in state["waiting"], dict(state["dependencies"])
                    [len(users) for users in state["waiting_data"].values()], list(state["ready"]), repr(state["running"]), state["cache"].get(key)
                    looked.append(1)
                except Exception as error:
                    wrong.append(repr(error))
                    return

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(60):
            graph = {("k", Slow(i)): (inc, ("k", Slow(i - 1))) if i else 0 for i in range(12)}
            for get in GETS:
                get(graph, ("k", Slow(11)), callbacks=[(None, lambda dsk, state: states.append(state), None, None, None)])
            del states[:-1]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert looked and not wrong


def test_concurrent_runs_have_their_own():
    wrong = []

    def compute(number):
        graph = {(number, i): (inc, (number, i - 1)) if i else number for i in range(200)}

        def posttask(key, result, dsk, state, worker):
            done = set(state["finished"])
            if done != {(number, i) for i in range(1, key[1] + 1)} or state["cache"][key] != number + key[1] or len(state["running"]):
                wrong.append((number, key))

        assert GETS[number % 2](graph, (number, 199), callbacks=[(None, None, None, posttask, None)]) == number + 199

    threads = [threading.Thread(target=compute, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_of_processes():
    """Values that came from others are made once they are looked at; those of results are what the caller gets."""
    seen, kept = [], []
    got = venturi.dask.multiprocessing.get({"a": (total, 1, 2), "b": (inc, "a"), "c": (inc, "b")}, ["c"], num_workers=1, optimize_graph=False, callbacks=[
        (None, None, None, lambda key, result, dsk, state, worker: seen.append(dict(state["cache"])), lambda dsk, state, failed: kept.append(state))])
    assert got == (5,) and seen == [{"a": 3}, {"b": 4}, {"c": 5}] and kept[0]["cache"] == {"c": 5} and kept[0]["released"] == {"a", "b"}
    with pytest.raises(ZeroDivisionError):
        venturi.dask.multiprocessing.get({"a": (total, 1, 2), "b": (fail, "a")}, "b", num_workers=1, callbacks=[
            (None, None, None, None, lambda dsk, state, failed: kept.append(state))])
    assert kept[1]["cache"] == {"a": 3} and kept[1]["running"] == {"b"}


class Slow:
    """A key whose comparison lets other threads run."""
    looking, go_on = threading.Event(), threading.Event()

    def __init__(self, number):
        self.number = number

    def __hash__(self):
        return 7

    def __eq__(self, other):
        if threading.current_thread().name == "looker" and not Slow.looking.is_set():
            Slow.looking.set()
            Slow.go_on.wait(20)
        return self.number == other.number


def test_the_run_ends_inside_of_a_lookup():
    found = []

    def finish(dsk, state, failed):
        looker = threading.Thread(target=lambda: found.append(state["cache"][Slow(1)]), name="looker")
        found.append(looker)
        looker.start()
        Slow.looking.wait(20)
    one, two = Slow(1), Slow(2)
    with venturi.dask.Callback(finish=finish):
        assert list(venturi.dask.get({one: (str, 5), two: (str, 6)}, [two, one])) == ["6", "5"]
    Slow.go_on.set()
    found[0].join(20)
    assert found[1:] == ["5"]

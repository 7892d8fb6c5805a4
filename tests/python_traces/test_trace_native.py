"""Trace points of C code that Python calls: with native() they are in Python's trace, with the interpreter's lock or without."""
import json
import os
import shutil
import subprocess

import pytest
from in_pythons import BUILD, TOP, VENTURI, VERSIONS, environment, python_or_skip

LIBRARY = '''
#include <venturi/context.h>

void work(int depth)
{
    VT_TRACE("in C");
    VT_TRACE_ATTR("depth", depth);
    if (depth)
        work(depth - 1);
}

int where(char *base, char *span, char *tracestate)
{
    struct vt_context context;

    if (!vt_context_get(&context))
        return -1;
    vt_id_text(&context.base, base);
    vt_id_text(&context.span, span);
    for (size_t i = 0; i <= VT_TRACESTATE_MAX; i++)
        tracestate[i] = context.tracestate[i];
    return context.key == VT_KEY_NONE ? 256 : (int)context.flags;
}
'''

PROGRAM = '''
import asyncio, ctypes, os, sys, threading
from venturi import trace

BASE = "f12e75d5-5d59-4cbc-b74d-357f19290dd7"
unlocked, locked = ctypes.CDLL(sys.argv[1]), ctypes.PyDLL(sys.argv[1])

def where():
    """As C sees it."""
    texts = [ctypes.create_string_buffer(513) for _ in range(3)]
    flags = unlocked.where(*texts)
    return None if flags < 0 else tuple(text.value.decode() for text in texts) + (flags,)

def call(name, depth=0):
    with trace.Trace(name) as span, trace.native():
        assert where()[:2] == (BASE, span.id)
        unlocked.work(depth)
        locked.work(depth)
    assert where() is None

async def task(n):
    with trace.Trace("task", info={"n": n}) as span:
        for _ in range(3):
            await asyncio.sleep(0)
            with trace.native():
                assert where()[:2] == (BASE, span.id)
                unlocked.work(0)
            assert where() is None

async def tasks():
    await asyncio.gather(*[task(n) for n in range(3)])

with trace.native():
    assert where() is None
    unlocked.work(0)                        # of no trace
trace.set_service(project="shop", service="cart")
profiler = trace.init("k", base_id=BASE)
unlocked.work(0)                            # not asked for: of no trace
with trace.native():
    assert where() == (BASE, BASE, "", 1)
    unlocked.work(0)                        # enters
    for profiler.tracestate, seen in (("a=1", "a=1"), ("x" * 513, ""), ("\\ud800", ""), (7, ""), (None, "")):
        with trace.native():
            assert where()[2] == seen
call("outer", 2)
thread = threading.Thread(target=call, args=("thread",))
thread.start()
thread.join()
asyncio.run(tasks())
with trace.Trace("one") as one, trace.native():
    with trace.Trace("two") as two:
        assert where()[1] == one.id
        with trace.native():
            assert where()[1] == two.id
        try:
            with trace.native():
                raise KeyError
        except KeyError:
            pass
        assert where()[1] == one.id
    pid = os.fork()
    if not pid:
        unlocked.work(0)                    # enters another process
        os._exit(0)
    os.waitpid(pid, 0)
with trace.attach({"base_id": "x", "flags": 0}), trace.native():
    assert where()[2:] == ("", 256)
kept = trace.native()
kept.__enter__()
thread = threading.Thread(target=kept.__exit__)
thread.start()                              # left elsewhere: nothing happens there
thread.join()
assert where() == (BASE, BASE, "", 1)
'''


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    (folder / "library.c").write_text(LIBRARY)
    subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-I", os.path.join(TOP, "include"), "-o",
                    folder / "library.so", folder / "library.c", "-L", BUILD, "-Wl,-rpath," + os.path.abspath(BUILD), "-lventuri"], check=True)
    return folder / "library.so"


def run(library, folder, version, *command):
    (folder / "program.py").write_text(PROGRAM)
    done = subprocess.run([*command, python_or_skip(version), folder / "program.py", library], cwd=folder, capture_output=True, text=True,
                          timeout=60, env=environment())
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("version", VERSIONS)
def test_native(version, library, tmp_path):
    run(library, tmp_path, version, VENTURI, "run", "-q", "-f", "-o", tmp_path / "out.vt", "--python")
    query = "SELECT name, trace_id, parent_trace_id, process, attributes FROM spans ORDER BY begin_ns"
    done = subprocess.run([VENTURI, "query", "--json", tmp_path / "out.vt", query], capture_output=True, text=True, check=True)
    rows = json.loads(done.stdout)
    names = {row["trace_id"]: row["name"] for row in rows if row["trace_id"]}
    names["f12e75d5-5d59-4cbc-b74d-357f19290dd7"] = "the trace"
    inside = [row for row in rows if row["name"] == "in C"]
    parents = [names.get(row["parent_trace_id"]) for row in inside]
    assert parents[:9] == [None, None, "the trace"] + ["outer", "in C", "in C"] * 2
    assert parents[9:11] == ["thread"] * 2 and parents[11:] == ["task"] * 9 + ["one"]
    by_task = [row["parent_trace_id"] for row in inside if names.get(row["parent_trace_id"]) == "task"]
    assert sorted(by_task.count(task) for task in set(by_task)) == [3, 3, 3]
    facts = [json.loads(row["attributes"]) for row in inside]
    assert all(("service" in said) == (i in (2, len(inside) - 1)) for i, said in enumerate(facts)), facts
    assert [said["depth"] for said in facts[3:9]] == [2, 1, 0] * 2


@pytest.mark.parametrize("version", VERSIONS)
def test_while_nobody_records(version, library, tmp_path):
    run(library, tmp_path, version)

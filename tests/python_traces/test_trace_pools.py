"""Pools of processes: each task is in the trace of whoever gave it, and a process that is used again keeps nothing."""
import subprocess

import pytest
from in_pythons import VERSIONS, environment, python_or_skip

PROGRAM = '''
import os, sys
from venturi import trace

BASE, OTHER = "f12e75d5-5d59-4cbc-b74d-357f19290dd7", "b9b29981-0916-4635-af18-d6c92f991f46"

def ids(*_):
    here = trace.get()
    return (os.getpid(), here and (here.get_base_id(), here.get_id(), here.hmac_key))

def ids_on_a_thread():
    """Of a process that has begun no trace itself."""
    import threading
    found = []
    thread = threading.Thread(target=lambda: found.append(ids()))
    thread.start()
    thread.join()
    return found[0]

def begin():
    assert trace.get() is None

def begin_another(*_):
    return trace.init("k", base_id=OTHER).get_base_id()

def check(pool, expected):
    from case_trace_carry import ask_pool
    found = list(ask_pool(pool, ids, ids))
    assert len(found) == 28 and {said for _, said in found} == {expected}, (expected, found)
    return {pid for pid, _ in found}

def main(how):
    trace.init("k", base_id=BASE)
    import multiprocessing                                  # after the trace has begun
    context = multiprocessing.get_context(how)
    with trace.Trace("creator"):                            # the pool's processes are started in it
        pool = context.Pool(1, initializer=begin)
    with trace.Trace("outer") as span:
        assert pool.apply(ids_on_a_thread)[1] == (BASE, span.id, "k")
        pids = check(pool, (BASE, span.id, "k"))
        with trace.attach(None):
            pids |= check(pool, None)
        assert pool.apply(begin_another) == OTHER
    trace.clean()
    pids |= check(pool, None)
    trace.init("other key", base_id=OTHER)
    pids |= check(pool, (OTHER, OTHER, "other key"))
    assert len(pids) == 1 and os.getpid() not in pids
    pool.close()
    pool.join()
    with context.Pool(1, maxtasksperchild=1) as pool:       # its processes are started by a thread of the pool
        first = [pool.apply(ids) for _ in range(2)]
        trace.clean()
        assert [said for _, said in first + [pool.apply(ids)]] == [(OTHER, OTHER, "other key")] * 2 + [None]
        assert first[0][0] != first[1][0]
    executors(context)
    print("done")

def executors(context):
    import asyncio, concurrent.futures

    async def ask(pool):
        with trace.Trace("task") as span:
            assert (await asyncio.get_running_loop().run_in_executor(pool, ids))[1] == (BASE, span.id, "k")
    trace.init("k", base_id=BASE)
    with concurrent.futures.ProcessPoolExecutor(1, context, initializer=begin) as pool:
        asyncio.run(ask(pool))
        assert {said for _, said in pool.map(ids, range(5), chunksize=2)} == {(BASE, BASE, "k")}
        trace.clean()
        assert {said for _, said in pool.map(ids, range(5), chunksize=2)} == {None}

if __name__ == "__main__":
    main(sys.argv[1])
'''


@pytest.mark.parametrize("how", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("version", VERSIONS)
def test_pools_of_processes(version, how, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run([python_or_skip(version), tmp_path / "program.py", how], cwd=tmp_path, capture_output=True, text=True,
                          timeout=120, env=environment())
    assert done.returncode == 0 and done.stdout == "done\n", done.stdout + done.stderr

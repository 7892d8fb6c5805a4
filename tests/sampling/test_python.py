"""Python programs: native functions under the Python functions that called them."""
import glob
import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))

SCRIPT = """
import hashlib, threading, zlib

DATA = bytes(range(256)) * 4000

def compress():
    for i in range(12):
        zlib.compress(DATA[i:], 9)

def digest():
    for i in range(150):
        hashlib.sha512(DATA).digest()

def order():
    for i in range(4):
        sorted(range(300000), key=key)

def key(x):
    return -x

def plain():
    x = 0
    for i in range(2000000):
        x += i & 7
    return x

thread = threading.Thread(target=digest)
compress(); order(); plain()
thread.start()
thread.join()
"""


def pythons():
    folders = glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin"))
    found = {os.path.basename(os.path.dirname(f)): os.path.join(f, "python3") for f in folders}
    found["this"] = sys.executable
    return [pytest.param(path, id=name) for name, path in sorted(found.items())
            if name == "this" or int(name.split(".")[1]) in range(9, 14)]


@pytest.fixture(params=pythons())
def recording(request, sample, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = sample(script, options=["--python", request.param])
    if "functions of this Python" in done.done.stderr or not any(row["language"] == "python" for row in done.rows):
        pytest.skip("this build has no extension for this Python")
    return done


def below(recording, function):
    """Samples in native functions directly within calls of a Python function, by library or file."""
    rows = recording.rows
    by_id = {row["id"]: row for row in rows}
    found = []
    for row in rows:
        if row["samples"] is None:
            continue
        above = row
        while above["samples"] is not None and above["parent"] is not None:
            above = by_id[above["parent"]]
        if above["function"] == function and above["samples"] is None:
            found.append(row)
    return found


def test_under_the_right_function(recording):
    def count(function, *words):
        return sum(row["samples"] for row in below(recording, function)
                   if any(word in part.lower() for part in (*row["path"], row["file"]) for word in words))

    zlib, crypto, sort = ("zlib", "libz", "deflate"), ("hashlib", "crypto", "sha512", "evp"), ("sort",)
    assert count("compress", *zlib) > 20
    assert count("digest", *crypto) > 20
    if "stripped" not in recording.done.stderr:  # as Debian's Python is: only what it exports has a name
        assert count("order", *sort) > 0
    for function in ("digest", "order", "plain", "key"):
        assert count(function, "libz", "deflate") == 0
    for function in ("compress", "order", "plain", "key"):
        assert count(function, "sha512") == 0


def test_the_interpreter_itself_is_no_child(recording):
    for row in recording.rows:
        if row["samples"] is not None and row["function"].startswith("_PyEval_EvalFrameDefault"):
            # Only where no Python function was known to be open: before the hooks were there, and after.
            assert row["path"][0] in ("_start", "__clone3", "__clone", "clone3", "clone", row["function"]), row["path"]


def test_exact_numbers_stay_exact(recording):
    rows = recording.rows
    calls = {row["function"]: row["calls"] for row in rows if row["samples"] is None}
    assert calls["key"] == 1200000
    assert calls["compress"] == calls["digest"] == calls["plain"] == 1
    below_total = {}
    for row in rows:
        if row["parent"] is not None:
            below_total[row["parent"]] = below_total.get(row["parent"], 0) + row["total_ns"]
    for row in rows:  # what is called takes no longer than the caller; rounding of each
        assert below_total.get(row["id"], 0) <= row["total_ns"] + 1000
        assert abs(row["self_ns"] + below_total.get(row["id"], 0) - row["total_ns"]) < 1000


def test_threads_have_their_own(recording):
    tracks = {row["track"] for row in below(recording, "digest")}
    assert len(tracks) == 1
    assert tracks.isdisjoint({row["track"] for row in below(recording, "compress")})


def test_not_our_own_code(recording):
    assert not any("venturi" in part for row in recording.rows if row["samples"] is not None for part in row["path"])

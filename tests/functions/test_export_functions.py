"""Function profiles in other tools' formats, each read back by a reader that is not ours."""
import gzip
import json
import marshal
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.request

import pytest

import trees
from conftest import NEW_PYTHONS, PYTHONS, TOP, environment

NAMES = ["pstats", "collapsed", "speedscope", "pprof", "callgrind"]


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return trees.write(tmp_path_factory.mktemp("trees") / "tree.vt")


@pytest.fixture
def export(venturi, tmp_path):
    def run(path, name):
        out = tmp_path / ("out." + name)
        venturi("export", "-f", name, path, "-o", out, check=0)
        return out
    return run


def close(a, b):
    return abs(a - b) < 1e-12


# ---- pstats --------------------------------------------------------------------------------------

@pytest.mark.parametrize("version", sorted(PYTHONS))
def test_pstats_of_every_python(python, recording, export, version):
    path = export(recording, "pstats")
    shown = python(version, "-c", "import marshal, sys\n"
                   "rows = marshal.load(open(sys.argv[1], 'rb'))\n"
                   "text = lambda key: (str(key[0]), key[1], str(key[2]))\n"
                   "print(repr({text(k): tuple(v[:4]) + ({text(c): n for c, n in v[4].items()},) for k, v in rows.items()}))\n",
                   path)
    found = eval(shown)  # what our own test printed
    expected = trees.profile()
    assert set(found) == set(expected)
    for key, (cc, nc, tt, ct, callers) in found.items():
        row = expected[key]
        assert (cc, nc) == (row[0], row[1]) and close(tt, row[2]) and close(ct, row[3]), key
        assert set(callers) == set(row[4])
        for caller, (nc, cc, tt, ct) in callers.items():
            pair = row[4][caller]
            assert (cc, nc) == (pair[0], pair[1]) and close(tt, pair[2]) and close(ct, pair[3]), (key, caller)
            assert caller in found


@pytest.mark.parametrize("version", NEW_PYTHONS)
def test_stats_of_the_recording_and_of_its_export(venturi, python, recording, export, version):
    path = export(recording, "pstats")
    text = python(version, "-c", "import pstats, sys\n"
                  "s = pstats.Stats(sys.argv[1]).strip_dirs().sort_stats('cumulative')\n"
                  "s.print_stats().print_callers().print_callees()", path)
    ours = "".join(venturi("stats", "--strip-dirs", *words, file, check=0).stdout for words, file in
                   (((), path), (("--callers", "."), path), (("--callees", "."), path)))
    assert ours.replace("\x1b", "") == text.replace("\x1b", "")
    again = venturi("stats", "--strip-dirs", recording, check=0)
    once = venturi("stats", "--strip-dirs", path, check=0)
    assert again.stdout.split("\n", 1)[1] == once.stdout.split("\n", 1)[1]
    assert again.stderr == "venturi: our own cost is not subtracted, 0 calls lost\n"


def test_counts_beyond_31_bits(venturi, export, tmp_path):
    huge = {0: {1: (0, 1, 2 ** 31, 0, 1), 2: (1, 2, 2 ** 45 + 3, 0, 1), 3: (1, 3, 2 ** 31 - 1, 0, 1),
                4: (1, 9, 2 ** 62 - 1, 0, 1)}}
    path = export(trees.write(tmp_path / "huge.vt", huge), "pstats")
    rows = marshal.loads(path.read_bytes())
    assert {row[1] for row in rows.values()} == {2 ** 31, 2 ** 45 + 3, 2 ** 31 - 1, 2 ** 62 - 1}
    assert venturi("stats", path, "--json", check=0).stdout.count('"name":"execute","qualified_name":"execute",'
                                                                '"language":"python","ncalls":%d,' % (2 ** 45 + 3)) == 1


def reader(name):
    """A program that tools/readers brought, or one on PATH; without either the test is skipped."""
    own = os.path.join(TOP, "build", "readers", "bin", name)
    program = own if os.access(own, os.X_OK) else shutil.which(name)
    if not program:
        pytest.skip("%s is missing: run tools/setup" % name)
    return program


def test_snakeviz_shows_it(recording, export):
    program = reader("snakeviz")
    path = export(recording, "pstats")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen([program, "-s", "-p", str(port), str(path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=environment())
    try:
        url = "http://127.0.0.1:%d/snakeviz/%s" % (port, urllib.request.quote(str(path), safe=""))
        page = None
        for _ in range(200):
            try:
                page = urllib.request.urlopen(url, timeout=20).read().decode()
                break
            except (ConnectionError, urllib.error.URLError):
                assert server.poll() is None, server.stdout.read()
                time.sleep(0.05)
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
    assert page and "var table_data = [[" in page and "step.py:10(execute)" in page and "run.py:7(&lt;lambda&gt; [2])" in page


# ---- collapsed -----------------------------------------------------------------------------------

def label(site):
    name, _, file, line, _ = trees.FUNCTIONS[site]
    text = re.sub("[\x00-\x1f\x7f]", " ", name) + (" [2]" if site == 6 else "")
    return (text + (" (%s:%d)" % (file, line) if file not in ("", "~") else "")).replace(";", ":")


def test_collapsed(recording, export):
    lines = export(recording, "collapsed").read_text().splitlines()
    found = {}
    for line in lines:
        stack, _, number = line.rpartition(" ")
        found[tuple(stack.split(";"))] = int(number)
    expected = {(("main", "worker")[track],) + tuple(map(label, path)): own / 1000
                for (track, *path), (_, own) in trees.stacks().items()}
    assert set(found) <= set(expected)
    for stack, own in expected.items():
        assert abs(found.get(stack, 0) - own) < 2
    assert abs(sum(found.values()) - sum(expected.values())) < 1


def test_collapsed_of_one_thread_has_no_thread(export, tmp_path):
    path = trees.write(tmp_path / "one.vt", {0: trees.TREES[0]})
    assert export(path, "collapsed").read_text().splitlines()[0] == "<module> (/src/run.py:1) 5"


# ---- speedscope ----------------------------------------------------------------------------------

def test_speedscope(recording, export):
    data = json.loads(export(recording, "speedscope").read_text())
    assert data["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert [profile["name"] for profile in data["profiles"]] == ["main", "worker"]
    frames = data["shared"]["frames"]
    found = {}
    for track, profile in enumerate(data["profiles"]):
        assert (profile["type"], profile["unit"]) == ("evented", "nanoseconds")
        stack, last, own = [], profile["startValue"], {}
        for event in profile["events"]:
            assert event["at"] >= last
            path = tuple(stack)
            if path:
                own[path] = own.get(path, 0) + event["at"] - last
            last = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
            else:
                assert stack.pop() == event["frame"]
        assert not stack and last == profile["endValue"]
        found.update({(track,) + path: value for path, value in own.items()})
    assert sorted(found.values()) == sorted(own for _, own in trees.stacks().values())
    assert {"name": "<built-in method builtins.len>"} not in frames and {"name": "len"} in frames
    assert {"name": "main.<locals>.<lambda> [2]", "file": "/src/run.py", "line": 7} in frames


def test_speedscope_fits_the_published_schema(recording, export):
    path = os.path.join(TOP, "build", "readers", "speedscope-schema.json")
    if not os.path.exists(path):
        pytest.skip("speedscope's schema is missing: run tools/setup")
    with open(path) as file:
        schema = json.load(file)
    data = json.loads(export(recording, "speedscope").read_text())
    assert check_schema(data, schema, schema) is None
    data["profiles"][0]["events"][0]["type"] = "Q"
    assert check_schema(data, schema, schema)


def check_schema(value, rule, schema, path="$"):
    """The first thing that does not fit, or None; the words of JSON schema that speedscope's uses."""
    known = {"$ref", "$schema", "definitions", "title", "type", "enum", "const", "anyOf", "properties", "required", "items",
             "additionalProperties", "description", "$id", "propertyOrder", "default", "format"}
    assert set(rule) <= known, set(rule) - known
    if "$ref" in rule:
        assert rule["$ref"].startswith("#/definitions/")
        return check_schema(value, schema["definitions"][rule["$ref"].split("/")[-1]], schema, path)
    if "anyOf" in rule:
        wrong = [check_schema(value, one, schema, path) for one in rule["anyOf"]]
        return None if None in wrong else wrong[0]
    if "enum" in rule and value not in rule["enum"] or "const" in rule and value != rule["const"]:
        return "%s: %r" % (path, value)
    kinds = {"object": dict, "array": list, "string": str, "number": (int, float), "boolean": bool}
    if "type" in rule and not isinstance(value, kinds[rule["type"]]):
        return "%s is no %s" % (path, rule["type"])
    if isinstance(value, dict):
        for name in rule.get("required", []):
            if name not in value:
                return "%s has no %s" % (path, name)
        for name, item in value.items():
            if name in rule.get("properties", {}):
                wrong = check_schema(item, rule["properties"][name], schema, path + "." + name)
                if wrong:
                    return wrong
    for index, item in enumerate(value if isinstance(value, list) and "items" in rule else []):
        wrong = check_schema(item, rule["items"], schema, "%s[%d]" % (path, index))
        if wrong:
            return wrong
    return None


# ---- pprof ---------------------------------------------------------------------------------------

def fields(data):
    """(number, value) of a protocol buffer message."""
    at = 0

    def varint():
        nonlocal at
        number = shift = 0
        while True:
            byte = data[at]
            at += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        else:
            assert tag & 7 == 2
            size = varint()
            yield tag >> 3, data[at:at + size]
            at += size


def test_pprof(recording, export):
    data = gzip.decompress(export(recording, "pprof").read_bytes())
    top = list(fields(data))
    strings = [value.decode() for number, value in top if number == 6]
    functions = {dict(fields(value))[1]: dict(fields(value)) for number, value in top if number == 5}
    assert strings[0] == "" and len(functions) == len(trees.FUNCTIONS)
    assert [[strings[n] for _, n in fields(value)] for number, value in top if number == 1] == [
        ["calls", "count"], ["time", "nanoseconds"]]
    found = []
    for number, value in top:
        if number == 2:
            sample = list(fields(value))
            thread = [strings[dict(fields(v))[2]] for n, v in sample if n == 3]
            names = [strings[functions[v][2]] for n, v in sample if n == 1][::-1]
            found.append((thread[0], tuple(names), tuple(v for n, v in sample if n == 2)))
    name = {site: re.sub("[\x00-\x1f]", " ", row[0]) + (" [2]" if site == 6 else "")
            for site, row in trees.FUNCTIONS.items()}
    expected = [(("main", "worker")[track], tuple(name[s] for s in path), numbers)
                for (track, *path), numbers in trees.stacks().items()]
    assert sorted(found) == sorted(expected)


def test_pprof_itself_reads_it(recording, export):
    done = subprocess.run([reader("pprof"), "-top", "-nodecount=100", "-unit=ns", str(export(recording, "pprof"))],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
    assert done.returncode == 0, done.stderr
    rows = {line.split(None, 5)[5]: line.split()[0] for line in done.stdout.splitlines() if re.match(r"\s+\d+ns", line)}
    assert rows["fib"] == "%dns" % (1500 + 2500 + 500 + 300)
    assert rows["numbers"] == "4000ns" and rows["stripped"] == "10000ns"


# ---- callgrind -----------------------------------------------------------------------------------

def test_callgrind_annotate(recording, export):
    program = reader("callgrind_annotate")
    path = export(recording, "callgrind")
    own, inclusive = ({}, {})
    for found, option in ((own, "--inclusive=no"), (inclusive, "--inclusive=yes")):
        done = subprocess.run([program, "--auto=no", "--threshold=100", option, str(path)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env=environment())
        assert done.returncode == 0 and not done.stderr, done.stderr
        for line in done.stdout.splitlines():
            match = re.match(r"\s*([\d,]+) \([^)]*\)\s+([^\[]*):(\S.*?)(?: \[\d+\])?\s*$", line)
            if match:
                found[match.group(3)] = int(match.group(1).replace(",", ""))
    rows = trees.profile()
    for (_, _, name), row in rows.items():
        name = name.replace(" [2]", "") if name not in own else name
        assert own[name] in [round(r[2] * 1e9) for k, r in rows.items() if k[2].split(" [")[0] == name.split(" [")[0]], name
    assert inclusive["<module>"] == round(rows[("/src/run.py", 1, "<module>")][3] * 1e9)
    text = path.read_text()
    assert "calls=16 0\n20 1000\n" in text and "summary: %d\n" % sum(round(r[2] * 1e9) for r in rows.values()) in text


# ---- all -----------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", NAMES)
def test_no_calls_is_one_line_and_no_file(venturi, tmp_path, name):
    path = trees.write(tmp_path / "none.vt", {})
    done = venturi("export", "-f", name, path, "-o", tmp_path / "out", check=2)
    assert done.stderr.startswith("venturi export: %s: holds no calls of functions" % path) and done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()
    done = venturi("stats", path, check=2)
    assert done.stderr == "venturi stats: %s: holds no calls of functions (venturi report shows its spans)\n" % path


@pytest.mark.parametrize("name", ["chrome", "perfetto", "csv"])
def test_functions_are_no_spans(venturi, recording, tmp_path, name):
    done = venturi("export", "-f", name, recording, "-o", tmp_path / "out", check=0)
    assert done.stderr.count("\n") == 1 and "holds no spans" in done.stderr and "-f pstats" in done.stderr


@pytest.mark.parametrize("name, ending", [("pstats", "prof"), ("collapsed", "collapsed"), ("pprof", "pb.gz"),
                                          ("speedscope", "speedscope.json"), ("callgrind", "callgrind"), ("chrome", "json")])
def test_endings(venturi, recording, tmp_path, name, ending):
    venturi("export", recording, "-o", tmp_path / ("x." + ending), check=0)
    assert (tmp_path / ("x." + ending)).read_bytes() == venturi("export", "-f", name, recording, text=False, check=0).stdout


@pytest.mark.parametrize("name", NAMES)
def test_deep_recursion(venturi, tmp_path, name):
    """A path of 20,000 calls; formats that write out stacks keep the outermost 1,024."""
    path = trees.write(tmp_path / "deep.vt", {0: {n: (n - 1, 3, 1, 0, 1000) for n in range(1, 20001)}})
    out = tmp_path / "out"
    venturi("export", "-f", name, path, "-o", out, check=0)
    if name == "pstats":
        assert marshal.loads(out.read_bytes())[("/src/step.py", 20, "fib")][:2] == (1, 20000)
    if name == "collapsed":
        lines = out.read_text().splitlines()
        assert max(line.count(";") for line in lines) == 1023
        assert sum(int(line.rpartition(" ")[2]) for line in lines) == 20000


def test_threads_one_by_one(venturi, recording):
    def calls(*words):
        rows = json.loads(venturi("stats", "--json", recording, *words, check=0).stdout)["functions"]
        return {row["name"]: row["ncalls"] for row in rows}
    assert calls("--thread", "worker") == {"work": 1, "<stripped>": 1000, "execute": 1, "fib": 1}
    assert calls("--thread", "201") == calls("-t", "worker")
    assert calls("--process", "100") == calls()
    assert venturi("stats", recording, "--thread", "x", check=2).stderr == (
        "venturi stats: --thread: no thread is called 'x', see venturi info\n")
    assert venturi("stats", recording, "--process", "7", check=2).stderr == (
        "venturi stats: --process: no process has the number '7', see venturi info\n")


def test_resumes_and_suspension_are_kept_apart(venturi, recording):
    rows = json.loads(venturi("stats", "--json", recording, "numbers", check=0).stdout)["functions"]
    assert [(row["ncalls"], row["resumes"], row["suspended"]) for row in rows] == [(11, 10, 70e-9)]

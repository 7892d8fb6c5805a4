"""C and C++ programs compiled by `venturi cc -l`, run under `venturi run -l`, and what their lines did."""
import collections
import json
import os
import re
import shutil
import subprocess
import time

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get("VENTURI_BUILD", os.path.join(TOP, "build")))
VENTURI = os.environ.get("VENTURI", os.path.join(BUILD, "venturi"))
COMPILERS = {"gcc": ("gcc", "g++", ["gcov"]), "clang": ("clang", "clang++", ["llvm-cov", "gcov"])}


def pytest_collection_modifyitems(items):
    """Without the collector there is nothing to test."""
    if not os.path.exists(os.path.join(BUILD, "libventuri-lines.so")):
        for item in items:
            item.add_marker(pytest.mark.skip(reason="this build has no libventuri-lines.so"))


def source(name):
    return os.path.join(HERE, "programs", name)


def line_of(name, text):
    """The number of the only line of a program that has this text."""
    with open(source(name), encoding="utf-8") as file:
        found = [number for number, line in enumerate(file, 1) if text in line]
    assert len(found) == 1, (name, text, found)
    return found[0]


def run(command, check=True, **kw):
    """Runs a command with its output as text."""
    kw.setdefault("capture_output", True)
    kw.setdefault("errors", "replace")
    done = subprocess.run(list(map(str, command)), text=True, timeout=300, **kw)
    if check:
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done


def need(*commands):
    for command in commands:
        if not shutil.which(command):
            pytest.skip("no %s on this machine" % command)


def driver(compiler, names):
    """The compiler for these sources, and the environment that makes it the one behind `venturi cc`."""
    cc, cxx, _ = COMPILERS[compiler]
    is_cpp = any(str(name).endswith(".cpp") for name in names)
    need(cxx if is_cpp else cc)
    return ("c++", cxx) if is_cpp else ("cc", cc)


class Lines:
    """The lines of a recording: hits by file and line, and by function."""

    def __init__(self, path, *options):
        done = run([VENTURI, "lines", "--json", *options, path], check=False)
        assert done.returncode == 0, done.stderr
        self.path = path
        self.all = json.loads(done.stdout)
        self.functions = self.all["functions"]

    def hits(self):
        """{(file's name, line): hits}, over all functions; lines that never ran are not there."""
        sums = collections.Counter()
        for function in self.functions:
            for line in function["lines"]:
                if line["hits"]:
                    sums[os.path.basename(function["file"]), line["line"]] += line["hits"]
        return dict(sums)

    def shared(self):
        """Lines that several functions have: a lambda, and what is around it."""
        seen = collections.Counter()
        for function in self.functions:
            for number in {line["line"] for line in function["lines"] if line["hits"]}:
                seen[os.path.basename(function["file"]), number, function["line"]] = 1
        return {key for key, count in collections.Counter((file, line) for file, line, _ in seen).items() if count > 1}

    def names(self):
        return {function["name"] for function in self.functions}

    def of(self, name):
        """The lines of a function, by their number."""
        found = [function for function in self.functions if function["name"] == name]
        assert len(found) == 1, (name, self.names())
        return {line["line"]: line for line in found[0]["lines"]}

    def function(self, name):
        return next(function for function in self.functions if function["name"] == name)


@pytest.fixture
def compile(tmp_path):
    """compile("gcc", "a.c", …, flags=[…]) makes a program with `venturi cc -l`; returns its path."""
    def make(compiler, *names, flags=(), output="prog", folder=None, options=("-l",)):
        command, real = driver(compiler, names)
        folder = folder or tmp_path
        env = {**os.environ, "VENTURI_CC" if command == "cc" else "VENTURI_CXX": real}
        files = [name if os.path.isabs(str(name)) else source(name) for name in names]
        run([VENTURI, command, *options, *files, *flags, "-o", folder / output, "-pthread"], cwd=folder, env=env)
        return folder / output
    return make


@pytest.fixture
def record(tmp_path):
    """record(program, arguments…, options=[…]) runs it under `venturi run -l`; returns the process and its lines, which know
    how long the run took: no line can have taken longer, however busy the machine is."""
    def start(program, *arguments, options=(), env=None, check=True, empty=False):
        path = tmp_path / "out.vt"
        before = time.monotonic()
        done = run([VENTURI, "run", "-l", "-f", "-o", path, *options, "--", program, *arguments], check=check,
                   env={**os.environ, **(env or {})}, cwd=tmp_path)
        took = time.monotonic() - before
        lines = None if empty else Lines(path)
        if lines:
            lines.took = took
        return done, lines
    return start


def gcov_json(folder, data):
    """{(file, line): count} as gcov has it."""
    sums = collections.Counter()
    for part in run(["gcov", "--json-format", "--stdout", *data], cwd=folder).stdout.splitlines():
        if not part.startswith("{"):
            continue
        for file in json.loads(part)["files"]:
            for line in file["lines"]:
                sums[os.path.basename(file["file"]), line["line_number"]] += line["count"]
    return {key: count for key, count in sums.items() if count}


def llvm_gcov(folder, data):
    """The same of llvm-cov."""
    sums = collections.Counter()
    name = None
    for line in run(["llvm-cov", "gcov", "-t", *data], cwd=folder).stdout.splitlines():
        found = re.match(r"\s*(\S+):\s*(\d+):(.*)", line)
        if not found:
            continue
        count, number, text = found.groups()
        if number == "0" and text.startswith("Source:"):
            name = os.path.basename(text[len("Source:"):])
        elif count.isdigit():
            sums[name, int(number)] += int(count)
    return dict(sums)


def named_twice(folder):
    """Lines that clang's notes name more than once for a block: llvm-cov counts these as often. By another reader of
    the notes than ours: records of words, a function's blocks, then lines with their files."""
    found = set()
    for path in folder.glob("*.gcno"):
        words = memoryview(path.read_bytes()).cast("I")
        at = 3
        while at + 2 <= len(words) and words[at]:
            tag, count = words[at], words[at + 1]
            if tag == 0x01450000:
                seen, name, i, end = collections.Counter(), "", at + 3, at + 2 + count
                while i < end:
                    if words[i]:
                        seen[name, words[i]] += 1
                        i += 1
                    else:
                        size = words[i + 1]
                        name = os.path.basename(bytes(words[i + 2:i + 2 + size]).rstrip(b"\0").decode())
                        i += 2 + size
                found |= {key for key, number in seen.items() if number > 1}
            at += 2 + count
    return found


@pytest.fixture
def oracle(tmp_path):
    """oracle("gcc", "a.c", …, flags=[…]): what the compiler's own tool says about a run of the same program."""
    def ask(compiler, *names, flags=(), arguments=(), codes=(0,)):
        _, real = driver(compiler, names)
        need(COMPILERS[compiler][2][0])
        folder = tmp_path / "oracle"
        folder.mkdir()
        objects = []
        for name in names:
            objects.append(os.path.splitext(name)[0] + ".o")
            run([real, "--coverage", "-fprofile-update=atomic", "-g", *flags, "-c", source(name), "-o", objects[-1],
                 "-pthread"], cwd=folder)
        run([real, "--coverage", *flags, *objects, "-o", "prog", "-pthread"], cwd=folder)
        done = run(["./prog", *arguments], cwd=folder, check=False)
        assert done.returncode in codes, done.stderr
        data = sorted(str(path.name) for path in folder.glob("*.gcda"))
        assert data
        counts = (gcov_json if compiler == "gcc" else llvm_gcov)(folder, data)
        return counts, named_twice(folder) if compiler == "clang" else set()
    return ask

"""Hits against oracles: a program that counts itself for statements, sys.settrace for line events."""
import json
import os
import re

import pytest
from conftest import HERE, VENTURI, Lines
from programs import NEWER, PROGRAMS
from random_programs import program

SEEDS = [*range(8), 1064]  # in the last one 3.9 jumps back within a line that it came to the middle of


def decorated(text):
    return re.sub(r"^( *)((?:async )?def )", r"\1@profile\n\1\2", text, flags=re.M)


class Corpus:
    """All programs in files, run once by the driver for each question."""

    def __init__(self, run, is_decorated):
        self.run = run
        texts = {name: text for name, text in PROGRAMS.items() if run.version >= NEWER.get(name, (3,))}
        texts.update(("random_%d" % seed, program(seed)) for seed in SEEDS)
        self.files = []
        for name, text in texts.items():
            path = run.folder / (name + ".py")
            path.write_text(decorated(text) if is_decorated else text)
            self.files.append(str(path))

    def ask(self, what):
        done = self.run.run([self.run.python, os.path.join(HERE, "driver.py"), what, *self.files], 0, None)
        return json.loads(done.stdout)

    def profile(self, *shown):
        self.run.run([VENTURI, "run", "-q", "-f", "-l", "-o", str(self.run.output), "--python", self.run.python,
                      os.path.join(HERE, "driver.py"), "run", *self.files], 0, None)
        return Lines(self.run.output, *shown)


def found(table):
    """{file: {"name first": {line: count}}}, as the driver has it."""
    files = {}
    for function in table.functions:
        lines = {str(row["line"]): row["hits"] for row in function["lines"] if row["hits"]}
        key = "%s %d" % (function["name"].split(".")[-1], function["line"])
        if lines:
            files.setdefault(function["file"], {})[key] = lines
    return files


def differences(wanted, got, skipped=(), is_class=()):
    for function in sorted(set(wanted) | set(got)):
        if function.split()[0] in is_class:
            continue
        first, second = wanted.get(function, {}), got.get(function, {})
        for line in sorted(set(first) | set(second), key=int):
            if int(line) not in skipped and first.get(line) != second.get(line):
                yield "%s, line %s: %s, not %s" % (function, line, second.get(line), first.get(line))


CLASSES = ("Manager", "A", "Builder")  # their bodies have no decorator


@pytest.fixture
def corpus(run):
    return Corpus(run, True)


def test_statements(corpus):
    wanted = corpus.ask("statements")
    got = found(corpus.profile())
    wrong = [os.path.basename(path) + ": " + text for path, each in wanted.items()
             for text in differences(each["counts"], got.get(path, {}), each["skipped"], CLASSES)]
    assert not wrong, "\n".join(wrong[:20])
    assert len(wanted) >= 50


def test_events(corpus):
    wanted = corpus.ask("events")
    got = found(corpus.profile("--compat"))
    wrong = [os.path.basename(path) + ": " + text for path, each in wanted.items()
             for text in differences(each, got.get(path, {}), (), CLASSES)]
    assert not wrong, "\n".join(wrong[:20])


def test_oracles_differ(corpus):
    """Else one of them would check nothing."""
    statements = corpus.ask("statements")
    events = corpus.ask("events")
    path = [path for path in corpus.files if path.endswith("multi_line_call.py")][0]
    assert statements[path]["counts"] != events[path]

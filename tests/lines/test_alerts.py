"""examples/alerts.py: 1,000 alerts, 985 of the right shape, 15 candidates; most of the time on one line."""
import json
import os
import subprocess

import pytest
from conftest import PYTHONS, TOP, recorded_pythons

EXAMPLE = os.path.join(TOP, "examples", "alerts.py")
HITS = {"science = read_stamp(science)": 1000, "template = read_stamp(template)": 1000, "if not ((science.shape": 1000,
        "self.refused.append(name)": 15, "science_clipped, template_clipped = (": 985, "is_candidate = looks_hostless(": 985,
        "if is_candidate:": 985, "results = power_spectrum(": 15, 'return results["statistic"]': 15}
REST = ["self.clip(science, template))", "science_clipped, template_clipped,", "self.limit, SHAPE)", "science, template,",
        "science_clipped.mask(),", "template_clipped.mask(), SHAPE)"]

# How often each line of Step.process is reached, by the interpreter itself.
ORACLE = '''
import json, runpy, sys
counts = {}
def trace(frame, event, arg):
    if frame.f_code.co_name != "process":
        return None
    if event == "line":
        counts[frame.f_lineno] = counts.get(frame.f_lineno, 0) + 1
    return trace
sys.settrace(trace)
runpy.run_path(sys.argv[1], run_name="__main__")
sys.settrace(None)
print(json.dumps(counts))
'''


@pytest.fixture(scope="module", params=recorded_pythons() or [None])
def recording(request, venturi, tmp_path_factory):
    if not request.param:
        pytest.skip("no Python with headers, or the extension has a sanitizer")
    path = tmp_path_factory.mktemp("alerts") / "alerts.vt"
    done = venturi("run", "--python", PYTHONS[request.param], "-l", "-o", path, EXAMPLE, check=0)
    assert done.stdout == "1000 alerts, 15 of another shape, 15 classified\n"
    return request.param, path


def read(venturi, path, *options):
    """Source text to its line, of Step.process; and the function."""
    function = json.loads(venturi("lines", "--json", *options, path, "process", check=0).stdout)["functions"][0]
    lines = {line["line"]: line for line in function["lines"]}
    return {text.strip(): lines.get(function["line"] + at) for at, text in enumerate(function["text"])}, function


def test_statements(venturi, recording):
    texts, function = read(venturi, recording[1])
    assert function["calls"] == 1000
    for beginning, hits in HITS.items():
        found = [line for text, line in texts.items() if text.startswith(beginning)]
        assert [line["hits"] for line in found] == [hits], beginning
    for rest in REST:
        assert texts[rest] is None, rest
    costly = texts["results = power_spectrum("]
    assert costly["time"] > 0.5 * function["total_time"]


def test_events(venturi, recording):
    version, path = recording
    asked = subprocess.run([PYTHONS[version], "-c", ORACLE, EXAMPLE], stdout=subprocess.PIPE, text=True, check=True).stdout
    expected = {int(line): count for line, count in json.loads(asked.splitlines()[-1]).items()}
    texts, function = read(venturi, path, "--compat")
    assert {line["line"]: line["hits"] for line in function["lines"]} == expected
    if version == "3.11":
        assert texts["is_candidate = looks_hostless("]["hits"] == 1970
        assert texts["results = power_spectrum("]["hits"] == 30


def test_table(venturi, recording):
    shown = venturi("lines", recording[1], "process", check=0).stdout.splitlines()
    assert shown[4].startswith("Function: Step.process at line ")
    assert shown[6] == "Line #      Hits         Time  Per Hit   % Time  Line Contents"
    costly = [line for line in shown if "power_spectrum(" in line][0].split()
    assert costly[1] == "15" and float(costly[4]) > 50

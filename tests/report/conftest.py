"""What `report` and `flame` show, on recordings whose figures are known: the helpers of tests/cli, and ways to make them."""
import importlib.util
import os
import sys

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
spec = importlib.util.spec_from_file_location("cli_conftest", os.path.join(TOP, "tests", "cli", "conftest.py"))
cli = importlib.util.module_from_spec(spec)
sys.modules["cli_conftest"] = cli
spec.loader.exec_module(cli)

venturi = cli.venturi
make_recording = cli.make_recording


@pytest.fixture
def spans(tmp_path):
    """spans([("main", begin, end), …]) -> path of a recording of one thread with these spans, nanoseconds; they must nest."""
    def make(found, name="x.vt", closed=True, **process):
        w = cli.NewRecording(**process)
        ids = {}
        for span, _, _ in found:
            if span not in ids:
                ids[span] = len(ids) + 1
                w.site(ids[span], span)
        events = w.events(0, 0)
        stack = []
        for span, begin, end in sorted(found, key=lambda each: (each[1], -each[2])):
            while stack and stack[-1] <= begin:
                events.end(stack.pop())
            events.begin(begin, ids[span])
            stack.append(end)
        while stack:
            events.end(stack.pop())
        events.write()
        if closed:
            return w.save(tmp_path / name)
        path = tmp_path / name
        path.write_bytes(w.bytes())
        return path
    return make


@pytest.fixture
def calls(venturi, tmp_path):
    """calls("main;work 3000", …) -> path of a recording of calls; times are microseconds."""
    def make(*lines, name="calls.vt"):
        text = tmp_path / "x.collapsed"
        text.write_text("".join(line + "\n" for line in lines))
        venturi("import", "-f", "collapsed", "--force", text, "-o", tmp_path / name, check=0)
        return tmp_path / name
    return make

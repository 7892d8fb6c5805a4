"""Runs programs, each in a file of its own, and says what the oracles count of them.

  driver.py statements FILE…   lines of functions, how often their statements ran
  driver.py events FILE…       how often their lines were reached, as sys.settrace tells it
  driver.py run FILE…          nothing but main() of each: what is profiled
"""
import builtins
import dis
import functools
import json
import sys

import oracle

what, files = sys.argv[1], sys.argv[2:]
if not hasattr(builtins, "profile"):
    builtins.profile = lambda function: function


@functools.lru_cache(maxsize=None)
def jumps_back(code):
    """Offsets of jumps back, and where they go to: 3.12 tells the latter, 3.13 the former."""
    found = set()
    for instruction in dis.get_instructions(code):
        if instruction.opname == "JUMP_BACKWARD":
            found |= {instruction.offset, instruction.argval}
    return found


@functools.lru_cache(maxsize=None)
def lines_of(code):
    return list(dis.findlinestarts(code))


def line_of(frame):
    """What f_lineno of 3.9 says may be the line before, if it jumps back within one that it came to the middle of; its
    line_profiler looks at the instruction, too."""
    if sys.version_info >= (3, 10):
        return frame.f_lineno
    return [line for offset, line in lines_of(frame.f_code) if offset <= frame.f_lasti][-1]


def run(path):
    with open(path, encoding="utf-8") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    names = {"__name__": "program"}
    exec(code, names)
    names["main"]()


def statements(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    skipped = oracle.uncertain(text)
    found = {}
    for (scope, first), lines in oracle.counts(text).items():
        if scope != "<module>":
            found["%s %d" % (scope, first)] = lines
    return {"counts": found, "skipped": sorted(skipped)}


def events(path):
    """One event for a line that comes round without leaving it: versions of sys.settrace before 3.12 do not see
    comprehensions, and neither does line_profiler since."""
    found = {}
    last = {}

    def trace(frame, event, _):
        code = frame.f_code
        if code.co_filename != path or code.co_name.startswith("<"):
            return None
        if event == "line":
            line = line_of(frame)
            is_round = last.get(frame) == line and frame.f_lasti in jumps_back(code)
            last[frame] = line
            if not (is_round and sys.version_info >= (3, 12)):
                lines = found.setdefault("%s %d" % (code.co_name, code.co_firstlineno), {})
                lines[line] = lines.get(line, 0) + 1
        return trace
    sys.settrace(trace)
    try:
        run(path)
    finally:
        sys.settrace(None)
    return found


results = {path: {"run": run, "statements": statements, "events": events}[what](path) for path in files}
if what != "run":
    print(json.dumps(results))

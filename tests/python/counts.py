"""counts.py WORK [builtins] [together]: the calls of a program as cProfile counts them and as we do.

The last line is JSON: what differs, [] if nothing does. Together: both look at the same run.
"""
import cProfile
import json
import re
import sys

from venturi import _venturi
from work import WORK

# Ours, cProfile's own, and a method of a class that has a Python function of the same name: cProfile takes that
# one's name, with its address.
OURS = re.compile(r"_venturi|_lsprof|<nothing>|function socket.close at|'close' of '_socket.socket'")


def key_of(code):
    return ("~", 0, code) if isinstance(code, str) else (code.co_filename, code.co_firstlineno, code.co_name)


def of_cprofile(profile):
    """(file, line, name) -> calls, primitive calls; and the same for pairs. Twins are added up."""
    rows, pairs = {}, {}
    for entry in profile.getstats():
        add(rows, key_of(entry.code), entry.callcount, entry.callcount - entry.reccallcount)
        for sub in entry.calls or ():
            add(pairs, (key_of(entry.code), key_of(sub.code)), sub.callcount, sub.callcount - sub.reccallcount)
    return rows, pairs


def of_ours(found):
    rows, pairs = {}, {}
    keys = [(row[0], row[1], re.sub(r" \[\d+\]$", "", row[2])) for row in found]
    for key, row in zip(keys, found):
        add(rows, key, row[6], row[5])
        for caller, calls, primitive, _, _ in row[16]:
            add(pairs, (keys[caller], key), calls, primitive)
    return rows, pairs


def add(table, key, calls, primitive):
    known = table.get(key, (0, 0))
    table[key] = (known[0] + calls, known[1] + primitive)


def ours(function, builtins):
    _venturi.calls_start()
    before = _venturi.snapshot()
    _venturi.start(builtins=builtins)
    try:
        function()
    finally:
        _venturi.stop()
    after = _venturi.snapshot()
    _venturi.calls_stop()
    return _venturi.profile([(after, before)])


def theirs(function, builtins):
    profile = cProfile.Profile(builtins=builtins)
    profile.enable()
    try:
        function()
    finally:
        profile.disable()
    return profile


def clean(table):
    return {key: value for key, value in table.items()
            if not OURS.search(repr(key)) and __file__ not in repr(key) and "<venturi>" not in repr(key)}


def main():
    function = WORK[sys.argv[1]]
    builtins = "builtins" in sys.argv
    function()
    function()
    if "together" in sys.argv:
        results = []
        profile = theirs(lambda: results.__iadd__([ours(function, builtins)]), builtins)
        found = results[0]
    else:
        profile = theirs(function, builtins)
        found = ours(function, builtins)
    differences = []
    for mine, other in zip(of_ours(found), of_cprofile(profile)):
        mine, other = clean(mine), clean(other)
        differences += [[repr(key), mine.get(key), other.get(key)] for key in sorted(set(mine) | set(other), key=repr)
                        if mine.get(key) != other.get(key)]
    assert found
    print(json.dumps(differences))


main()

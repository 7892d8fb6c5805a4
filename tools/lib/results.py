"""results.py - test results as cases, read from what cmocka under Meson and pytest leave behind."""
import json
import os
import re
import signal
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


@dataclass
class Case:
    suite: str
    name: str
    outcome: str
    reason: str = ""  # one line
    detail: str = ""  # the end of its output, for failures
    alone: str = ""  # how its runner names what has to be run to see it again; "": it cannot be run on its own


def one_line(text, most=200):
    """The first line that says something, cut to a length that fits on a screen."""
    for line in (text or "").splitlines():
        if line.strip():
            return line.strip()[:most]
    return ""


def tail(text, lines=40):
    return "\n".join((text or "").rstrip().splitlines()[-lines:])


CMOCKA_LINE = re.compile(r"^\[\s*(OK|FAILED|SKIPPED|ERROR)\s*\] (?!---|(?:\S+: )?\d+ test\(s\))(\S+)", re.M)
CMOCKA_PLACE = re.compile(r"^\[\s*(?:ERROR|LINE)\s*\] ---\s*(.+)$", re.M)
CHECKER = re.compile(r"^.*(?:ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error:|"
                     r"==\d+== (?:Invalid|Conditional|Use of|Syscall)|definitely lost).*$", re.M)


def ended_how(code):
    if code is None:
        return "did not end"
    if code < 0 or 128 < code < 160:
        number = -code if code < 0 else code - 128
        try:
            return "killed by " + signal.Signals(number).name
        except ValueError:
            pass
    return f"exit code {code}"


def checker_said(output):
    """What a sanitizer or valgrind found, or ""."""
    found = CHECKER.search(output)
    return one_line(found.group(0)) if found else ""


def assertions(output):
    """One line for each failed case, in their order: values and place."""
    reasons, lines = [], []
    for line in CMOCKA_PLACE.findall(output):
        lines.append(line.strip())
        if line.endswith("Failure!") or line.startswith("Test failed with exception"):
            reasons.append(one_line(" ".join(lines)))
            lines = []
    return reasons


def cmocka_cases(suite, test, output, code):
    """Cases of one cmocka program; one that ends badly without a failed case is a failed case itself."""
    outcomes = {}
    for word, name in CMOCKA_LINE.findall(output):
        if word == "OK":
            outcomes.setdefault(name, PASSED)
        elif word == "SKIPPED":
            outcomes.setdefault(name, SKIPPED)
        else:
            outcomes[name] = FAILED
    if code == 77 and not outcomes:
        return [Case(suite, test, SKIPPED, one_line(output) or "the test skipped itself")]
    reasons = iter(assertions(output))
    cases = []
    for name, outcome in outcomes.items():
        case = Case(suite, f"{test}.{name}", outcome)
        if outcome == FAILED:
            case.reason, case.detail = next(reasons, "") or ended_how(code), tail(output)
        elif outcome == SKIPPED:
            case.reason = "the test skipped itself"
        cases.append(case)
    if code != 0 and (FAILED not in outcomes.values() or checker_said(output)):
        cases.append(Case(suite, test, FAILED, checker_said(output) or ended_how(code), tail(output)))
    elif not cases:
        cases.append(Case(suite, test, PASSED))
    return cases


def meson_cases(suite, log):
    """Cases of a Meson log (one JSON object a line)."""
    cases = []
    if not os.path.exists(log):
        return [Case(suite, "meson test", FAILED, "left no log: " + log)]
    with open(log, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            run = json.loads(line)
            test = run["name"].split(" / ")[-1].split(":")[-1]
            output = run.get("stdout", "") + "\n" + run.get("stderr", "")
            if run["result"] == "TIMEOUT":
                found = [Case(suite, test, FAILED, "timed out", tail(output))]
            else:
                found = cmocka_cases(suite, test, output, run.get("returncode"))
            for case in found:
                case.alone = test
            cases += found
    return cases


def pytest_cases(suite, log):
    """Cases of a JUnit file as pytest or Vitest writes it. A file that could not be read has an entry without a class."""
    cases = []
    for entry in ElementTree.parse(log).iter("testcase"):
        where = entry.get("classname", "").split(".")[-1]
        case = Case(suite, f"{where}.{entry.get('name')}" if where else entry.get("name"), PASSED)
        if where and entry.get("file"):
            case.alone = f"{entry.get('file')}::{entry.get('name')}"
        elif where == "ts":  # Vitest's classes are files, and it runs whole ones
            case.alone = entry.get("classname")
        for child in entry:
            if child.tag in ("failure", "error"):
                case.outcome = FAILED
                case.reason = one_line(child.get("message") or child.text)
                case.detail = tail(child.text)
            elif child.tag == "skipped" and case.outcome == PASSED:
                case.outcome = SKIPPED
                case.reason = one_line(child.get("message")) or "no reason given"
        cases.append(case)
    return cases

"""source.py - the project's files, and C source without comments and strings, for the checks."""
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def listed():
    """Every file that is tracked or could be; in an unpacked archive, every file."""
    try:
        git = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard"], cwd=TOP,
                             capture_output=True, text=True)
        if git.returncode == 0:
            return git.stdout.splitlines()
    except OSError:
        pass
    found = [os.path.relpath(os.path.join(folder, name), TOP) for folder, _, names in os.walk(TOP) for name in names]
    return [path for path in found if not path.startswith(("build/", ".git/"))]


def files(*endings, under=()):
    """Paths from the top of the project that end so and begin so."""
    return sorted(path for path in set(listed())
                  if path.endswith(endings or ("",)) and (not under or path.startswith(tuple(under)))
                  and os.path.isfile(os.path.join(TOP, path)))


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def code_lines(path):
    """(line number, text) with comments and strings blanked, so that only code is matched."""
    def blank(match):
        kept = "".join(c if c == "\n" else " " for c in match.group(0))
        return kept if match.group(0)[0] == "/" else '"' + kept[1:-1] + '"'
    return enumerate(TOKEN.sub(blank, read(path)).split("\n"), 1)


def report(findings):
    """Prints findings and ends the check: 0 when there are none."""
    for finding in findings:
        print(finding)
    sys.exit(1 if findings else 0)

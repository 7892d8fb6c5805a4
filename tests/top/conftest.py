"""`venturi top`: the helpers of tests/cli, a program that goes on for a while, and a terminal (tmux) with keys and a screen."""
import importlib.util
import os
import shutil
import subprocess
import sys
import time

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
spec = importlib.util.spec_from_file_location("cli_conftest", os.path.join(TOP, "tests", "cli", "conftest.py"))
cli = importlib.util.module_from_spec(spec)
sys.modules["cli_conftest"] = cli
spec.loader.exec_module(cli)

venturi = cli.venturi

BUSY = """import sys, time
print("output of the program", flush=True)
def inner(n):
    return sum(range(n))
def outer():
    for _ in range(50):
        inner(2000)
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    outer()
sys.exit(int(sys.argv[2]))
"""


@pytest.fixture
def recording(tmp_path):
    """recording("a.vt", names={"a": 5}) -> a finished recording with so many spans of each name, 1 us long."""
    def make(name, names):
        one = cli.NewRecording()
        spans = [text for text, count in names.items() for _ in range(count)]
        for number, text in enumerate(names):
            one.site(number + 1, text)
        events = one.events(0, 0)
        for at, text in enumerate(spans):
            events.begin(2000 * at, list(names).index(text) + 1)
            events.end(2000 * at + 1000)
        events.write()
        return one.save(tmp_path / name)
    return make


@pytest.fixture
def busy(tmp_path):
    """busy(seconds, code) -> the words of a Python program that calls functions for so long."""
    script = tmp_path / "busy.py"
    script.write_text(BUSY)
    return lambda seconds, code=0: [sys.executable, str(script), str(seconds), str(code)]


class Screen:
    """A terminal of 100 columns and 30 lines with a shell in it."""

    def __init__(self, folder):
        self.command = ["tmux", "-S", str(folder / "tmux"), "-f", "/dev/null"]
        self.tmux("new-session", "-d", "-x", "100", "-y", "30", "env", "-u", "COLUMNS", "-u", "LINES", "PS1=$ ", "TERM=screen", "LC_ALL=C.UTF-8", "sh")
        self.wait(lambda text: "$" in text)

    def tmux(self, *words):
        return subprocess.run([*self.command, *words], capture_output=True, text=True, timeout=20, check=True).stdout

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def type(self, text):
        self.tmux("send-keys", "-l", text)
        self.keys("Enter")

    def text(self):
        return self.tmux("capture-pane", "-p")

    def wait(self, is_there, seconds=40):
        """The screen as soon as it is so."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            text = self.text()
            if is_there(text):
                return text
            time.sleep(0.05)
        raise AssertionError("not seen on the screen:\n" + self.text())

    def state(self):
        """Modes of the terminal, and whether the other screen or a hidden cursor was left behind."""
        self.type("clear; stty -a | grep -o '[-]*icanon\\|[-]*echo \\|[-]*isig' | tr -d '\\n'; echo ' end'")
        text = self.wait(lambda text: " end" in text.replace("echo ' end'", ""))
        flags = self.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag} #{keypad_flag}").split()
        return [line for line in text.splitlines() if line.endswith(" end") and "stty" not in line][-1], flags

    def close(self):
        subprocess.run([*self.command, "kill-server"], capture_output=True, timeout=20, check=False)


@pytest.fixture
def screen(tmp_path):
    if not shutil.which("tmux"):
        pytest.skip("no tmux: run tools/setup")
    one = Screen(tmp_path)
    yield one
    one.close()

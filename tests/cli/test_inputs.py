"""What no command may do with its input: wait for it for ever, or write over it."""
import os

import pytest


@pytest.mark.parametrize("command", [
    ["info", "FILE"], ["report", "FILE"], ["stats", "FILE"], ["query", "FILE", "SELECT 1"], ["export", "-f", "jsonl", "FILE"],
    ["slice", "FILE", "--from", "0", "-o", "OUT"], ["merge", "FILE", "FILE", "-o", "OUT"], ["import", "FILE", "-o", "OUT"],
], ids=lambda command: command[0])
def test_a_pipe_without_a_writer_is_refused(venturi, tmp_path, command):
    os.mkfifo(tmp_path / "pipe")
    words = [str(tmp_path / {"FILE": "pipe", "OUT": "out.vt"}[word]) if word.isupper() and word.isalpha() else word
             for word in command]
    done = venturi(*words, timeout=20)
    assert done.returncode == 2
    assert "is not a regular file" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [
    ["export", "--force", "-f", "jsonl", "IN", "-o", "OUT"], ["rank", "-f", "IN", "OUT"],
    ["slice", "-f", "IN", "--from", "0", "-o", "OUT"], ["merge", "-f", "IN", "IN", "-o", "OUT"],
    ["import", "--force", "IN", "-o", "OUT"],
], ids=lambda command: command[0])
@pytest.mark.parametrize("way", ["same", "hard link", "symbolic link"])
def test_the_output_is_never_the_input(venturi, make_recording, tmp_path, command, way):
    before = make_recording().read_bytes()
    path, other = tmp_path / "in.vt", tmp_path / "other.vt"
    path.write_bytes(before)
    if way == "same":
        other = path
    elif way == "hard link":
        os.link(path, other)
    else:
        other.symlink_to(path)
    done = venturi(*[str({"IN": path, "OUT": other}.get(word, word)) for word in command])
    assert done.returncode == 2
    assert "so it cannot be the output too" in done.stderr
    assert path.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == sorted({"in.vt", other.name})

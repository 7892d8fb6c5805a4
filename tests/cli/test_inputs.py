"""What no command may do with its input: wait for it for ever, or write over it; and what helps where it is another kind of file."""
import marshal
import os
import pickle

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


FUNCTIONS = marshal.dumps({("a.py", 1, "f"): (1, 1, 0.5, 0.5, {})})
OTHERS = {"x.prof": FUNCTIONS, "x.lprof": pickle.dumps({}, 4), "x.py": b"print(1)\n"}


@pytest.mark.parametrize("command, name, said", [
    ("report", "x.prof", "is a profile of functions: venturi stats x.prof shows it, -o page.html makes a page of it"),
    ("flame", "x.prof", "is a profile of functions, which holds no paths: venturi stats x.prof shows it"),
    ("lines", "x.prof", "is a profile of functions: venturi stats x.prof shows it"),
    ("report", "x.lprof", "is a profile of lines: venturi lines x.lprof shows it"),
    ("flame", "x.lprof", "is a profile of lines: venturi lines x.lprof shows it"),
    ("stats", "x.lprof", "is a profile of lines: venturi lines x.lprof shows it"),
    ("stats", "x.py", "is a script: venturi run x.py records it"),
    ("lines", "x.py", "is a script: venturi run x.py records it"),
    ("report", "x.py", "is a script: venturi run x.py records it"),
])
def test_files_of_another_command(venturi, tmp_path, command, name, said):
    (tmp_path / name).write_bytes(OTHERS[name])
    assert venturi(command, name, cwd=tmp_path, check=2).stderr == "venturi %s: %s: %s\n" % (command, name, said)


def test_what_nobody_reads_keeps_its_reason(venturi, tmp_path):
    (tmp_path / "x.json").write_text('{"a": 1}')
    said = venturi("report", "x.json", cwd=tmp_path, check=2).stderr
    assert said == "venturi report: x.json: not a Venturi recording (it does not begin like one)\n"
    assert "No such file" in venturi("report", "none.py", cwd=tmp_path, check=2).stderr


def test_a_page_replaces_only_pages(venturi, make_recording, tmp_path):
    (tmp_path / "x.py").write_text("print(1)\n")
    said = venturi("report", make_recording(), "-o", "x.py", cwd=tmp_path, check=2).stderr
    assert said == "venturi report: x.py: already exists and is not a page of Venturi's (--force would replace it)\n"
    assert (tmp_path / "x.py").read_text() == "print(1)\n"


@pytest.mark.parametrize("name", ["x.html", "x.htm"])
def test_run_writes_no_page(venturi, tmp_path, name):
    said = venturi("run", "-o", name, "true", cwd=tmp_path, check=2).stderr
    assert said.count("\n") == 1 and "venturi report x.vt -o %s makes the page" % name in said
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("command", [
    ["info"], ["report"], ["stats"], ["energy"], ["flame"], ["lines"], ["tasks"], ["query", "", "SELECT 1"], ["export", "-f", "jsonl"], ["trace", "list"],
    ["check"], ["slice", "--from", "0", "-o", "out.vt"], ["merge", "-o", "out.vt"], ["diff", "", "b.vt"],
], ids=lambda command: command[0])
def test_a_folder_is_named_with_what_to_do(venturi, tmp_path, command):
    """Of a spool people give the folder."""
    spool, empty = tmp_path / "spool", tmp_path / "empty"
    spool.mkdir()
    empty.mkdir()
    (spool / "20261116T230506.123456Z-1a2b3c4d5e6f-000001.vt").write_bytes(b"")

    def refused(folder):
        words = [str(folder) if word == "" else word for word in command] + ([] if "" in command else [str(folder)])
        return venturi(*words, check=2, cwd=tmp_path).stderr

    assert refused(spool).startswith(
        "venturi %s: %s: is a folder; a spool is shown by `venturi serve %s`, its files one by one, or merged: "
        "venturi merge %s/*.vt -o all.vt" % (command[0], spool, spool, spool))
    assert refused(empty).startswith("venturi %s: %s: is a folder, not a recording (.vt)" % (command[0], empty))


@pytest.mark.parametrize("words, message", [
    (("trace", "list"), "no traces, only steps"), (("trace", "list", "--from"), "no traces, only steps"), (("report",), "not a recording"),
])
def test_shipped_steps_are_named(venturi, tmp_path, words, message):
    """What `ship --to file://` writes of steps has no traces."""
    path = tmp_path / "steps.jsonl"
    path.write_text('{"@timestamp":"2026-11-18T01:52:23.15883744Z","source":"Step","n_messages":2,"failed":false}\n')
    done = venturi(*words, "file://%s" % path if "--from" in words else path, check=2)
    assert done.stderr == "venturi %s: %s: holds documents of steps, as venturi ship writes them: %s\n" % (words[0], path, message)

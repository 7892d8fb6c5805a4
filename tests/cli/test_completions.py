"""Completion scripts, tried in the real shells."""
import os
import shutil
import subprocess

import pytest

from conftest import bare_environment


def with_tool(venturi, **more):
    env = bare_environment(**more)
    env["PATH"] = os.path.dirname(venturi.path) + ":" + env.get("PATH", "/usr/bin:/bin")
    return env


def bash(venturi, words, cwd):
    """What bash offers for the last of the words."""
    script = """
        source <(venturi completions bash)
        COMP_WORDS=(venturi "$@"); COMP_CWORD=$#
        _venturi
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    done = subprocess.run(["bash", "-c", script, "bash", *words], env=with_tool(venturi), cwd=cwd,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return [line for line in done.stdout.splitlines() if line]


def fish(venturi, line, cwd):
    """What fish offers, sorted: versions 3 and 4 have orders of their own."""
    script = "venturi completions fish | source; or exit 1; complete -C '%s'" % line
    homes = {"HOME": cwd, "XDG_CONFIG_HOME": cwd, "XDG_DATA_HOME": cwd, "XDG_CACHE_HOME": cwd, "TERM": "dumb"}
    done = subprocess.run(["fish", "--no-config", "-c", script], env=with_tool(venturi, **homes), cwd=cwd,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    # fish 4 may have something to say about the terminal, but not about the script.
    assert "venturi" not in done.stderr and "complete" not in done.stderr, done.stderr
    return sorted(found.split("\t")[0] for found in done.stdout.splitlines())


needs_bash = pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
needs_fish = pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
needs_zsh = pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")


@needs_bash
def test_bash_commands(venturi, tmp_path):
    assert set(bash(venturi, [""], tmp_path)) == set(venturi.commands()) | {"help", "--help", "--version"}
    assert bash(venturi, ["ran"], tmp_path) == ["rank"]
    assert set(bash(venturi, ["help", ""], tmp_path)) == set(venturi.commands())


@needs_bash
def test_bash_options(venturi, tmp_path):
    for name in venturi.commands():
        shown = [word for line in venturi(name, "--help").stdout.splitlines() if line.startswith("  ")
                 for word in line.replace(",", "").replace("[=", " ").split()[:2] if word.startswith("-")]
        assert set(bash(venturi, [name, "-"], tmp_path)) == set(shown), name
    assert bash(venturi, ["rank", "--so"], tmp_path) == ["--sort"]


@needs_bash
def test_bash_values_and_files(venturi, tmp_path):
    (tmp_path / "a file.vt").write_text("")
    assert bash(venturi, ["rank", "--sort", "p"], tmp_path) == ["p50", "p99"]
    assert bash(venturi, ["rank", "--sort", "=", "p"], tmp_path) == ["p50", "p99"]
    assert bash(venturi, ["rank", "--limit", ""], tmp_path) == []
    assert bash(venturi, ["rank", "--wide", "a"], tmp_path) == ["a file.vt"]
    assert bash(venturi, ["completions", ""], tmp_path) == ["bash", "zsh", "fish"]
    assert bash(venturi, ["doctor", ""], tmp_path) == []


def options_of(help_text):
    return {word for line in help_text.splitlines() if line.startswith("  ")
            for word in line.replace(",", "").split()[:2] if word.startswith("-")}


LIST = {"--from", "--errors", "--sort", "-n", "--limit", "--json", "-h", "--help"}


@needs_bash
def test_bash_actions(venturi, tmp_path):
    """The first word says what `trace` does; those after it are of that."""
    (tmp_path / "a.vt").write_text("")
    assert bash(venturi, ["trace", ""], tmp_path) == ["list", "show", "request"]
    assert bash(venturi, ["trace", "re"], tmp_path) == ["request"]
    assert bash(venturi, ["trace", "list", ""], tmp_path) == ["a.vt"] == bash(venturi, ["trace", "show", "last", ""], tmp_path)
    assert set(bash(venturi, ["trace", "list", "-"], tmp_path)) == LIST
    assert set(bash(venturi, ["trace", "show", "-"], tmp_path)) == options_of(venturi("trace", "--help").stdout) - {
        "--errors", "--sort", "-n", "--limit"}
    assert bash(venturi, ["trace", "show", "--out", ""], tmp_path) == ["a.vt"] == bash(venturi, ["trace", "request", "-o", ""], tmp_path)
    assert bash(venturi, ["trace", "show", "--depth", ""], tmp_path) == []
    asked = venturi("trace", "request", "--help")
    if asked.returncode == 0:
        assert set(bash(venturi, ["trace", "request", "-"], tmp_path)) == options_of(asked.stdout)


@needs_fish
def test_fish_actions(venturi, tmp_path):
    (tmp_path / "a.vt").write_text("")
    assert fish(venturi, "venturi trace ", tmp_path) == ["list", "request", "show"]
    assert "a.vt" in fish(venturi, "venturi trace list ", tmp_path) and "show" not in fish(venturi, "venturi trace list ", tmp_path)
    assert fish(venturi, "venturi trace list --e", tmp_path) == ["--errors"]
    assert fish(venturi, "venturi trace show --e", tmp_path) == []
    assert fish(venturi, "venturi trace request --prof", tmp_path) == ["--profile"]


@needs_zsh
def test_zsh_actions(venturi):
    script = venturi("completions", "zsh", check=0).stdout
    assert "'1:choice:(list show request)'" in script
    [request] = [part for part in script.split("    request)\n")[1:]]
    assert "--profile=" in request.split(";;")[0] and "--errors" not in request.split(";;")[0]


@needs_fish
def test_fish(venturi, tmp_path):
    (tmp_path / "trace.vt").write_text("")
    assert set(fish(venturi, "venturi ", tmp_path)) >= set(venturi.commands())
    assert fish(venturi, "venturi rank --so", tmp_path) == ["--sort"]
    assert fish(venturi, "venturi rank --sort p", tmp_path) == ["p50", "p99"]
    assert "trace.vt" in fish(venturi, "venturi rank tr", tmp_path)
    assert fish(venturi, "venturi completions ", tmp_path) == ["bash", "fish", "zsh"]
    assert fish(venturi, "venturi help ran", tmp_path) == ["rank"]
    assert fish(venturi, "venturi doctor ", tmp_path) == []


@needs_fish
def test_fish_files_named_like_commands(venturi, tmp_path):
    """The command is the first word: a file of that name after it is none."""
    (tmp_path / "merge").write_text("")
    assert fish(venturi, "venturi rank merge --offs", tmp_path) == []
    assert fish(venturi, "venturi merge rank --offs", tmp_path) == ["--offset"]
    # Helpers of fish itself differ between versions, and match words in different ways.
    script = venturi("completions", "fish", check=0).stdout
    assert "__fish_seen_subcommand_from" not in script and "__fish_use_subcommand" not in script


@needs_zsh
def test_zsh_is_valid(venturi):
    """The script defines its function and registers it; the words in it are those of the table."""
    script = ("autoload -Uz compinit; compinit -u -D; source <(venturi completions zsh); "
              "print -r -- $_comps[venturi]; functions _venturi")
    done = subprocess.run(["zsh", "-f", "-c", script], env=with_tool(venturi),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert done.stdout.startswith("_venturi\n")
    for name in venturi.commands():
        assert "'%s:" % name in done.stdout


def test_wrong_shell(venturi):
    assert venturi("completions", "tcsh", check=2).stderr == \
        "venturi completions: 'tcsh' is none of bash, zsh, fish\n"
    assert venturi("completions", check=2).stderr == "venturi completions: for which shell? bash, zsh or fish\n"

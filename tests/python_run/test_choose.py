"""Which Python, which script, which file: and what is said when there is none."""
import os
import subprocess

import pytest
from conftest import VENTURI, environment


def tool(*words, env=None, cwd=None, **kw):
    return subprocess.run([VENTURI, *map(str, words)], capture_output=True, text=True, timeout=120, cwd=cwd,
                          stdin=subprocess.DEVNULL, env={**environment(), **(env or {})}, **kw)


@pytest.fixture
def fakes(tmp_path):
    """fakes(name) -> an executable that says its name and its arguments."""
    def make(name):
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text('#!/bin/sh\necho "${0##*/} $*"\n')
        path.chmod(0o755)
        return path
    return make


def test_which_python(fakes, tmp_path):
    (tmp_path / "script.py").write_text("")
    python, python3, other = fakes("python"), fakes("python3"), fakes("other")
    env = {"PATH": f"{python.parent}:/usr/bin:/bin"}
    def said(*words, **more):
        done = tool("run", "-qfo", "x.vt", *words, cwd=tmp_path, env={**env, **more})
        return done.stdout.strip()
    assert said("script.py", "a") == "python3 script.py a"
    assert said("script.py", VENTURI_INTERPRETER=str(other)) == "other script.py"
    assert said("script.py", VENTURI_INTERPRETER="other") == "other script.py"
    assert said("script.py", VENTURI_INTERPRETER="") == "python3 script.py"
    assert said("--python", other, "script.py", VENTURI_INTERPRETER="nope") == "other script.py"
    assert said("-m", "some.module", "-x") == "python3 -m some.module -x"
    assert said("-mmodule") == "python3 -m module"
    assert said("-c", "code", "--", "-q") == "python3 -c code -- -q"
    assert said("--", "script.py") == "python3 script.py"
    python3.unlink()
    assert said("script.py", PATH=f"{python.parent}") == "python script.py" or not os.access("/bin/sh", os.X_OK)


def test_no_python(tmp_path):
    (tmp_path / "script.py").write_text("")
    (tmp_path / "empty").mkdir()
    for words, env in ((("script.py",), {"PATH": str(tmp_path / "empty")}), (("--python", "./nope", "-m", "x"), {})):
        done = tool("run", *words, cwd=tmp_path, env=env)
        assert done.returncode == 127 and done.stderr.count("\n") == 1
        assert not list(tmp_path.glob("*.vt"))


def test_script_without_the_word_run(fakes, tmp_path):
    (tmp_path / "script.py").write_text("")
    env = {"PATH": f"{fakes('python3').parent}:/usr/bin:/bin"}
    assert tool("script.py", "--help", "-o", cwd=tmp_path, env=env).stdout == "python3 script.py --help -o\n"
    assert tool("./script.py", cwd=tmp_path, env=env).stdout == "python3 ./script.py\n"
    made = [path.name for path in tmp_path.glob("*.vt")]
    assert made and all(name.startswith("script-") for name in made)


def test_bad_scripts(tmp_path):
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "plain").mkdir()
    (tmp_path / "loop.py").symlink_to("loop.py")
    for word, code in (("nope.py", 127), ("no/where.py", 127), ("folder.py", 126), ("./plain", 126), ("loop.py", 126)):
        for words in (("run", word), ("run", "-o", "x.prof", word)):
            done = tool(*words, cwd=tmp_path)
            assert done.returncode == code, done.stderr
            assert done.stderr.startswith("venturi run: " + word) and done.stderr.count("\n") == 1
            assert done.stdout == "" and not list(tmp_path.glob("*.vt")) and not list(tmp_path.glob("*.prof*"))
    assert tool("nope.py", cwd=tmp_path).returncode == 127


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_script(tmp_path):
    (tmp_path / "script.py").write_text("")
    (tmp_path / "script.py").chmod(0)
    done = tool("run", "script.py", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (126, "venturi run: script.py: Permission denied\n")


@pytest.mark.parametrize("words, message", [
    (("-m",), "venturi run: -m needs a value: MODULE\n"),
    (("-c",), "venturi run: -c needs a value: CODE\n"),
    (("--include", "a:b", "x.py"), "venturi run: --include a:b: not a pattern: give the option twice instead of a colon\n"),
    (("--exclude=", "x.py"), "venturi run: --exclude : not a pattern: it is empty\n"),
])
def test_wrong_words(words, message):
    done = tool("run", *words)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)


def test_profile_as_output(run):
    run.script("def f(): pass\nfor _ in range(10): f()\nprint('hello')\n")
    done = run("script.py", output="x.prof")
    assert (done.returncode, done.stdout, done.stderr) == (0, "hello\n", "")
    assert sorted(os.listdir(run.folder)) == ["script.py", "x.prof"]
    read = run.alone("-c", "import pstats; s = pstats.Stats('x.prof'); print([(k[2], v[:2]) for k, v in s.stats.items() "
                           "if k[0].endswith('script.py') and k[2] == 'f'])")
    assert read.stdout == "[('f', (10, 10))]\n"
    assert run.profile(run.folder / "x.prof").calls("script.py")["f"] == 10


def test_profile_that_exists_is_not_replaced(run_one):
    run_one.script("print('ran')")
    (run_one.folder / "x.prof").write_text("precious")
    command = [word for word in run_one.command("script.py", output="x.prof") if word != "-f"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=run_one.folder, env=environment())
    assert (done.returncode, done.stdout) == (125, "")
    assert done.stderr == "venturi run: x.prof: already exists (use --force to replace it)\n"
    assert (run_one.folder / "x.prof").read_text() == "precious"
    assert sorted(os.listdir(run_one.folder)) == ["script.py", "x.prof"]


def test_profile_that_cannot_be_written(run_one):
    run_one.script("print('ran')")
    done = run_one("script.py", output="no/where/x.prof")
    assert (done.returncode, done.stdout) == (125, "")
    assert done.stderr.count("\n") == 1


def test_profile_of_nothing(run_one):
    run_one.script("print('ran')")
    for words in (("--no-functions", "script.py"), ("true",)):
        done = run_one(*words[-1:], options=words[:-1], output="x.prof")
        assert (done.returncode, done.stderr) == (0, "venturi: x.prof  not written: no function was seen\n")
        assert os.listdir(run_one.folder) == ["script.py"]


def test_summary(run_one):
    run_one.script("def f(): pass\nfor _ in range(10): f()\n")
    command = [word for word in run_one.command("script.py") if word != "-q"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=run_one.folder, env=environment())
    first, following, page = done.stderr.splitlines()
    assert first.startswith(f"venturi: {run_one.output}  ") and " calls, 0 lost, own cost " in first
    assert following == f"venturi: next  venturi stats {run_one.output}"
    assert page == f"venturi: page  venturi report {run_one.output} -o page.html"


def test_nested(run):
    """A recorded program may record others."""
    run.script("def inner(): pass\ninner()\n", "inner.py")
    run.script(f"""
        import subprocess, sys
        def outer():
            subprocess.run([{VENTURI!r}, "run", "-qfo", "inner.vt", "--python", sys.executable, "inner.py"], check=True)
        outer()
    """)
    done = run("script.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert run.calls() == {"<module>": 1, "outer": 1} and run.calls("inner.py") == {}
    assert run.profile(run.folder / "inner.vt").calls("inner.py") == {"<module>": 1, "inner": 1}

"""`python -m venturi …` is the tool, with this Python."""
import subprocess

import pytest
from conftest import VENTURI, environment
from interpreters import PACKAGE, VERSIONS, python_or_skip


@pytest.fixture(params=VERSIONS)
def module(request, tmp_path):
    """module(words…) runs `python -m venturi words…` in an empty folder."""
    python = python_or_skip(request.param)

    def run(*words, **kw):
        return subprocess.run([python, "-m", "venturi", *map(str, words)], cwd=tmp_path, capture_output=True, text=True,
                              timeout=120, env=environment(PYTHONPATH=PACKAGE, **kw))
    run.python, run.folder = python, tmp_path
    return run


def test_it_is_the_tool(module):
    for words in (("--version",), ("run", "--help"), ("no-such-command",), ()):
        done = module(*words)
        tool = subprocess.run([VENTURI, *words], capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (tool.returncode, tool.stdout, tool.stderr)


def test_runs_with_this_python(module):
    (module.folder / "script.py").write_text("import sys\nprint(sys.executable, sys.argv)\nsys.exit(4)\n")
    for words in (("run", "-qfo", "x.vt", "script.py", "a"), ("run", "-qf", "-o", "x.prof", "script.py", "a"),
                  ("script.py", "a")):
        done = module(*words)
        assert (done.returncode, done.stdout) == (4, f"{module.python} ['script.py', 'a']\n")
    done = module("run", "-qfo", "x.vt", "script.py", VENTURI_INTERPRETER="another")
    assert done.stdout.startswith(module.python)


def test_is_recorded(module):
    (module.folder / "script.py").write_text("def f(): pass\nfor _ in range(10): f()\n")
    assert module("run", "-qfo", "x.vt", "script.py").returncode == 0
    code = "import venturi; print([row.ncalls for row in venturi.Stats('x.vt').rows() if row.name == 'f'])"
    done = subprocess.run([module.python, "-c", code], cwd=module.folder, capture_output=True, text=True,
                          env=environment(PYTHONPATH=PACKAGE))
    assert done.stdout == "[10]\n", done.stderr


def test_import_alone_loads_little(module):
    """The package costs nothing until it is used."""
    code = "import sys; before = set(sys.modules); import venturi; print(sorted(set(sys.modules) - before))"
    done = subprocess.run([module.python, "-c", code], capture_output=True, text=True, env=environment(PYTHONPATH=PACKAGE))
    loaded = set(eval(done.stdout))
    assert "venturi" in loaded and not loaded & {"pstats", "json", "inspect", "venturi.stats", "venturi._venturi"}
    code = "import venturi; venturi.Profile, venturi.Stats, venturi.tracing.single_thread_profiler, venturi.__version__"
    assert subprocess.run([module.python, "-c", code], env=environment(PYTHONPATH=PACKAGE)).returncode == 0
    code = "import venturi; venturi.nonsense"
    done = subprocess.run([module.python, "-c", code], capture_output=True, text=True, env=environment(PYTHONPATH=PACKAGE))
    assert "has no attribute 'nonsense'" in done.stderr


def test_version_is_the_tools(module):
    code = "import venturi; print('venturi', venturi.__version__)"
    done = subprocess.run([module.python, "-c", code], capture_output=True, text=True, env=environment(PYTHONPATH=PACKAGE))
    assert done.stdout == module("--version").stdout

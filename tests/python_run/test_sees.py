"""What a script sees under `venturi run` is what it sees alone."""
import json
import os
import shutil
import subprocess
import sys
import zipapp

import pytest
from conftest import PACKAGE, environment

# Everything about itself that a program can ask for; one JSON line.
FACTS = """
import json, os, sys
def facts():
    main = sys.modules["__main__"]
    return {
        "argv": sys.argv, "name": __name__, "file": globals().get("__file__"), "package": __package__,
        "path": sys.path, "modules": sorted(name for name in sys.modules if not name.startswith("venturi")),
        "cache": sorted(sys.path_importer_cache), "main": main.__dict__.get("__file__"), "meta": len(sys.meta_path),
        "hooks": len(sys.path_hooks), "flags": list(sys.flags), "executable": sys.executable, "prefix": sys.prefix,
        "orig": getattr(sys, "orig_argv", None), "profile": sys.getprofile() is None, "trace": sys.gettrace() is None,
        "cwd": os.getcwd(), "fds": len(os.listdir("/proc/self/fd")), "threads": len(os.listdir("/proc/self/task")),
        "spec": getattr(globals().get("__spec__"), "name", None), "group": os.getpgid(0) != os.getpid(),
    }
print(json.dumps(facts()))
"""


def same(run, *words, **kw):
    """The facts of a program, checked to be the same with us and alone."""
    with_us, alone = run(*words, **kw), run.alone(*words, **kw)
    assert with_us.returncode == alone.returncode == 0, with_us.stderr
    assert with_us.stderr == ""
    seen, expected = json.loads(with_us.stdout), json.loads(alone.stdout)
    for one in (seen, expected):
        one.pop("group")
    assert seen.pop("meta") == expected.pop("meta") + 1  # of our package, behind all others
    assert seen == expected
    return seen


def test_script(run):
    run.script(FACTS)
    facts = same(run, "script.py", "a", "-b", "--", "c d")
    assert facts["argv"] == ["script.py", "a", "-b", "--", "c d"] and facts["name"] == "__main__"
    assert facts["path"][0] == str(run.folder)
    assert run.calls()["facts"] == 1


def test_script_elsewhere(run):
    path = run.script(FACTS, "deep/er/script.py")
    assert same(run, path)["path"][0] == str(path.parent)


def test_module(run):
    run.script("", "pack/__init__.py")
    run.script(FACTS, "pack/part.py")
    facts = same(run, "-m", "pack.part", "x", "-q")
    assert facts["argv"][1:] == ["x", "-q"] and facts["spec"] == "pack.part"
    assert run.calls("part.py")["facts"] == 1


def test_package_as_module(run):
    run.script("", "pack/__init__.py")
    run.script(FACTS, "pack/__main__.py")
    assert same(run, "-m", "pack")["spec"] == "pack.__main__"


def test_code(run):
    facts = same(run, "-c", FACTS, "x", "-c")
    assert facts["argv"] == ["-c", "x", "-c"]
    assert run.calls("<string>")["facts"] == 1


def test_folder_and_zip(run):
    run.script(FACTS, "app/__main__.py")
    same(run, "app")
    zipapp.create_archive(run.folder / "app", run.folder / "app.pyz")
    same(run, "app.pyz")
    assert run.calls("__main__.py")["facts"] == 1


def test_from_standard_input(run):
    done = run("-", "x", input="import sys\ndef f(): pass\nf()\nprint(sys.argv)\n")
    assert done.stdout == "['-', 'x']\n"
    assert run.calls("<stdin>")["f"] == 1


def test_standard_input_is_the_scripts(run):
    run.script("import sys\nprint(sys.stdin.read().upper(), end='')\n")
    assert run("script.py", input="hello\nyou\n").stdout == "HELLO\nYOU\n"


def test_python_path_is_kept(run):
    run.script(FACTS)
    run.script("", "more/module.py")
    for value in ("more", "more::x", ":more", "more:", ":"):
        same(run, "script.py", env={"PYTHONPATH": value})
    assert same(run, "script.py", env={"PYTHONPATH": ""})["path"][0] == str(run.folder)


def test_own_customization_runs(run):
    run.script("import sys; sys.from_site = __file__", "mine/sitecustomize.py")
    run.script("import sys; sys.from_user = __file__", "mine/usercustomize.py")
    run.script("""
        import sys, sitecustomize, usercustomize
        print(sys.from_site == sitecustomize.__file__, sys.from_user == usercustomize.__file__)
        print(sitecustomize.__file__, sitecustomize.__spec__.origin)
    """)
    env = {"PYTHONPATH": str(run.folder / "mine")}
    with_us, alone = run("script.py", env=env), run.alone("script.py", env=env)
    assert with_us.stdout == alone.stdout and with_us.stdout.startswith("True True\n")
    assert with_us.stderr == alone.stderr == ""


def test_own_customization_that_fails(run):
    run.script("raise ValueError('mine')", "mine/sitecustomize.py")
    run.script("def f(): pass\nf()\nprint('went on')")
    env = {"PYTHONPATH": str(run.folder / "mine")}
    with_us, alone = run("script.py", env=env), run.alone("script.py", env=env)
    assert with_us.stdout == alone.stdout == "went on\n"
    assert with_us.stderr == alone.stderr and "ValueError: mine" in alone.stderr
    assert run.calls()["f"] == 1


def test_own_module_named_venturi(run):
    run.script("who = 'mine'", "venturi.py")
    run.script("import venturi\nprint(venturi.who)")
    assert run("script.py").stdout == "mine\n"
    assert run.calls("venturi.py") == {"<module>": 1}


@pytest.mark.parametrize("options", [(), ("--no-functions",), ("-l",)])
def test_package_where_it_is_not_installed(run, options):
    """It is the one beside the tool, also in children, however they are started."""
    run.script("""
        import multiprocessing, os, subprocess, sys
        def child(queue):
            import venturi
            queue.put(venturi.__file__)
        if __name__ == "__main__":
            import venturi
            venturi.items(1)
            print(venturi.__file__)
            subprocess.run([sys.executable, "-c", "import venturi; print(venturi.__file__)"], check=True)
            context = multiprocessing.get_context("spawn")
            queue = context.Queue()
            process = context.Process(target=child, args=(queue,))
            process.start()
            print(queue.get())
            process.join()
    """)
    done = run("script.py", options=options)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    lines = done.stdout.split()
    assert len(lines) == 3 and {os.path.realpath(line) for line in lines} == {
        os.path.realpath(os.path.join(PACKAGE, "venturi", "__init__.py"))}


def test_package_of_the_programs_own(run):
    """What is installed goes first, wherever it stands in sys.path."""
    run.script("who = 'installed'", "site/venturi/__init__.py")
    run.script("import sys\nsys.path.append('site')\nimport venturi\nprint(venturi.who)\n")
    assert run("script.py").stdout == "installed\n"


def test_package_within_a_recorded_program(run):
    """`import venturi` finds the same extension that records."""
    from conftest import PACKAGE
    run.script("""
        import venturi
        def f(): pass
        with venturi.Profile() as profile:
            f()
        print([row.ncalls for row in profile.stats().rows() if row.name == "f"])
        f()
    """)
    assert run("script.py", env={"PYTHONPATH": PACKAGE}).stdout == "[1]\n"
    assert run.calls()["f"] == 2


def test_virtual_environment(run):
    subprocess.run([run.python, "-m", "venv", "--without-pip", run.folder / "venv"], check=True, env=environment())
    run.script(FACTS)
    python = run.folder / "venv" / "bin" / "python"
    run.python = str(python)
    facts = same(run, "script.py")
    assert facts["prefix"] == str(run.folder / "venv")


def test_executable_script_is_recorded_too(run):
    path = run.script(f"#!{run.python}\ndef f(): pass\nf()\nprint('ran')\n", "program")
    path.chmod(0o755)
    assert run(path).stdout == "ran\n"
    assert run.calls("program") == {"<module>": 1, "f": 1}


def test_python_that_a_shell_script_starts(run):
    run.script("def f(): pass\nf()\n")
    assert run("sh", "-c", f"'{run.python}' script.py && '{run.python}' script.py").returncode == 0
    assert run.calls() == {"<module>": 2, "f": 2}


@pytest.mark.parametrize("flag", ["-S", "-I", "-E"])
def test_interpreters_that_look_at_nothing(run, flag):
    """Not recorded, and not disturbed."""
    run.script("print('ran')")
    done = run(run.python, flag, "script.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, "ran\n", "")
    assert run.calls() == {}


def test_child_without_our_variables(run):
    run.script("def g(): pass\ng()\nprint('child')", "child.py")
    run.script("""
        import os, subprocess, sys
        env = {key: value for key, value in os.environ.items() if not key.startswith(("VENTURI", "PYTHON"))}
        subprocess.run([sys.executable, "child.py"], env=env, check=True)
    """)
    done = run("script.py")
    assert (done.stdout, done.stderr) == ("child\n", "")
    assert run.calls()["<module>"] == 1 and run.calls("child.py") == {}


def test_changed_python_path(run):
    """A program that sets PYTHONPATH for its children gets children that work."""
    run.script("who = 'right'", "more/module.py")
    run.script("import module; print(module.who)", "child.py")
    run.script("""
        import os, subprocess, sys
        os.environ["PYTHONPATH"] = os.path.join(os.getcwd(), "more")
        subprocess.run([sys.executable, "child.py"], check=True)
    """)
    done = run("script.py")
    assert (done.stdout, done.stderr) == ("right\n", "")


def test_second_interpreter_in_the_process(run):
    """Not recorded, not disturbed, not worth a word."""
    run.script("""
        try:
            import _interpreters
            execute = _interpreters.exec
        except ImportError:
            import _xxsubinterpreters as _interpreters
            execute = _interpreters.run_string
        def f(): pass
        number = _interpreters.create()
        execute(number, "import sys; print([name for name in sys.modules if 'venturi' in name],"
                        " '_inject' in str(sys.modules.get('sitecustomize')))")  # Debian has one of its own
        _interpreters.destroy(number)
        f()
    """)
    done = run("script.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, "[] False\n", "")
    assert run.calls()["f"] == 1


def test_pythons_that_are_too_old(run_one, tmp_path):
    """Says so in one line, and the program runs."""
    import glob
    found = [path for version in ("2.7", "3.6", "3.7", "3.8")
             for path in glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python"))]
    if not found:
        pytest.skip("no Python older than 3.9 on this machine")
    run_one.script("import sys\nsys.stdout.write('ran\\n')\n")
    for path in found:
        done = run_one("script.py", options=["--python", path])
        assert done.stdout == "ran\n" and done.returncode == 0
        assert done.stderr.count("\n") == 1 and "not recorded: it is older than 3.9" in done.stderr


def test_our_own_functions_wherever_they_are(run):
    """The package may lie in another folder than the module that records: in a checkout, for one."""
    shutil.copytree(os.path.join(PACKAGE, "venturi"), run.folder / "copy" / "venturi", ignore=shutil.ignore_patterns("*.so*", "__pycache__"))
    script = run.script("import venturi.dask\nprint(venturi.__file__)\nventuri.dask.get({'a': (abs, -1)}, 'a')\n")
    done = run(script, env={"PYTHONPATH": str(run.folder / "copy")})
    assert (done.returncode, done.stdout) == (0, str(run.folder / "copy" / "venturi" / "__init__.py") + "\n"), done.stderr
    ours = [row for row in run.profile().functions if row["file"].startswith(str(run.folder / "copy"))]
    assert [row["name"] for row in ours if not row["file"].endswith("__init__.py")] == []

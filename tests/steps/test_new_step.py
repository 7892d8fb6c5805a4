"""`venturi new-step`: what it writes runs as it is, and profiles, children included."""
import json
import os
import py_compile
import stat

import pytest
from stepping import BUILD, VENTURI, environment, query, run, steps


@pytest.fixture
def new_step(tmp_path):
    def make(*arguments, check=True):
        return run([VENTURI, "new-step", *arguments], check=check, cwd=tmp_path, env=environment())
    return make


def functions(path):
    """Names of the functions that were recorded, with their calls."""
    return {row["name"]: row["calls"] for row in query(path, "select name, sum(calls) as calls from calls group by name")}


def test_it_says_what_to_do_next(new_step, tmp_path):
    done = new_step("my_step")
    assert done.stdout == ""
    assert done.stderr == "venturi: my_step  a step MyStep; it runs as it is\nventuri: next  cd my_step && venturi run scripts/run_step.py\n"
    found = sorted(os.path.relpath(os.path.join(folder, name), tmp_path / "my_step") for folder, _, names in os.walk(tmp_path / "my_step") for name in names)
    assert found == ["Dockerfile", "README.md", "messages.jsonl", "my_step/__init__.py", "my_step/step.py", "requirements.txt", "scripts/run_multiprocess.py",
                     "scripts/run_step.py", "settings.py", "tests/test_step.py"]
    for name in found:
        text = (tmp_path / "my_step" / name).read_text()
        assert "@" not in text.replace("@staticmethod", ""), "%s has a place that was not filled in" % name
        if name.endswith(".py"):
            py_compile.compile(str(tmp_path / "my_step" / name), cfile=str(tmp_path / "compiled"), doraise=True)


def test_it_runs_and_is_profiled(new_step, python):
    new_step("-o", python.folder / "it", "My-Step")
    folder = python.folder / "it"
    done = run([VENTURI, "run", "-o", "one.vt", "--", python.path, "scripts/run_step.py"], cwd=folder, env=environment())
    assert done.stdout == ""
    assert len((folder / "results.jsonl").read_text().splitlines()) == 40
    rows = steps(folder / "one.vt")
    assert [(row["source"], row["prefix"], row["messages"]) for row in rows] == [("MyStep", "pipeline", 5)] * 8
    assert rows[0]["extra"]["candid"] == ["1000", "1001", "1002", "1003", "1004"] and "bright" in rows[0]["extra"]
    calls = functions(folder / "one.vt")
    assert sum(count for name, count in calls.items() if name.split(".")[-1] == "classify") == 40
    assert sum(count for name, count in calls.items() if name.split(".")[-1] == "execute") == 8


def test_children_are_profiled_too(new_step, python):
    new_step("-o", python.folder / "it", "my_step")
    folder = python.folder / "it"
    run([VENTURI, "run", "-o", "many.vt", "--", python.path, "scripts/run_multiprocess.py"], cwd=folder, env=environment())
    with open(folder / "messages.jsonl") as file:
        given = sorted(json.loads(line)["candid"] for line in file)
    assert sorted(json.loads(line)["candid"] for line in (folder / "results.jsonl").read_text().splitlines()) == given
    rows = steps(folder / "many.vt")
    by_process = {pid: sum(row["messages"] for row in rows if row["pid"] == pid) for pid in {row["pid"] for row in rows}}
    assert sorted(by_process.values()) == [20, 20], "two processes share the messages"
    assert sorted(sum((row["extra"]["candid"] for row in rows), [])) == given
    assert sum(count for name, count in functions(folder / "many.vt").items() if name.split(".")[-1] == "classify") == 40


def test_it_has_a_test_that_can_fail(new_step, newest):
    new_step("-o", newest.folder / "it", "my_step")
    newest.folder = newest.folder / "it"
    done = newest.run("-m", "unittest", "discover", "tests")
    assert "Ran 1 test" in done.stderr and "OK" in done.stderr
    code = newest.folder / "my_step" / "step.py"
    code.write_text(code.read_text().replace("< 18", "< 8"))
    assert newest.run("-m", "unittest", "discover", "tests", check=False).returncode == 1


def test_it_runs_where_nobody_records(new_step, newest):
    new_step("-o", newest.folder / "it", "my_step")
    newest.folder = newest.folder / "it"
    before = set(os.listdir(newest.folder))
    assert newest.run("scripts/run_step.py").stderr == ""
    assert set(os.listdir(newest.folder)) - before == {"results.jsonl"}


def test_a_child_that_fails_is_told_by_the_exit_code(new_step, newest):
    new_step("-o", newest.folder / "it", "my_step")
    newest.folder = newest.folder / "it"
    (newest.folder / "bad.jsonl").write_text('{"candid": "1", "magnitude": 17}\n{"candid": "2", "magnitude": "bright"}\n')
    assert newest.run("scripts/run_multiprocess.py", check=False, MESSAGES="bad.jsonl").returncode == 1


def test_a_step_of_c(new_step, tmp_path):
    done = new_step("--language", "c", "kinds")
    assert done.stderr.endswith("venturi: next  cd kinds && make && venturi run ./kinds\n")
    env = environment(PKG_CONFIG_PATH=os.path.join(BUILD, "meson-uninstalled"), LD_LIBRARY_PATH=BUILD, CFLAGS="-Wextra -Werror")
    run(["make"], cwd=tmp_path / "kinds", env=env)
    assert run(["make", "-s", "test"], cwd=tmp_path / "kinds", env=env).stdout == "passed\n"
    run([VENTURI, "run", "-o", "c.vt", "--", "./kinds"], cwd=tmp_path / "kinds", env=env)
    rows = steps(tmp_path / "kinds" / "c.vt")
    assert [(row["source"], row["messages"]) for row in rows] == [("Kinds", 5)] * 8 and "bright" in rows[0]["extra"]


@pytest.mark.parametrize("name, class_, package", [
    ("alert", "Alert", "alert"), ("late_classifier", "LateClassifier", "late_classifier"), ("Xmatch-step", "XmatchStep", "xmatch_step"),
    ("my-step.two", "MyStepTwo", "my_step_two"), ("LightCurve", "LightCurve", "lightcurve"), ("a1", "A1", "a1")])
def test_names(new_step, tmp_path, name, class_, package):
    new_step("-o", "it", name)
    assert "class %s(GenericStep)" % class_ in (tmp_path / "it" / package / "step.py").read_text()
    assert "from %s import %s" % (package, class_) in (tmp_path / "it" / "scripts" / "run_step.py").read_text()
    assert "pipeline-%s-YYYYMMDD" % class_.lower() in (tmp_path / "it" / "settings.py").read_text()


@pytest.mark.parametrize("arguments, message", [
    ((), "what is it to be called?"),
    (("a", "b"), "one NAME"),
    (("",), "a name begins with a letter"),
    (("1st",), "a name begins with a letter"),
    (("x" * 65,), "a name begins with a letter and has at most 64"),
    (("../up",), "a name begins with a letter"),
    (("a/b",), "letters, digits, - and _ make a name"),
    (("a b",), "letters, digits, - and _ make a name"),
    (("a;b",), "letters, digits, - and _ make a name"),
    (("a'b",), "letters, digits, - and _ make a name"),
    (("a\nb",), "letters, digits, - and _ make a name"),
    (("\xe9tape",), "a name begins with a letter"),
    (("import",), "means something to Python"),
    (("JSON",), "means something to Python"),
    (("settings",), "means something to Python"),
    (("-l", "cobol", "x"), "cobol"),
    (("-o", "no/such/place", "x"), "no/such/place: cannot make it: No such file or directory"),
])
def test_what_is_refused(new_step, tmp_path, arguments, message):
    done = new_step(*arguments, check=False)
    assert done.returncode == 2 and done.stderr.startswith("venturi new-step: ") and message in done.stderr
    assert done.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == []


def test_nothing_that_exists_is_touched(new_step, tmp_path):
    (tmp_path / "my_step").mkdir()
    (tmp_path / "my_step" / "settings.py").write_text("mine")
    done = new_step("my_step", check=False)
    assert (done.returncode, done.stderr) == (2, "venturi new-step: my_step exists already; -o names another folder\n")
    assert os.listdir(tmp_path / "my_step") == ["settings.py"] and (tmp_path / "my_step" / "settings.py").read_text() == "mine"


def test_files_are_those_of_the_user(new_step, tmp_path):
    new_step("my_step")
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(os.stat(tmp_path / "my_step" / "settings.py").st_mode) == 0o666 & ~umask


def made_c_step(new_step, folder):
    new_step("--language", "c", "kinds")
    env = environment(PKG_CONFIG_PATH=os.path.join(BUILD, "meson-uninstalled"), CFLAGS="-Wextra -Werror")
    run(["make"], cwd=folder / "kinds", env=env)
    return folder / "kinds"


@pytest.mark.parametrize("size", [1000, 1024, 5000, 3 << 20])
def test_messages_of_c_are_whole_however_long(new_step, tmp_path, size):
    folder = made_c_step(new_step, tmp_path)
    message = '{"padding":"%s","magnitude": 17.25}' % ("x" * (size - 33))
    assert len(message) == size
    (folder / "long.jsonl").write_text((message + "\n") * 3)
    done = run(["./kinds", "long.jsonl", "-"], cwd=folder)
    assert done.stdout == '{"magnitude":17.250,"kind":"bright"}\n' * 3


def test_a_message_that_is_too_long_is_told(new_step, tmp_path):
    folder = made_c_step(new_step, tmp_path)
    with open(folder / "long.jsonl", "w") as file:
        file.write('{"magnitude": 19.0}\n')
        file.truncate(70 << 20)
    done = run(["./kinds", "long.jsonl", "-"], cwd=folder, check=False)
    assert (done.returncode, done.stderr) == (1, "kinds: long.jsonl: line 2 is longer than 64 MiB\n")


def test_a_message_that_fails_is_told(new_step, tmp_path):
    folder = made_c_step(new_step, tmp_path)
    (folder / "bad.jsonl").write_text('{"a":1}')
    done = run(["./kinds", "bad.jsonl", "-"], cwd=folder, check=False)
    assert (done.returncode, done.stderr) == (1, 'kinds: a message without magnitude: {"a":1}\n')


def test_a_step_of_c_finds_its_libraries(new_step, tmp_path):
    """Those of a build that is not installed, too, without LD_LIBRARY_PATH."""
    folder = made_c_step(new_step, tmp_path)
    env = {name: value for name, value in environment().items() if name != "LD_LIBRARY_PATH"}
    assert "8 step records, 0 lost" in run([VENTURI, "run", "-o", "c.vt", "./kinds"], cwd=folder, env=env).stderr


def test_a_program_that_cannot_be_loaded(tmp_path):
    """What the loader says is the reason, and not how the program was compiled."""
    (tmp_path / "it.c").write_text("int gone(void); int main(void) { return gone(); }")
    (tmp_path / "gone.c").write_text("int gone(void) { return 0; }")
    run(["cc", "-shared", "-fPIC", "-o", "libgone.so", "gone.c"], cwd=tmp_path)
    run(["cc", "-o", "it", "it.c", "-L.", "-lgone"], cwd=tmp_path)
    os.unlink(tmp_path / "libgone.so")
    done = run([VENTURI, "run", "-o", "it.vt", "./it"], cwd=tmp_path, check=False)
    assert done.returncode == 127
    assert "venturi: it.vt  nothing recorded: ./it cannot be loaded: libgone.so: cannot open shared object file: No such file or directory\n" in done.stderr
    assert "venturi cc" not in done.stderr


def test_a_step_of_c_is_made_with_the_venturi_that_wrote_it(new_step, tmp_path):
    """Exactly what is printed works from an empty folder."""
    done = new_step("--language", "c", "kinds")
    env = dict(environment(PKG_CONFIG_LIBDIR="/nowhere"), PATH=os.path.dirname(VENTURI) + ":" + os.environ["PATH"])
    env.pop("LD_LIBRARY_PATH", None)
    done = run(["sh", "-c", done.stderr.splitlines()[1].split("next  ")[1]], cwd=tmp_path, env=env)
    assert "8 step records, 0 lost" in done.stderr


def test_where_venturi_is_not_known_to_the_compiler(new_step, tmp_path):
    new_step("--language", "c", "kinds")
    done = run(["make"], cwd=tmp_path / "kinds", env=environment(PKG_CONFIG_LIBDIR="/nowhere", PKG_CONFIG_PATH="/nowhere"), check=False)
    assert done.returncode == 2 and "pkg-config knows no venturi-step: PKG_CONFIG_PATH=FOLDER make" in done.stderr and done.stderr.count("\n") == 1
    run(["make", "-s", "clean"], cwd=tmp_path / "kinds", env=environment(PKG_CONFIG_LIBDIR="/nowhere", PKG_CONFIG_PATH="/nowhere"))


@pytest.mark.parametrize("script", ["run_step.py", "run_multiprocess.py"])
@pytest.mark.parametrize("variable, path, why", [
    ("MESSAGES", "nowhere/messages.jsonl", "JSONConsumer: FILE_PATH: nowhere/messages.jsonl: cannot open: No such file or directory"),
    ("MESSAGES", ".", "JSONConsumer: FILE_PATH: .: cannot open: Is a directory"),
    ("RESULTS", "nowhere/results.jsonl", "JSONProducer: FILE_PATH: nowhere/results.jsonl: cannot open: No such file or directory")])
def test_files_that_are_not_there(new_step, newest, script, variable, path, why):
    new_step("-o", newest.folder / "it", "my_step")
    newest.folder = newest.folder / "it"
    done = newest.run("scripts/" + script, check=False, **{variable: path})
    assert (done.returncode, done.stderr) == (2, "%s: settings.py: %s\n" % (script, why))


def test_what_the_step_itself_cannot_open_is_its_own(new_step, newest):
    """An author wants to know where."""
    new_step("-o", newest.folder / "it", "my_step")
    newest.folder = newest.folder / "it"
    code = newest.folder / "my_step" / "step.py"
    code.write_text(code.read_text().replace('return "bright"', 'open("nowhere")\n        return "bright"'))
    done = newest.run("scripts/run_step.py", check=False)
    assert done.returncode == 1 and "Traceback" in done.stderr and "in classify" in done.stderr and "FileNotFoundError" in done.stderr


@pytest.mark.parametrize("script", ["run_step.py", "run_multiprocess.py"])
@pytest.mark.parametrize("before, after, why", [
    ('"CLASS": "venturi.step.consumers.JSONConsumer",', "", "MyStep: CONSUMER_CONFIG has FILE_PATH, NUM_MESSAGES%s but no CLASS, so nobody reads messages"),
    ("consumers.JSONConsumer", "consumers.JsonConsumer", "venturi.step.consumers has no JsonConsumer")])
def test_settings_that_mean_nothing(new_step, newest, script, before, after, why):
    new_step("-o", newest.folder / "it", "my_step")
    newest.folder = newest.folder / "it"
    text = (newest.folder / "settings.py").read_text()
    assert before in text
    (newest.folder / "settings.py").write_text(text.replace(before, after))
    done = newest.run("scripts/" + script, check=False)
    why = why.replace("%s", ", ID, N_PROCESS" if script == "run_multiprocess.py" else "")
    assert done.returncode == 2 and done.stderr.startswith("%s: settings.py: %s" % (script, why)) and done.stderr.count("\n") == 1

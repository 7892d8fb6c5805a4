"""`pip install .` into a fresh environment, away from the source: the wheel has all it needs."""
import json
import os
import shutil
import subprocess

import pytest
from conftest import TOP, environment
from interpreters import VERSIONS, find, python_or_skip


def newest():
    return next((version for version in reversed(VERSIONS) if find(version)[0]), VERSIONS[-1])


def pip_environment():
    """As environment(), with the settings that pip needs to reach its packages."""
    return environment(**{key: value for key, value in os.environ.items() if key.startswith("PIP_")})


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder of an environment with Venturi in it."""
    if os.environ.get("VENTURI_SANITIZE"):
        pytest.skip("one configuration is enough")
    version = os.environ.get("VENTURI_INSTALL_PYTHON", newest())
    python = python_or_skip(version)
    folder = tmp_path_factory.mktemp("install")
    subprocess.run([python, "-m", "venv", folder / "venv"], check=True, env=environment())
    pip = [folder / "venv" / "bin" / "python", "-m", "pip", "--disable-pip-version-check"]
    done = subprocess.run([*pip, "download", "-q", "--no-deps", "-d", folder / "probe", "meson-python"],
                          env=pip_environment(), capture_output=True, text=True)
    if done.returncode:
        pytest.skip("meson-python, which builds the wheel, cannot be downloaded from here")
    source = folder / "source"
    shutil.copytree(TOP, source, ignore=shutil.ignore_patterns("build", ".git", "__pycache__", "node_modules", "*.vt"))
    quick = "-Csetup-args=-Doptimization=0"  # how fast it is does not matter here: half the time to build
    done = subprocess.run([*pip, "install", source, quick], env=pip_environment(), capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    shutil.rmtree(source)
    return folder / "venv"


def test_tool_and_module(installed, tmp_path):
    (tmp_path / "script.py").write_text("import sys\ndef f(): pass\nfor _ in range(10): f()\nprint(sys.argv)\nsys.exit(3)\n")
    read = "import venturi; print([row.ncalls for row in venturi.Stats('x.vt').rows() if row.name == 'f'])"
    for command in ([installed / "bin" / "venturi"], [installed / "bin" / "python", "-m", "venturi"]):
        done = subprocess.run([*command, "run", "-qfo", "x.vt", "script.py", "a"], cwd=tmp_path, capture_output=True,
                              text=True, env=environment())
        assert (done.returncode, done.stdout, done.stderr) == (3, "['script.py', 'a']\n", "")
        done = subprocess.run([installed / "bin" / "python", "-c", read], cwd=tmp_path, capture_output=True, text=True,
                              env=environment())
        assert done.stdout == "[10]\n", done.stderr


def test_energy(installed, tmp_path):
    code = ("import venturi\nwith venturi.energy.EmissionsTracker(country_iso_code='FRA') as tracker:\n  venturi.items(5)\n"
            "print(tracker.final_emissions > 0, tracker.final_throughput.items)")
    done = subprocess.run([installed / "bin" / "python", "-c", code], cwd=tmp_path, capture_output=True, text=True,
                          env=environment())
    assert (done.stdout, done.stderr) == ("True 5\n", "")
    assert (tmp_path / "emissions.csv").read_text().count("\n") == 2


def test_profile(installed, tmp_path):
    code = ("import venturi\ndef f(): pass\nwith venturi.Profile() as p:\n  for _ in range(5): f()\n"
            "print([row.ncalls for row in p.stats().rows() if row.name == 'f'])")
    done = subprocess.run([installed / "bin" / "python", "-c", code], cwd=tmp_path, capture_output=True, text=True,
                          env=environment())
    assert (done.stdout, done.stderr) == ("[5]\n", "")


def test_doctor_finds_its_parts(installed, tmp_path):
    done = subprocess.run([installed / "bin" / "venturi", "doctor"], cwd=tmp_path, capture_output=True, text=True,
                          env=environment())
    assert done.returncode == 0, done.stdout
    assert "libventuri.so.1 is not" not in done.stdout and "venturi-drain is not" not in done.stdout
    line = next(line for line in done.stdout.splitlines() if line.startswith("VENTURI_INTERPRETER"))
    assert "Python package" in line and "environment" not in line


def test_requests_come_with_it(installed, tmp_path):
    if subprocess.run(["pkg-config", "--exists", "libcurl", "libcrypto"], check=False).returncode:
        pytest.skip("no libcurl or no libcrypto to build it with")
    done = subprocess.run([installed / "bin" / "venturi", "trace", "request", "http://127.0.0.1/"], cwd=tmp_path, capture_output=True,
                          text=True, env=environment())
    assert done.returncode == 2 and "no key" in done.stderr, done.stderr


def test_types_come_with_it(installed):
    package = next(installed.glob("lib/python3*/site-packages/venturi"))
    assert (package / "py.typed").exists() and (package / "_venturi.pyi").exists()
    names = {path.name for path in package.iterdir()}
    assert {"_inject", "_tool", "libventuri.so.1", "libventuri-graph.so.1", "libventuri-functions.so", "include", "pkgconfig"} <= names
    assert len(list(package.glob("_venturi.cpython-*.so"))) == 1
    headers = {path.name for path in (package / "include" / "venturi").iterdir()}
    assert {"context.h", "task.h", "graph.h", "blocks.h"} <= headers and not headers & {"http.h", "service.h"}, "no headers of a library that is not there"
    assert (package / "compat" / "osprofiler" / "drivers" / "base.py").exists() and (package / "web.py").exists()


GET = """
from operator import add, mul
import venturi.dask, venturi.dask.multiprocessing, venturi.dask.threaded
if __name__ == "__main__":
    graph = {"x": 1, "y": (add, "x", 2), ("z", 0): (mul, "y", "y")}
    gets = venturi.dask.get, venturi.dask.get_sync, venturi.dask.threaded.get, venturi.dask.multiprocessing.get
    print([get(graph, ["y", ("z", 0)]) for get in gets])
"""


def test_configuration_of_prometheus_comes_with_it(installed, tmp_path):
    code = "import importlib.resources as r; print((r.files('venturi.tracing') / 'prometheus-cpm.yml').read_text())"
    done = subprocess.run([installed / "bin" / "python", "-c", code], cwd=tmp_path, capture_output=True, text=True, env=environment())
    assert "job_name: eopf-cpm" in done.stdout, done.stderr


def test_graphs_come_with_it(installed, tmp_path):
    """Without dask, which is not there; spawned workers find their libraries too."""
    (tmp_path / "get.py").write_text(GET)
    tool = installed / "bin" / "venturi"
    done = subprocess.run([tool, "run", "-q", "-o", "x.vt", "get.py"], cwd=tmp_path, capture_output=True, text=True, env=environment())
    assert (done.returncode, done.stdout, done.stderr) == (0, str([(3, 9)] * 4) + "\n", "")
    done = subprocess.run([tool, "query", "--json", "x.vt", "select scheduler, tasks from task_runs order by run"], cwd=tmp_path,
                          capture_output=True, text=True, env=environment())
    runs = json.loads(done.stdout)
    assert [row["tasks"] for row in runs] == [2] * 4
    assert [row["scheduler"] for row in runs][1:] == ["sync", "threads", "processes"]


PROGRAM = """
#include <time.h>
static double spin(long ms) {
    struct timespec t, e;
    volatile double x = 1;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &e);
    do {
        for (int i = 0; i < 10000; i++) x = x * 1.0000001 + 1e-9;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    } while ((t.tv_sec - e.tv_sec) * 1000 + (t.tv_nsec - e.tv_nsec) / 1000000 < ms);
    return x;
}
static double twice(long ms) { return spin(ms) + spin(ms); }
int main(void) { return twice(60) < 0; }
"""


GRAPH = """
#include <stdio.h>
#include <venturi/graph.h>
static int add(struct vt_call *call) {
    call->result = vt_datum_int(call->arg_count ? call->args[0]->as.number + 1 : 1);
    return 0;
}
int main(void) {
    struct vt_run_options options = {.size = sizeof options, .scheduler = VT_PROCESSES, .workers = 2};
    vt_graph *graph = vt_graph_new();
    uint32_t first = vt_graph_call(graph, "add", add, NULL, NULL, 0);
    vt_graph_call(graph, "add", add, NULL, &first, 1);
    vt_run *run = vt_run_new(graph, &options);
    int code = vt_run_go(run);
    printf("%d\\n", code ? code : (int)vt_run_result(run, 0)->as.number);
    vt_run_free(run);
    vt_graph_free(graph);
    return code != 0;
}
"""


def functions(tool, recording, cwd):
    done = subprocess.run([tool, "stats", "--json", recording], cwd=cwd, capture_output=True, text=True, env=environment())
    assert done.returncode == 0, done.stderr
    return {row["name"]: row for row in json.loads(done.stdout)["functions"]}


def test_c_programs(installed, tmp_path):
    """What is beside the tool compiles, records and names C functions, with headers and pkg-config files."""
    tool = installed / "bin" / "venturi"
    (tmp_path / "prog.c").write_text(PROGRAM)

    def run(*command, **more):
        done = subprocess.run(list(map(str, command)), cwd=tmp_path, capture_output=True, text=True, env=environment(**more))
        assert done.returncode == 0, done.stderr
        return done

    run(tool, "cc", "-O1", "prog.c", "-o", "prog")
    assert run(tool, "run", "-q", "-o", "x.vt", "./prog").stderr == ""
    rows = functions(tool, "x.vt", tmp_path)
    assert {name: row["ncalls"] for name, row in rows.items()} == {"main": 1, "twice": 1, "spin": 2}
    assert rows["spin"]["file"].endswith("prog.c") and rows["spin"]["line"] == 3

    run("cc", "-g", "-O1", "prog.c", "-o", "plain")
    run(tool, "run", "-q", "--native", "-o", "n.vt", "./plain")
    assert functions(tool, "n.vt", tmp_path)["main"]["samples"] + functions(tool, "n.vt", tmp_path)["spin"]["samples"] > 20

    if not shutil.which("pkg-config"):
        return
    run(tool, "new-step", "--language", "c", "brightness")
    run("make", "-C", "brightness")
    package = next(installed.glob("lib/python3*/site-packages/venturi"))
    (tmp_path / "point.c").write_text('#include <venturi/venturi.h>\nint main(void) { VT_SPAN("all"); return 0; }\n')
    (tmp_path / "graph.c").write_text(GRAPH)
    for name, code, says in (("venturi", "point.c", ""), ("venturi-functions", "prog.c", ""), ("venturi-graph", "graph.c", "2\n")):
        flags = run("pkg-config", "--cflags", "--libs", name, PKG_CONFIG_PATH=str(package / "pkgconfig")).stdout.split()
        run("cc", "-O1", code, *flags, "-o", "linked")
        done = run(tool, "run", "-f", "-o", "p.vt", "./linked")
        assert done.stdout == says and "nothing" not in done.stderr

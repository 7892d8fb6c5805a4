"""`venturi run --energy`: how well joules are known, and that each of them is in a row."""
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from conftest import VENTURI, program, tool
from test_run_energy import BURN, PYTHONS, WATTS, find, pytestmark, run, sysfs  # noqa: F401  (two are fixtures)


def rows_and_whole(path, sysfs, command):
    """CPU time and joules of the rows together, of the whole, and what is in none."""
    done = subprocess.run([VENTURI, "run", "--energy", "--force", "-o", str(path), *command], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "VENTURI_SYSFS": str(sysfs), "VENTURI_NVML": ""})
    assert done.returncode == 0 and "next  venturi energy %s" % path in done.stderr, done.stderr
    found = json.loads(tool("energy", "--json", "--by", "process", path).stdout)
    machine = found["machines"][0]
    rows = {key: sum(row["self"][key] for row in found["rows"]) + found["elsewhere"][key] for key in ("cpu_s", "share_j")}
    assert rows["cpu_s"] == pytest.approx(machine["cpu_s"], rel=0.01)
    assert rows["share_j"] == pytest.approx(machine["cpu"]["share_j"], rel=0.05)
    return found["elsewhere"]["cpu_s"] / machine["cpu_s"]


def test_rows_and_the_rest_are_all_of_it(run):
    """By whatever kind, also one of which the recording has nothing."""
    recording = run(BURN + "burn(0.2)\n")
    for kind in ("function", "line", "span", "task", "process"):
        found = json.loads(tool("energy", "--json", "--by", kind, "--limit", "0", recording.path).stdout)
        whole = sum(row["self"]["share_j"] for row in found["rows"]) + found["elsewhere"]["share_j"]
        assert found["cpu_j"] > 0 and whole == pytest.approx(found["cpu_j"]), kind
        assert sum(row["self"]["cpu_s"] for row in found["rows"]) + found["elsewhere"]["cpu_s"] == pytest.approx(found["machines"][0]["cpu_s"]), kind


@pytest.mark.parametrize("command", [["sleep", "0.3"], ["sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"]])
def test_all_of_one_process_is_in_its_row(tmp_path, sysfs, command):
    """From its start on, which is known in steps of 10 ms, to its end; what little there is of it, too. One that is kept waiting at its
    start on a busy machine may be met too late: of three one must be whole."""
    assert min(rows_and_whole(tmp_path / "out.vt", sysfs, command) for _ in range(3)) <= 0.01


def test_who_reads_is_not_charged(tmp_path, sysfs):
    """Readings are the recorder's work: a program that sleeps pays for its start alone."""
    path = tmp_path / "out.vt"
    subprocess.run([VENTURI, "run", "-q", "--energy=100", "-o", str(path), "sleep", "3"], check=True, timeout=60,
                   env={**os.environ, "VENTURI_SYSFS": str(sysfs), "VENTURI_NVML": ""})
    machine = json.loads(tool("energy", "--json", path).stdout)["machines"][0]
    assert machine["cpu"]["share_j"] <= 0.01 * machine["cpu"]["gross_j"], machine
    assert machine["cpu_s"] <= 0.01 * 0.1 * machine["wall_s"], machine  # also if nobody else had done anything


def test_readings_a_second_stand_behind_a_sign(tmp_path):
    done = tool("run", "--energy", "5", "-o", tmp_path / "out.vt", "true", check=False)
    assert done.returncode == 127 and "did you mean --energy=5?" in done.stderr


def test_others_are_named_that_work_during_the_baseline(run):
    recording = run("pass\n", "--baseline", "0.3")
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
    try:
        time.sleep(0.3)
        recording = run("pass\n", "--baseline", "0.5", name="b.vt")
    finally:
        for one in busy:
            one.kill()
            one.wait()
    text = " ".join(tool("energy", recording.path).stdout.split())
    assert "of the CPUs busy during the baseline: rest is too high" in text


def test_a_counter_that_stands_still(tmp_path):
    """Of that time nothing is known, and that is said; what is known keeps its rest."""
    folder = tmp_path / "sys"
    made = subprocess.Popen([program("energy_tree"), folder, "intel-rapl:0,package-0,%g" % WATTS], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)
    assert made.stdout.readline() == "ready\n"
    script = tmp_path / "script.py"
    script.write_text(BURN + "import os, signal\nburn(0.8)\nos.kill(%d, signal.SIGSTOP)\nburn(0.7)\n" % made.pid)
    path = tmp_path / "out.vt"
    try:
        subprocess.run([VENTURI, "run", "-q", "--python", find(PYTHONS[0])[0], "--energy", "--baseline", "0.5", "-o", str(path), str(script)],
                       check=True, timeout=120, env={**os.environ, "VENTURI_SYSFS": str(folder), "VENTURI_NVML": ""})
    finally:
        made.send_signal(signal.SIGCONT)
        made.stdin.close()
        assert made.wait(20) == 0
        made.stdout.close()
    machine = json.loads(tool("energy", "--json", path).stdout)["machines"][0]
    assert 0.5 < machine["unknown_s"] < machine["wall_s"]
    assert machine["cpu"]["dynamic_j"] < 0.2 * machine["cpu"]["share_j"]  # rest is all that it uses


def test_joules_of_lines_of_c(tmp_path, sysfs):
    """Estimated from samples: the loop has nearly all, its callers have it in their total."""
    text = tmp_path / "hot.c"
    text.write_text("static volatile double s;\n"
                    "__attribute__((noinline)) void hot(int n)\n{\n"
                    "    for (int i = 0; i < n; i++)\n        s += i;\n}\n"
                    "int main(void)\n{\n    hot(200000000);\n    return 0;\n}\n")
    if subprocess.run([VENTURI, "cc", "-l", "-O1", "-g", text, "-o", tmp_path / "hot"], cwd=tmp_path).returncode:
        pytest.skip("no compiler")
    path = tmp_path / "out.vt"
    subprocess.run([VENTURI, "run", "-q", "-l", "--energy", "-o", str(path), tmp_path / "hot"], check=True, timeout=60,
                   env={**os.environ, "VENTURI_SYSFS": str(sysfs), "VENTURI_NVML": ""})
    found = json.loads(tool("energy", "--json", "--by", "line", path).stdout)
    by_name = {}
    for row in found["rows"]:
        by_name.setdefault(row["name"], []).append(row)
    of_loop = sum(row["self"]["share_j"] for row in by_name["hot"])
    of_all = sum(row["self"]["share_j"] for row in found["rows"]) + found["elsewhere"]["share_j"]
    assert found["sampled_lines"] and of_loop > 0.8 * of_all
    assert max(row["total"]["share_j"] for row in by_name["main"]) > 0.8 * of_all
    assert sum(row["self"]["share_j"] for row in by_name["main"]) < 0.1 * of_all

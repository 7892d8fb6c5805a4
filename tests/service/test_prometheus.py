"""/metrics of `venturi serve`: both formats by their official readers, sums over processes, and Debian's Prometheus really scraping it."""
import glob
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))

from prometheus_kit import (BUILD, OPENMETRICS, TOP, VENTURI, Monitored, Process, Prometheus, Serve, classic, lint,  # noqa: E402
                            need_yaml, openmetrics, samples_of, tool, wait_for)

GOLDEN = sorted(glob.glob(os.path.join(TOP, "tests", "golden", "*.vt")))
PACKAGED = os.path.join(BUILD, "python", "venturi", "tracing", "prometheus-cpm.yml")
COUNTED = re.compile("_total$|_count$|_sum$|_bucket$")

# What goes on while nobody looks: these differ between two scrapes of the same recording.
OWN = re.compile("^venturi_server_")


@pytest.mark.parametrize("path", GOLDEN, ids=[os.path.basename(path)[:-3] for path in GOLDEN])
def test_both_formats_of_every_golden_recording(path, tmp_path):
    with Serve(tmp_path, path) as serve:
        serve.until("venturi_recording_caught_up_ratio", 1)
        kind, text = serve.metrics()
        assert kind == "text/plain; version=0.0.4; charset=utf-8"
        assert text.endswith("\n")
        lint(text)
        kind, opened = serve.metrics(OPENMETRICS)
        assert kind == "application/openmetrics-text; version=1.0.0; charset=utf-8"
        assert opened.endswith("\n# EOF\n")
        families = openmetrics(opened)
        assert all(family.documentation for family in families)
        mine = {key: value for key, value in samples_of(families).items() if not OWN.match(key[0])}
        theirs = {key: value for key, value in samples_of(classic(text)).items() if not OWN.match(key[0])}
        created = {value for key, value in mine.items() if key[0].endswith("_created")}  # said in this format only
        assert created <= {mine.get(("venturi_recording_start_timestamp_seconds", ()))}
        assert {key: value for key, value in mine.items() if not key[0].endswith("_created")} == theirs


def test_spans_are_those_of_the_recording(tmp_path):
    """Names that are hostile to every format, and counts, as SQL has them."""
    path = os.path.join(TOP, "tests", "golden", "v1-everything.vt")
    done = subprocess.run([VENTURI, "query", "--json", path, "SELECT name, count(*) AS n, sum(duration_ns) / 1e9 AS s FROM spans "
                           "WHERE finished GROUP BY name"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    wanted = {row["name"]: row for row in json.loads(done.stdout)}
    with Serve(tmp_path, path) as serve:
        samples = serve.until("venturi_recording_caught_up_ratio", 1)
    counts = {dict(labels)["span"]: value for (name, labels), value in samples.items() if name == "venturi_span_duration_seconds_count"}
    sums = {dict(labels)["span"]: value for (name, labels), value in samples.items() if name == "venturi_span_duration_seconds_sum"}
    for name in ("main", "classify", "\"quotes\", 'and', \\back\\", "</script><b>bold"):
        assert counts[name] == wanted[name]["n"]
        assert sums[name] == pytest.approx(wanted[name]["s"])
    assert sum(counts.values()) == sum(row["n"] for row in wanted.values())


def test_negotiation(tmp_path):
    with Serve(tmp_path, GOLDEN[0]) as serve:
        for accept, wanted in ((None, "text/plain"), ("*/*", "text/plain"), ("text/html", "text/plain"),
                               ("application/openmetrics-text", "application/openmetrics-text"),
                               ("application/openmetrics-text;q=0.3, text/plain;q=0.4", "text/plain"),
                               ("application/openmetrics-text;version=0.0.1", "text/plain"),
                               ("x" * 1000 + ",;q=,\"", "text/plain")):
            assert serve.metrics(accept)[0].startswith(wanted + ";"), accept


def counters(samples):
    return {key: value for key, value in samples.items() if COUNTED.search(key[0])}


def see_that_nothing_goes_back(before, after):
    for key, value in before.items():
        assert key in after, f"{key} is gone"
        assert after[key] >= value, f"{key} went from {value} to {after[key]}"


def test_sums_over_processes_that_come_and_go(tmp_path):
    """Children that end, and one that is killed, keep their counts: exactly, and at no time are there fewer."""
    with Monitored(tmp_path, "-q", "-o", "x.vt", "--resources", "20") as program, Serve(tmp_path, "x.vt") as serve:
        before = {}
        for number, children in enumerate((3, 2, 4), 1):
            program.tell(f"round {children}")
            program.tell("busy 100")
            messages = 100 * sum((3, 2, 4)[:number])
            end = time.monotonic() + 60
            while time.monotonic() < end:
                samples = serve.samples()
                see_that_nothing_goes_back(before, counters(samples))
                before = counters(samples)
                if samples.get(("venturi_step_execution_seconds_count", (("prefix", "test_step"), ("step", "ClassifyStep")))) == messages \
                        and samples.get(("venturi_tasks_ended_total", (("state", "done"), ("task", "sum")))) == messages * 0.99 \
                        and samples.get(("venturi_span_duration_seconds_count", (("span", "classify"),))) == messages:
                    break
            assert samples["venturi_span_duration_seconds_count", (("span", "classify"),)] == messages
            assert samples["venturi_span_duration_seconds_count", (("span", "request"),)] == messages
            assert samples["venturi_span_errors_total", (("span", "classify"),)] == messages / 10
            assert samples["venturi_span_duration_seconds_bucket", (("le", "+Inf"), ("span", "classify"))] == messages
            step = (("prefix", "test_step"), ("step", "ClassifyStep"))
            assert samples["venturi_step_execution_seconds_count", step] == messages
            assert samples["venturi_step_execution_seconds_sum", step] == pytest.approx(messages * 0.0015)
            assert samples["venturi_step_execution_seconds_bucket", (("le", "0.001"), *step)] == 0
            assert samples["venturi_step_execution_seconds_bucket", (("le", "0.0025"), *step)] == messages
            assert samples["venturi_step_messages_total", step] == 2 * messages
            assert samples["venturi_step_failures_total", step] == 2 * messages / 10
            assert samples["venturi_step_phase_seconds_count", (("phase", "produce"), *step)] == messages
            assert samples["venturi_step_phase_seconds_sum", (("phase", "produce"), *step)] == pytest.approx(messages * 3e-6)
            assert samples["venturi_step_lag_seconds", step] == 0.25
            assert samples["venturi_step_processes", step] == sum((3, 2, 4)[:number])
            assert samples["venturi_tasks_ended_total", (("state", "failed"), ("task", "sum"))] == messages / 100
            assert samples["venturi_task_result_bytes_total", (("task", "sum"),)] == 8 * messages
            assert samples["venturi_lost_events_total", ()] == 0
        assert samples["venturi_recording_growing", ()] == 1
        samples = serve.until("venturi_processes", 1)
        samples = wait_for(lambda: is_above(serve.samples(), "process_cpu_seconds_total", 0.3), "its CPU time")
        assert samples["process_resident_memory_bytes", ()] > 100000
        assert samples["process_open_fds", ()] == len(os.listdir(f"/proc/{program.pid}/fd"))
        assert samples["process_max_fds", ()] == resource.prlimit(program.pid, resource.RLIMIT_NOFILE)[0]
        assert samples["process_virtual_memory_bytes", ()] > samples["process_resident_memory_bytes", ()]
        assert abs(samples["process_start_time_seconds", ()] - time.time()) < 3600
        program.end()
        samples = serve.until("venturi_recording_growing", 0)
        assert ("process_open_fds", ()) not in samples
        see_that_nothing_goes_back(before, counters(samples))


def test_a_spool_whose_files_come_and_go(tmp_path, monkeypatch):
    """A shipper deletes what it has sent: the sums stay."""
    monkeypatch.setenv("VENTURI_SPOOL_FILE_BYTES", "20000")
    monkeypatch.setenv("VENTURI_SPOOL_FILE_SECONDS", "1")
    (tmp_path / "spool").mkdir()
    with Serve(tmp_path, "spool") as serve, Monitored(tmp_path, "-q", "--spool", "spool", "--spool-limit", "8M", "--energy") as program:
        before, seen = {}, set()
        ship = Process([VENTURI, "ship", "spool", "--to", f"file://{tmp_path}/documents.jsonl"], tmp_path / "ship.log", cwd=tmp_path)
        with ship:
            for number in range(1, 13):
                program.tell("round 1")
                program.tell("busy 200")
                seen |= {name for name in os.listdir(tmp_path / "spool") if name.endswith(".vt")}
                after = counters(serve.samples())
                see_that_nothing_goes_back(before, after)
                before = after
            samples = serve.until("venturi_step_messages_total", 2400, prefix="test_step", step="ClassifyStep")
            see_that_nothing_goes_back(before, counters(samples))
            assert samples["venturi_span_duration_seconds_count", (("span", "classify"),)] == 1200
            assert samples["venturi_tasks_ended_total", (("state", "done"), ("task", "sum"))] == 1188
            assert samples["venturi_spool_limit_bytes", ()] == 8 << 20
            assert samples["venturi_energy_joules_total", ()] > 0
            assert samples["venturi_lost_events_total", ()] == 0
            wait_for(lambda: seen - set(os.listdir(tmp_path / "spool")), "a file that was sent and deleted")
            samples = serve.until("venturi_ship_waiting_documents", 0)
            assert samples["venturi_ship_running", ()] == 1
            assert samples["venturi_step_messages_total", (("prefix", "test_step"), ("step", "ClassifyStep"))] == 2400


def test_a_shipper_that_is_killed(tmp_path):
    """Its parent has something else to do than to wait for it: it is gone all the same, and said to be; the size is that of the folder."""
    with Monitored(tmp_path, "--spool", "spool", "--spool-limit", "8M", "--ship", f"file://{tmp_path}/documents.jsonl") as program, \
            Serve(tmp_path, "spool") as serve:
        program.tell("round 1")
        serve.until("venturi_ship_running", 1)
        (status,) = (tmp_path / "spool").glob("ship*.status.json")
        os.kill(json.loads(status.read_text())["pid"], signal.SIGKILL)
        serve.until("venturi_ship_running", 0)
        wait_for(lambda: "venturi-ship was ended by signal 9" in program.said(), "the word of venturi run")
        program.tell("round 1")
        assert wait_for(lambda: abs(serve.samples()["venturi_spool_size_bytes", ()] - sum(
            path.stat().st_size for path in (tmp_path / "spool").glob("*.vt"))) < 8192, "the size of the folder")


def is_above(samples, name, least):
    return samples.get((name, ()), 0) >= least and samples


def configuration(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


def test_the_packaged_configuration(tmp_path):
    """It is package data of venturi.tracing, promtool likes it, it has the job that its users know, and it scrapes."""
    yaml = need_yaml()
    code = ("import importlib.resources as r; from venturi.tracing import dask_profiler, single_thread_profiler; "
            "print((r.files('venturi.tracing') / 'prometheus-cpm.yml').read_text(), end='')")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PYTHONPATH": os.path.join(BUILD, "python")})
    if not glob.glob(os.path.join(BUILD, "python", "venturi", f"_venturi.cpython-{sys.version_info[0]}{sys.version_info[1]}-*.so")):
        pytest.skip("no extension for this Python")
    assert done.returncode == 0, done.stderr
    with open(PACKAGED) as text:
        assert done.stdout == text.read()
    read = yaml.safe_load(done.stdout)
    assert read["global"]["scrape_interval"] == "15s"
    assert [job["job_name"] for job in read["scrape_configs"]] == ["eopf-cpm"]
    assert read["scrape_configs"][0]["static_configs"] == [{"targets": ["127.0.0.1:8787"]}]
    done_tool = subprocess.run([tool("promtool"), "check", "config", PACKAGED], capture_output=True, text=True, timeout=60)
    assert done_tool.returncode == 0, done_tool.stderr
    with Serve(tmp_path, GOLDEN[0]) as serve:
        config = configuration(tmp_path, "cpm.yml", done.stdout.replace("127.0.0.1:8787", serve.host).replace("15s", "1s"))
        with Prometheus(tmp_path, config) as prometheus:
            prometheus.until('up{job="eopf-cpm"}', 1)
            prometheus.until("venturi_build_info", 1)


def test_prometheus_scrapes(tmp_path):
    """Values, quantiles, exemplars that lead to a trace, and labels that nobody should use, after they went through Prometheus."""
    hostile = os.path.join(TOP, "tests", "golden", "v1-everything.vt")
    with Monitored(tmp_path, "-q", "-o", "x.vt") as program, Serve(tmp_path, "x.vt") as serve, Serve(tmp_path, hostile) as other:
        config = configuration(tmp_path, "prometheus.yml", f"""
global: {{scrape_interval: 1s}}
scrape_configs:
  - {{job_name: live, static_configs: [{{targets: ["{serve.host}"]}}]}}
  - {{job_name: golden, static_configs: [{{targets: ["{other.host}"]}}]}}
""")
        with Prometheus(tmp_path, config) as prometheus:
            program.tell("round 2")
            prometheus.until('venturi_span_duration_seconds_count{job="live",span="classify"}', 200)
            program.tell("round 3")
            prometheus.until('venturi_span_duration_seconds_count{job="live",span="classify"}', 500)
            assert [target["lastError"] for target in prometheus.targets()] == ["", ""]
            assert prometheus.value('sum(increase(venturi_step_messages_total{job="live"}[1h]))') >= 0
            prometheus.until('histogram_quantile(0.5, sum by (le) (venturi_step_execution_seconds_bucket{job="live"}))',
                             lambda value: 0.001 < value <= 0.0025)
            prometheus.until('resets(venturi_span_duration_seconds_count{job="live",span="classify"}[1h])', 0)
            prometheus.until('venturi_span_duration_seconds_count{job="golden",span="\\"quotes\\", \'and\', \\\\back\\\\"}', 1)
            found = prometheus.api("query_exemplars", query='venturi_span_duration_seconds_bucket{span="request"}',
                                   start=time.time() - 3600, end=time.time() + 3600)
            traces = {exemplar["labels"]["trace_id"] for series in found for exemplar in series["exemplars"]}
            assert traces and all(re.fullmatch("[0-9a-f]{32}", trace) for trace in traces)
        program.end()
    for trace in sorted(traces)[:3]:
        done = subprocess.run([VENTURI, "trace", "show", trace, "x.vt"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and "request" in done.stdout, done.stderr


def test_workers_are_found_in_files(tmp_path):
    """deploy/prometheus as it is, but for where its own Prometheus listens and how often it looks."""
    shutil.copytree(os.path.join(TOP, "deploy", "prometheus"), tmp_path / "prometheus")
    path = tmp_path / "prometheus" / "prometheus.yml"
    done = subprocess.run([tool("promtool"), "check", "config", path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "SUCCESS: 2 rule files found" in done.stdout, done.stdout + done.stderr
    path.write_text(re.sub(r"(scrape|evaluation)_interval: 15s", r"\1_interval: 1s", path.read_text())
                    .replace("scrape_timeout: 10s", "scrape_timeout: 1s"))
    targets = tmp_path / "prometheus" / "targets"
    (targets / "local.yml").unlink()
    with Serve(tmp_path, GOLDEN[0]) as one, Serve(tmp_path, GOLDEN[-1]) as two, Prometheus(tmp_path, path) as prometheus:
        (targets / "new").write_text(f'- targets: ["{one.host}"]\n  labels: {{pipeline: first}}\n')
        (targets / "new").rename(targets / "one.yml")
        prometheus.until('venturi_build_info{job="venturi",pipeline="first"}', 1)
        (targets / "new").write_text(f'[{{"targets": ["{two.host}"], "labels": {{"pipeline": "second"}}}}]')
        (targets / "new").rename(targets / "two.json")
        prometheus.until('count(venturi_build_info{job="venturi"})', 2)
        (targets / "one.yml").unlink()
        prometheus.until('count(up{job="venturi"})', 1)


def test_metrics_are_documented():
    """Each name that the sources write stands in docs/prometheus.md, and none stands there that is not written."""
    written = set()
    for path in glob.glob(os.path.join(TOP, "src", "live", "metrics*.c")):
        with open(path) as text:
            found = text.read()
        written |= set(re.findall(r'"((?:venturi|process)_[a-z0-9_]+)"', found))
    with open(os.path.join(TOP, "docs", "prometheus.md")) as text:
        told = set(re.findall(r"^\| `((?:venturi|process)_[a-z0-9_]+)`", text.read(), re.M))
    assert told <= {name + end for name in written for end in ("", "_total", "_info")}
    for name in written:
        assert {name, name + "_total", name + "_info"} & told, f"{name} is not in docs/prometheus.md"

"""Many random graphs in every way, with all that can go wrong: each is right or says why, all is recorded, and nothing is left."""
import os

from recorded import BUILD, Run, recorder, run

from conftest import Graph

ROUNDS = 15000 if os.environ.get("VENTURI_SOAK") else 60
SOAK = os.path.join(BUILD, "tests", "graph", "graph_soak")
SANITIZE = os.environ.get("VENTURI_SANITIZE", "")


def test_nothing_is_left():
    facts = Run(run([SOAK, ROUNDS, 5], timeout=3600), "").facts
    assert facts["good"] and facts["failed"] and facts["cancelled"] and facts["kills"]
    assert facts["rounds"] == facts["good"] + facts["failed"] + facts["cancelled"] == ROUNDS
    assert facts["late_fds"] == facts["early_fds"] and facts["threads"] == 1
    assert SANITIZE or facts["late_kb"] < 1.3 * facts["early_kb"] + 4000


def test_all_is_recorded(tmp_path):
    graph = recorder(tmp_path, Graph)(SOAK, min(ROUNDS, 1000), 6)
    runs = graph.query("select count(*) as runs, sum(tasks) as tasks, sum(lost) as lost from task_runs where end_ns is not null")
    assert runs == [{"runs": graph.facts["rounds"], "tasks": graph.facts["tasks"], "lost": 0}]
    said = graph.query("select count(*) as n from task_runs where error is not null")
    assert said == [{"n": graph.facts["failed"] + graph.facts["cancelled"]}]

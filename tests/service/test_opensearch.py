"""`venturi ship` and real nodes of OpenSearch and Elasticsearch: what was sent is counted there, whatever was killed meanwhile."""
import glob
import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "lib")]

from opensearch import OpenSearch  # noqa: E402
from recorded import BUILD, VENTURI  # noqa: E402

MAKE_STEPS = os.path.join(BUILD, "tests", "fault", "make_steps")
STEPS = os.path.join(BUILD, "tests", "programs", "steps")
NOON = 1789991999  # 2026-09-21T11:59:59Z
QUICK = ("--retry-max", "0.5", "--every", "0.1")

pytestmark = pytest.mark.skipif(not os.path.exists(os.path.join(BUILD, "venturi-ship")), reason="venturi-ship is not built: no libcurl or no OpenSSL")


@pytest.fixture(scope="module", params=["opensearch", "elasticsearch"])
def node(request, tmp_path_factory):
    with OpenSearch(tmp_path_factory.mktemp(request.param), request.param) as server:
        yield server


def environment():
    return {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy") and not key.startswith("VENTURI_STORE")}


def command(*words):
    return [VENTURI, "ship", *map(str, words)]


def ship(*words):
    return subprocess.run(command(*words), capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300, env=environment())


def make(path, count, prefix, extra='"n":{n}', source="MyStep", execute=lambda i: 1_000_000 + i, at=lambda i: NOON * 10**9 + i * 10**6):
    lines = []
    for i in range(count):
        lines.append("\t".join(map(str, [at(i), at(i) - execute(i), execute(i), 0, 1, source, prefix, "", extra.replace("{n}", str(i))])))
    subprocess.run([MAKE_STEPS, str(path)], input="\n".join(lines) + "\n", text=True, check=True, timeout=60)
    return path


def numbers(node, index):
    """The `n` of all documents, sorted: by pages of a sort, as many as there are."""
    found, after = [], None
    while True:
        body = {"size": 5000, "_source": False, "docvalue_fields": ["n"], "sort": ["n", "_id"]}
        hits = node.search(index, {**body, "search_after": after} if after else body)["hits"]["hits"]
        if not hits:
            return found
        found += [hit["fields"]["n"][0] for hit in hits]
        after = hits[-1]["sort"]


def test_template_and_the_panel_of_the_seed(node, tmp_path):
    """Averages of execution_time by source.keyword and time, as dashboards ask for them."""
    done = ship("--setup", "--to", node.url, "--prefix", "panel")
    assert done.returncode == 0, done.stderr
    server, lacks = ("2.19.1 (OpenSearch)", "ISM plugin") if node.kind == "opensearch" else ("7.10.2 (Elasticsearch)", "ILM")
    assert f"server: {server}\n" in done.stdout and f"this server has no {lacks}" in done.stdout
    for source, scale in (("Classifier", 1), ("Saver", 10)):
        make(tmp_path / (source + ".vt"), 120, "panel", source=source, execute=lambda i, k=scale: k * 1_000_000, at=lambda i: (NOON + i) * 10**9)
        assert ship(tmp_path / (source + ".vt"), "--to", node.url, "--once").returncode == 0
    node.ask("POST", "/panel-*/_refresh")
    asked = {"size": 0, "query": {"query_string": {"query": "execution_time:*"}}, "aggs": {"source": {
        "terms": {"field": "source.keyword"}, "aggs": {"time": {"date_histogram": {"field": "@timestamp", "fixed_interval": "1m"}, "aggs": {
            "mean": {"avg": {"field": "execution_time"}}}}}}}}
    buckets = node.search("panel-*", asked)["aggregations"]["source"]["buckets"]
    assert {bucket["key"]: bucket["doc_count"] for bucket in buckets} == {"Classifier": 120, "Saver": 120}
    for bucket in buckets:
        for minute in bucket["time"]["buckets"]:
            assert minute["mean"]["value"] == pytest.approx(0.001 if bucket["key"] == "Classifier" else 0.01)
    fields = node.ask("GET", "/panel-saver-20260921/_mapping")["panel-saver-20260921"]["mappings"]["properties"]
    assert fields["source"]["type"] == "keyword" and fields["@timestamp"]["type"] == "date_nanos" and fields["execution_time"]["type"] == "double"


def test_the_same_again_is_nothing_new(node, tmp_path):
    make(tmp_path / "a.vt", 3000, "again")
    for _ in range(2):
        done = ship(tmp_path / "a.vt", "--to", node.url, "--once", "--gzip", "on")
        assert done.returncode == 0, done.stderr
        for path in glob.glob(str(tmp_path / "*ship-*")):
            os.remove(path)
    assert "(3000 were there)" in done.stderr
    assert numbers(node, "again-*") == list(range(3000))


def test_midnight(node, tmp_path):
    midnight = 1_790_035_200 * 10**9
    make(tmp_path / "a.vt", 10, "night", at=lambda i: midnight - 5 + i)
    assert ship(tmp_path / "a.vt", "--to", node.url, "--once").returncode == 0
    assert (node.count("night-mystep-20260921"), node.count("night-mystep-20260922")) == (5, 5)


def test_a_mapping_that_does_not_fit(node, tmp_path):
    """Refused by the real thing: a dead letter with its words; replayed when it has been put right."""
    node.ask("PUT", "/_index_template/fit", {"index_patterns": ["fit-*"], "template": {"mappings": {"properties": {"n": {"type": "long"}}}}})
    make(tmp_path / "a.vt", 5, "fit")
    assert ship(tmp_path / "a.vt", "--to", node.url, "--once").returncode == 0
    make(tmp_path / "b.vt", 3, "fit", extra='"n":"few"')
    done = ship(tmp_path / "b.vt", "--to", node.url, "--once")
    assert done.returncode == 1 and "3 dead" in done.stderr
    path, = glob.glob(str(tmp_path / "*.dead.ndjson"))
    with open(path) as text:
        letters = [json.loads(one) for one in text]
    assert len(letters) == 3
    for letter in letters:
        assert letter["status"] == 400 and letter["reason"].startswith("mapper_parsing_exception: failed to parse field [n] of type [long]")
    with open(path, "w") as text:
        for letter in letters:
            letter["document"]["n"] = 7
            text.write(json.dumps(letter) + "\n")
    for _ in range(2):
        assert ship("--replay", path, "--to", node.url).returncode == 0
    assert numbers(node, "fit-*") == [0, 1, 2, 3, 4, 7, 7, 7]


def test_killed_shippers(node, tmp_path):
    chance = random.Random(3)
    make(tmp_path / "a.vt", 20000, "killed")
    for _ in range(10):
        one = subprocess.Popen(command(tmp_path / "a.vt", "--to", node.url, "--batch", 200, *QUICK), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=environment())
        time.sleep(0.02 + chance.random() * 0.3)
        one.kill()
        one.wait()
    done = ship(tmp_path / "a.vt", "--to", node.url, "--once")
    assert done.returncode == 0, done.stderr
    assert numbers(node, "killed-*") == list(range(20000))


def test_an_outage_of_a_program_that_runs(node, tmp_path):
    """The node is killed while a program runs and is shipped, and the shipper too; afterwards all is there, once."""
    count = 30000
    folder = tmp_path / "spool"
    os.mkdir(folder)
    program = subprocess.Popen([VENTURI, "run", "--spool", folder, "--", STEPS, "plain", str(count), "2", "200"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment())
    shippers = []

    def start():
        shippers.append(subprocess.Popen(command(folder, "--to", node.url, "--prefix", "outage", *QUICK), stdin=subprocess.DEVNULL,
                                         stderr=subprocess.PIPE, text=True, env=environment()))
    try:
        start()
        time.sleep(1)
        node.stop(hard=True)
        time.sleep(0.5)
        shippers[-1].kill()
        shippers[-1].communicate()
        start()
        assert program.wait(200) == 0
        node.start()
        shippers[-1].send_signal(signal.SIGTERM)
        _, messages = shippers[-1].communicate(timeout=200)
    finally:
        for one in [program, *shippers]:
            if one.poll() is None:
                one.kill()
                one.wait()
        program.stderr.close()
        if not node.process:
            node.start()
    done = ship(folder, "--to", node.url, "--prefix", "outage", "--once")  # if it gave up before the node was up
    assert done.returncode == 0, (messages, done.stderr)
    assert numbers(node, "outage-*") == list(range(count))
    assert not glob.glob(str(folder / "*.vt"))


def test_beyond_the_limit_of_the_spool_losses_are_counted(node, tmp_path):
    """A spool that is too small for an outage: what the store has afterwards, and what was counted as lost, is all that there was."""
    count = 160000
    folder = tmp_path / "spool"
    for _ in range(2):  # what the first has left gives way to the second, however the drainer cuts its files
        subprocess.run([VENTURI, "run", "-q", "--spool", folder, "--spool-limit", "1M", "--", STEPS, "plain", str(count // 2), "2", "0"], check=True,
                       timeout=120, stdin=subprocess.DEVNULL, capture_output=True, env=environment())
    done = ship(folder, "--to", node.url, "--prefix", "beyond", "--once")
    assert done.returncode == 0, done.stderr
    with open(glob.glob(str(folder / "*.status.json"))[0]) as text:
        status = json.load(text)
    node.ask("POST", "/beyond-*/_refresh")
    there = node.count("beyond-*")
    assert 0 < there < count and there == status["shipped"] and status["lost"] == count - there
    assert f"{count - there} lost before" in done.stderr

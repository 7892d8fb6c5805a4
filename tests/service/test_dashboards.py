"""What stands in deploy/: every query of its dashboards and rules is run by a live Prometheus or OpenSearch and must give data.

What only its own program could run is checked by its shape, and named in SHAPE_ONLY; docs/deploy.md names the same.
"""
import contextlib
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import time

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))

from prometheus_kit import TOP, VENTURI, Monitored, Process, Prometheus, Serve, need_yaml, tool, wait_for  # noqa: E402

DEPLOY = os.path.join(TOP, "deploy")
BOARDS = sorted(glob.glob(os.path.join(DEPLOY, "grafana", "dashboards", "*.json")))
RULES = sorted(glob.glob(os.path.join(DEPLOY, "prometheus", "rules", "*.yml")))
SHAPE_ONLY = {
    "docker-compose.yml": "no containers here",
    "Dockerfile": "no containers here",
    "elasticsearch/elasticsearch.yml": "settings of Elasticsearch with security; the queries run on OpenSearch",
    "elasticsearch/accounts": "the API of Elasticsearch's accounts",
    "grafana/provisioning": "no Grafana here",
    "kibana/venturi.ndjson": "no Kibana here; its queries are run, its import is not",
}


def boards():
    for path in BOARDS:
        with open(path) as text:
            yield os.path.basename(path), json.load(text)


def panels(kind):
    """(a name for people, panel, target) of each query for such a data source."""
    for name, board in boards():
        for panel in board["panels"]:
            for target in panel.get("targets", ()):
                if target["datasource"]["type"] == kind:
                    yield f"{name}: {panel['title']}: {target['refId']}", panel, target


# ---- shape ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", BOARDS, ids=os.path.basename)
def test_shape_of_a_board(path):
    with open(path) as text:
        board = json.load(text)
    assert board["title"] and re.fullmatch("[a-z-]{1,40}", board["uid"]) and isinstance(board["schemaVersion"], int)
    assert "id" not in board
    variables = {variable["name"]: variable for variable in board["templating"]["list"]}
    assert variables["datasource"]["type"] == "datasource"
    ids = [panel["id"] for panel in board["panels"]]
    assert len(set(ids)) == len(ids)
    taken = set()
    for panel in board["panels"]:
        place = panel["gridPos"]
        assert place["x"] >= 0 and place["x"] + place["w"] <= 24 and place["w"] > 0 and place["h"] > 0
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        assert not cells & taken, panel["title"]
        taken |= cells
        assert panel["title"] and panel["type"] in ("row", "timeseries", "stat", "heatmap", "table")
        if panel["type"] == "row":
            continue
        assert panel["datasource"]["uid"] == "${datasource}" and "unit" in panel["fieldConfig"]["defaults"], panel["title"]
        references = [target["refId"] for target in panel["targets"]]
        assert len(set(references)) == len(references)
        for target in panel["targets"]:
            assert target["datasource"] == panel["datasource"]
            if target["datasource"]["type"] == "elasticsearch":
                see_elasticsearch_target(target)
            else:
                assert "$job" in target["expr"] and "$instance" in target["expr"]


def see_elasticsearch_target(target):
    aggregations = target["bucketAggs"]
    assert aggregations[-1]["type"] == "date_histogram" and aggregations[-1]["field"] == target["timeField"] == "@timestamp"
    assert all(one["type"] == "terms" for one in aggregations[:-1])
    ids = [one["id"] for one in aggregations + target["metrics"]]
    assert len(set(ids)) == len(ids) and all(isinstance(one, str) for one in ids)
    for one in aggregations:
        assert all(isinstance(value, str) for value in one["settings"].values())


def test_the_panel_that_everybody_starts_with():
    """execution_time:* by source.keyword, then by @timestamp: the mean of execution_time."""
    board = dict(boards())["steps-elasticsearch.json"]
    target = board["panels"][0]["targets"][0]
    assert target["query"].replace(" ", "") == "execution_time:*"
    assert [(one["type"], one["field"]) for one in target["bucketAggs"]] == [("terms", "source.keyword"), ("date_histogram", "@timestamp")]
    assert [(one["type"], one["field"]) for one in target["metrics"]] == [("avg", "execution_time")]


def test_shape_of_the_compose_file():
    """Ports as they are known, on this machine only; no password but from the environment; no image without a version."""
    yaml = need_yaml()
    with open(os.path.join(DEPLOY, "docker-compose.yml")) as text:
        source = text.read()
    services = yaml.safe_load(source)["services"]
    ports = {name: service.get("ports", []) for name, service in services.items()}
    assert {name: one for name, one in ports.items() if one} == {
        "elasticsearch": ["127.0.0.1:9200:9200"], "kibana": ["127.0.0.1:5601:5601"], "grafana": ["127.0.0.1:3000:3000"],
        "prometheus": ["127.0.0.1:9090:9090"]}
    for name, service in services.items():
        assert re.search(r":\$\{[A-Z_]+_VERSION:-v?\d+\.\d+\.\d+\}$", service["image"]), name
        for key, value in service.get("environment", {}).items():
            if "PASSWORD" in key:
                assert re.fullmatch(r"\$\{[A-Z_]+:\?.*\}", value), f"{name}: {key}"
        for volume in service.get("volumes", ()):
            if volume.startswith("./"):
                assert os.path.exists(os.path.join(DEPLOY, volume.split(":")[0])) and volume.endswith(":ro")
        for other, how in service.get("depends_on", {}).items():
            assert other in services and how["condition"].startswith("service_")
    needed = set(re.findall(r"\$\{([A-Z_]+):\?", source))
    with open(os.path.join(DEPLOY, "env.example")) as text:
        assert needed <= set(re.findall("^([A-Z_]+)=", text.read(), re.M))


def test_shape_of_elasticsearch():
    """Nobody gets in without a password, and pages of strangers may not ask."""
    yaml = need_yaml()
    with open(os.path.join(DEPLOY, "elasticsearch", "elasticsearch.yml")) as text:
        settings = yaml.safe_load(text)
    assert settings["xpack.security.enabled"] is True
    assert settings["xpack.security.http.ssl"]["enabled"] is True
    origin = settings["http.cors.allow-origin"]
    assert origin.startswith("/") and origin.endswith("/")
    pattern = re.compile(origin[1:-1])
    for good in ("http://localhost:3000", "http://127.0.0.1:5601", "https://localhost:5601", "http://127.0.0.1:8787"):
        assert pattern.fullmatch(good), good
    for bad in ("http://localhost", "http://localhost:3000.evil.example", "http://evil.example:3000", "http://127x0.0.1:3000", "null", "*"):
        assert not pattern.fullmatch(bad), bad
    done = subprocess.run(["bash", "-n", os.path.join(DEPLOY, "elasticsearch", "accounts")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_shape_of_provisioning():
    yaml = need_yaml()
    with open(os.path.join(DEPLOY, "grafana", "provisioning", "datasources", "venturi.yml")) as text:
        sources = {source["uid"]: source for source in yaml.safe_load(text)["datasources"]}
    for name, board in boards():
        variable = board["templating"]["list"][0]
        assert sources[variable["current"]["value"]]["type"] == variable["query"], name
    assert sources["venturi-elasticsearch"]["jsonData"]["timeField"] == "@timestamp"
    with open(os.path.join(DEPLOY, "docker-compose.yml")) as text:
        services = yaml.safe_load(text)["services"]
    for source in sources.values():
        host, port = re.fullmatch(r"https?://([a-z]+):(\d+)", source["url"]).groups()
        assert any(one.endswith(":" + port) for one in services[host]["ports"])
    with open(os.path.join(DEPLOY, "grafana", "provisioning", "dashboards", "venturi.yml")) as text:
        path = yaml.safe_load(text)["providers"][0]["options"]["path"]
    assert f"./grafana/dashboards:{path}:ro" in services["grafana"]["volumes"]


def kibana():
    with open(os.path.join(DEPLOY, "kibana", "venturi.ndjson")) as text:
        return [json.loads(line) for line in text]


def test_shape_of_kibana():
    found = {(one["type"], one["id"]): one for one in kibana()}
    views = [one for (kind, _), one in found.items() if kind == "index-pattern"]
    assert [view["attributes"]["timeFieldName"] for view in views] == ["@timestamp"]
    for (kind, _), one in found.items():
        for reference in one["references"]:
            assert (reference["type"], reference["id"]) in found
        json.loads(one["attributes"].get("kibanaSavedObjectMeta", {}).get("searchSourceJSON", "{}"))
        if kind == "dashboard":
            names = {reference["name"] for reference in one["references"]}
            assert {panel["panelRefName"] for panel in json.loads(one["attributes"]["panelsJSON"])} == names


def test_what_was_only_looked_at_is_named():
    with open(os.path.join(TOP, "docs", "deploy.md")) as text:
        told = text.read()
    for name in SHAPE_ONLY:
        assert os.path.exists(os.path.join(DEPLOY, name)), name
        assert f"`{name}`" in told, name


# ---- Prometheus ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    """A pipeline that goes on, its spool shipped to a file, and one with a single recording: both shown by `venturi serve`, scraped by
    Prometheus with the rules of deploy/."""
    folder = tmp_path_factory.mktemp("live")
    shutil.copytree(os.path.join(DEPLOY, "prometheus"), folder / "prometheus")
    path = folder / "prometheus" / "prometheus.yml"
    path.write_text(re.sub(r"(scrape|evaluation)_interval: 15s", r"\1_interval: 1s", path.read_text())
                    .replace("scrape_timeout: 10s", "scrape_timeout: 1s"))
    with contextlib.ExitStack() as stack:
        program = stack.enter_context(Monitored(folder, "-q", "--spool", "spool", "--energy", "--intensity", "300"))
        stack.enter_context(Process([VENTURI, "ship", "spool", "--to", f"file://{folder}/documents.jsonl"], folder / "ship.log", cwd=folder))
        serve = stack.enter_context(Serve(folder, "spool"))
        other = stack.enter_context(Monitored(folder, "-q", "-o", "x.vt", log="other.log"))
        second = stack.enter_context(Serve(folder, "x.vt"))
        (folder / "prometheus" / "targets" / "local.yml").write_text(f'- targets: ["{serve.host}", "{second.host}"]\n')
        prometheus = stack.enter_context(Prometheus(folder, path))
        program.tell("round 2")
        prometheus.until("sum(venturi_step_messages_total)", 400)
        end = time.monotonic() + 60
        while time.monotonic() < end:  # so that there is a rate of everything
            program.tell("round 2")
            other.tell("round 1")
            program.tell("busy 300")
            program.tell("items 100 90")
            if prometheus.query("rate(venturi_step_messages_total[5m]) > 0") and prometheus.query("venturi_energy_joules_total > 0"):
                break
        prometheus.until('count({__name__=~"venturi_ship_.*"}) > 0', lambda value: value > 0)
        yield prometheus


def filled(expression):
    """As Grafana fills it in when everything is chosen."""
    for name, value in (("$__rate_interval", "1m"), ("$__range", "5m"), ("$job", ".*"), ("$instance", ".*")):
        expression = expression.replace(name, value)
    assert "$" not in expression, expression
    return expression


def numbers(prometheus, expression):
    """What is a number: 0 / 0 is no data."""
    return [value for _, value in prometheus.query(expression) if value == value]


def test_every_query_of_the_boards(live):
    """Each gives data, live."""
    count, empty = 0, {}
    for name, _, target in panels("prometheus"):
        count += 1
        expression = filled(target["expr"])
        try:
            wait_for(lambda: numbers(live, expression), expression, 20)
        except AssertionError as error:
            empty[name] = f"{expression}: {error}"
    assert not empty, json.dumps(empty, indent=1)
    assert count > 40
    for _, board in boards():
        for variable in board["templating"]["list"]:
            if variable["type"] == "query":
                metric, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["definition"]).groups()
                assert any(label in labels for labels, _ in live.query(filled(metric))), variable["definition"]


def metrics_of(expression):
    return set(re.findall(r"\b(?:[a-z]+:)?(?:venturi|process)_[a-z0-9_:]+", expression))


def test_every_rule(live):
    """Prometheus evaluates each without an error; what recording rules record is there, and so is everything that alerts look at."""
    found = wait_for(lambda: all_evaluated(live), "all rules")
    assert len(found) == 24
    for rule in found:
        assert rule["health"] == "ok" and not rule.get("lastError"), rule
        if rule["type"] == "recording":
            wait_for(lambda: numbers(live, rule["name"]), rule["name"], 30)
        for metric in metrics_of(rule["query"]):
            assert wait_for(lambda: live.query(metric), f"{rule['name']}: {metric}", 30)
    assert {rule["name"] for rule in found if rule["type"] == "alerting" and rule["state"] == "firing"} == set()


def all_evaluated(prometheus):
    found = [rule for group in prometheus.api("rules")["groups"] for rule in group["rules"]]
    return all(rule["health"] != "unknown" for rule in found) and found


def test_rules_by_promtool():
    """Their syntax, and that each alert fires when it should and not before: tests/service/alerts_test.yml."""
    promtool = tool("promtool")
    done = subprocess.run([promtool, "check", "rules", "--lint=all", "--lint-fatal", *RULES], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run([promtool, "test", "rules", os.path.join(HERE, "alerts_test.yml")], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    tested = set()
    with open(os.path.join(HERE, "alerts_test.yml")) as text:
        tested |= set(re.findall(r"alertname: (\w+)", text.read()))
    with open(os.path.join(DEPLOY, "prometheus", "rules", "alerts.yml")) as text:
        assert set(re.findall(r"- alert: (\w+)", text.read())) == tested


# ---- Elasticsearch -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """An OpenSearch node with the documents of a pipeline whose steps have the default prefix, shipped by `venturi ship`."""
    from opensearch import OpenSearch
    folder = tmp_path_factory.mktemp("store")
    with Monitored(folder, "-q", "-o", "x.vt") as program:
        program.tell("round 3")
        program.end()
    with OpenSearch(folder) as node:
        done = subprocess.run([VENTURI, "ship", "x.vt", "--to", node.url, "--once"], cwd=folder, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        assert node.count("test_step-*") >= 300
        yield node


def as_grafana_asks(target):
    """The search that Grafana's data source makes of a target."""
    now = int(time.time() * 1000)
    body = {"size": 0, "query": {"bool": {"filter": [
        {"range": {"@timestamp": {"gte": now - 86400000, "lte": now + 86400000, "format": "epoch_millis"}}},
        {"query_string": {"analyze_wildcard": True, "query": target["query"]}}]}}}
    level = body
    for one in target["bucketAggs"]:
        if one["type"] == "terms":
            order = "_key" if one["settings"]["orderBy"] == "_term" else one["settings"]["orderBy"]
            made = {"terms": {"field": one["field"], "size": int(one["settings"]["size"]), "order": {order: one["settings"]["order"]},
                              "min_doc_count": int(one["settings"]["min_doc_count"])}}
        else:
            made = {"date_histogram": {"field": one["field"], "fixed_interval": "30s", "min_doc_count": 1, "format": "epoch_millis"}}
        level["aggs"] = {one["id"]: made}
        level = made
    for one in target["metrics"]:
        if one["type"] == "percentiles":
            level["aggs"] = {one["id"]: {"percentiles": {"field": one["field"], "percents": [float(x) for x in one["settings"]["percents"]]}}}
        elif one["type"] != "count":
            level["aggs"] = {one["id"]: {one["type"]: {"field": one["field"]}}}
    return body


def rows(answer, aggregations, metric):
    """Numbers at the ends of the tree of buckets."""
    buckets = [answer["aggregations"][aggregations[0]["id"]]]
    for one in aggregations[1:]:
        buckets = [inner[one["id"]] for bucket in buckets for inner in bucket["buckets"]]
    leaves = [leaf for bucket in buckets for leaf in bucket["buckets"]]
    if metric["type"] == "count":
        return [leaf["doc_count"] for leaf in leaves]
    if metric["type"] == "percentiles":
        return [value for leaf in leaves for value in leaf[metric["id"]]["values"].values()]
    return [leaf[metric["id"]]["value"] for leaf in leaves]


def test_every_query_for_elasticsearch(store):
    for name, _, target in panels("elasticsearch"):
        answer = store.search("test_step-*", as_grafana_asks(target))
        found = [number for number in rows(answer, target["bucketAggs"], target["metrics"][0]) if number is not None]
        assert found, f"{name}: {json.dumps(answer)[:500]}"
        if name.startswith("steps-elasticsearch.json: Execution time by step"):
            assert [bucket["key"] for bucket in answer["aggregations"][target["bucketAggs"][0]["id"]]["buckets"]] == ["ClassifyStep"]
            assert found == pytest.approx([0.0015] * len(found))


def test_every_query_of_kibana(store):
    """TSVB asks by terms and a date histogram as well."""
    count = 0
    for one in kibana():
        if one["type"] != "visualization":
            continue
        parameters = json.loads(one["attributes"]["visState"])["params"]
        for series in parameters["series"]:
            metric = series["metrics"][0]
            target = {"query": parameters["filter"]["query"], "metrics": [dict(metric, id="m")], "bucketAggs": [
                {"id": "t", "type": "terms", "field": series["terms_field"],
                 "settings": {"size": series["terms_size"], "orderBy": series["terms_order_by"], "order": series["terms_direction"],
                              "min_doc_count": "1"}},
                {"id": "d", "type": "date_histogram", "field": parameters["time_field"]}]}
            answer = store.search("test_step-*", as_grafana_asks(target))
            assert [number for number in rows(answer, target["bucketAggs"], target["metrics"][0]) if number is not None], one["id"]
            count += 1
    assert count == 4

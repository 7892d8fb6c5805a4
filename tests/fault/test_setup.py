"""`venturi ship --setup`: an index template, and a life cycle in the words of each server."""
import json

import pytest

from conftest import ship
from es_stub import Stub, basic


def policy(stub, path):
    return stub.policies[path]


def test_elasticsearch(tmp_path):
    with Stub(distribution="elasticsearch", version="8.15.0") as stub:
        done = ship("--setup", "--to", stub.url, "--prefix", "night", "--keep-days", 7)
        assert done.returncode == 0, done.stderr
        assert done.stdout == "server: 8.15.0 (Elasticsearch)\nlife cycle: /_ilm/policy/venturi-night\ntemplate: /_index_template/venturi-night\n"
        assert policy(stub, "/_ilm/policy/venturi-night")["policy"]["phases"]["delete"] == {"min_age": "7d", "actions": {"delete": {}}}
        template = policy(stub, "/_index_template/venturi-night")
        assert template["index_patterns"] == ["night-*"] and template["priority"] == 200 and "data_stream" not in template
        assert template["template"]["settings"]["index.lifecycle.name"] == "venturi-night"
        fields = template["template"]["mappings"]["properties"]
        assert fields["source"] == {"type": "keyword", "fields": {"keyword": {"type": "keyword"}}}
        assert fields["@timestamp"] == {"type": "date_nanos"} and fields["execution_time"] == {"type": "double", "ignore_malformed": True}


def test_opensearch_and_again():
    with Stub() as stub:
        for _ in range(2):  # a policy that is there is replaced
            done = ship("--setup", "--to", stub.url)
            assert done.returncode == 0, done.stderr
            assert done.stdout.startswith("server: 2.19.1 (OpenSearch)\nlife cycle: /_plugins/_ism/policies/venturi-pipeline")
        states = policy(stub, "/_plugins/_ism/policies/venturi-pipeline")["policy"]
        assert states["ism_template"] == [{"index_patterns": ["pipeline-*"], "priority": 200}]
        assert states["states"][0]["transitions"] == [{"state_name": "delete", "conditions": {"min_index_age": "30d"}}]
        assert "index.lifecycle.name" not in str(policy(stub, "/_index_template/venturi-pipeline"))


@pytest.mark.parametrize("distribution, version, word", [("opensearch", "2.1.0", "no ISM plugin"), ("elasticsearch", "8.1.0", "no ILM"),
                                                         ("elasticsearch", "7.10.2", "no ILM")])
def test_a_server_without_life_cycles(distribution, version, word):
    with Stub(distribution=distribution, version=version) as stub:
        stub.lifecycle = False
        done = ship("--setup", "--to", stub.url)
        assert done.returncode == 0 and word in done.stdout
        assert list(stub.policies) == ["/_index_template/venturi-pipeline"] and "lifecycle" not in str(stub.policies)


def test_old_ones():
    with Stub(distribution="elasticsearch", version="7.5.2") as stub:
        assert ship("--setup", "--to", stub.url).returncode == 0
        template = policy(stub, "/_template/venturi-pipeline")
        assert template["order"] == 200 and template["mappings"]["properties"]["failed"] == {"type": "boolean"}
    with Stub(distribution="elasticsearch", version="6.8.0") as stub:
        done = ship("--setup", "--to", stub.url)
        assert done.returncode == 2 and "is Elasticsearch 6; 7 or newer is needed" in done.stderr


@pytest.mark.parametrize("dialect, words", [("elasticsearch", "/_ilm/"), ("opensearch", "/_plugins/_ism/")])
def test_dry_run_asks_nobody(dialect, words):
    done = ship("--setup", "--dry-run", "--dialect", dialect, "--to", "elasticsearch://127.0.0.1:1")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 4 and lines[0].startswith("PUT " + words) and lines[2] == "PUT /_index_template/venturi-pipeline"
    assert json.loads(lines[1])["policy"] and json.loads(lines[3])["template"]


def test_dry_run_without_a_life_cycle():
    with Stub() as stub:
        done = ship("--setup", "--dry-run", "--keep-days", 0, "--to", stub.url)
        assert done.returncode == 0 and not stub.policies and [method for method, *_ in stub.requests] == ["GET"]
        assert done.stdout.splitlines()[1] == "PUT /_index_template/venturi-pipeline"


@pytest.mark.parametrize("words, message", [
    (["--prefix", "Night"], "--prefix Night: is of lower-case letters"),
    (["--prefix", "_a"], "is no beginning of an index's name"),
    (["--prefix", 'a"*'], "is of lower-case letters"),
    (["--keep-days", "-1"], "--keep-days: '-1' is no number from 0 to 36500"),
    (["x.vt"], "--setup: sends nothing, so it takes no FILE"),
])
def test_what_cannot_be_set_up(stub, words, message):
    done = ship("--setup", "--to", stub.url, *words)
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1 and not stub.policies


def test_without_the_right_to():
    with Stub(login=basic("a", "b")) as stub:
        done = ship("--setup", "--to", stub.url.replace("://", "://a:wrong@"))
        assert done.returncode == 2 and "these credentials may not set it up (401)" in done.stderr and "wrong" not in done.stderr
    done = ship("--setup", "--to", stub.url)
    assert done.returncode == 2 and "cannot be reached" in done.stderr

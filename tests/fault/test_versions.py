"""Elasticsearch 7, 8, 9 and OpenSearch 1 to 3 answer the same in small ways that differ: product header, words of errors, members of items."""
import pytest

from conftest import QUICK, dead_of, make_steps, many, numbers, ship
from es_stub import FORMS, Items, Stub

IDS = [" ".join(form) for form in FORMS]


@pytest.mark.parametrize("distribution, version", FORMS, ids=IDS)
def test_all_of_them_take_documents(tmp_path, distribution, version):
    """One is refused for good, some are busy, and a state that is lost makes all of them repeats."""
    path = make_steps(tmp_path / "a.vt", many(50))
    with Stub(distribution=distribution, version=version) as stub:
        stub.refused = lambda document: document["n"] == 7
        stub.faults = [Items(429, {3, 4}), Items(503, {0})]
        done = ship(path, "--to", stub.url, "--once", *QUICK)
        assert done.returncode == 1 and numbers(stub) == [n for n in range(50) if n != 7], done.stderr
        letters, _ = dead_of(tmp_path)
        assert len(letters) == 1 and letters[0]["document"]["n"] == 7 and "parsing_exception: failed to parse" in letters[0]["reason"]
        for state in tmp_path.glob("*ship-*"):
            state.unlink()
        assert ship(path, "--to", stub.url, "--once", *QUICK).returncode == 1
        assert len(stub.documents) == 49
        for _, _, headers, _ in stub.requests:
            assert headers["Content-Type"] == "application/x-ndjson" and "vnd.elasticsearch" not in str(headers)


@pytest.mark.parametrize("distribution, version", FORMS, ids=IDS)
def test_all_of_them_are_set_up(distribution, version):
    with Stub(distribution=distribution, version=version) as stub:
        done = ship("--setup", "--to", stub.url)
        assert done.returncode == 0 and done.stdout.startswith(f"server: {version} "), done.stderr
        life = [path for path in stub.policies if "_ism" in path or "_ilm" in path]
        assert len(life) == 1 and ("_ilm" in life[0]) == (distribution == "elasticsearch")
        assert ("/_template/venturi-pipeline" in stub.policies) == (version == "7.5.2")

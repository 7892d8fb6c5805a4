"""How large a page is: bytes for each span, and trees that are cut where they are too large to be drawn."""
import json
import os
import subprocess

import pytest

from page_reader import DIRECTORY

SPANS = 1000000


@pytest.fixture(scope="module")
def large(venturi, tmp_path_factory):
    """A page of a million spans: its size and its directory."""
    maker = os.path.join(os.environ.get("VENTURI_BUILD", os.path.dirname(venturi.path)), "bench", "make_big")
    if not os.access(maker, os.X_OK):
        pytest.skip("%s is not built" % maker)
    folder = tmp_path_factory.mktemp("large")
    subprocess.run([maker, folder / "big.vt", str(SPANS), "4", "8"], check=True, stdout=subprocess.DEVNULL)
    venturi("report", folder / "big.vt", "-o", folder / "page.html", check=0)
    text = (folder / "page.html").read_text()
    return len(text.encode()), json.loads(DIRECTORY.search(text).group(1))


def test_bytes_of_a_span(large):
    size, directory = large
    tables = {table["name"]: table for table in directory["tables"]}
    assert tables["spans"]["rows"] == SPANS
    assert [block["rows"] for block in tables["spans"]["blocks"]] == [262144, 262144, 262144, SPANS - 3 * 262144]
    assert size / SPANS <= 7


def test_a_tree_that_is_too_large(large):
    _, directory = large
    tables = {table["name"]: table for table in directory["tables"]}
    assert 100000 < tables["paths"]["rows"] <= 200000
    assert any("paths of spans" in note["text"] and str(tables["paths"]["rows"]) in note["text"]
               for note in directory["notes"])

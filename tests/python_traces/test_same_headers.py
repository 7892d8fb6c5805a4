"""The readers of headers in C and in Python give the same answer, whatever a request carries: thousands of headers, made by rules and then spoilt."""
import base64
import hashlib
import hmac
import json
import os
import random
import subprocess

import pytest
from in_pythons import BUILD, VERSIONS, environment, python_or_skip

SERVICE = os.path.join(BUILD, "tests", "programs", "service")
SIGNS = os.path.join(BUILD, "tests", "programs", "signs")
KEY = "secret_word"
BASE = "f12e75d5-5d59-4cbc-b74d-357f19290dd7"
PARENT = "b9b29981-0916-4635-af18-d6c92f991f46"
TRACEPARENT = "00-f12e75d55d594cbcb74d357f19290dd7-af18d6c92f991f46-01"

pytestmark = pytest.mark.skipif(not os.path.exists(SERVICE), reason="libventuri-net is not built: no libcrypto")

# Ids by hex, or requests as objects of latin-1 text, a line each; what Python makes of them comes out as the C programs say it.
PEER = """
import json, logging, sys
from venturi import propagation
from venturi._venturi import trace_id_of
import uuid

logging.disable(logging.CRITICAL)
key, trusts = sys.argv[1], sys.argv[2] == "trust"

def hexed(text):
    return text.encode().hex() if text is not None else "-"

def ids(info, signature):
    found = propagation.unpack(info, signature, key)
    return "%s %s" % (hexed(found["base_id"]), hexed(found.get("parent_id"))) if found else "bad"

def request(headers):
    before = propagation.rejected()
    found = propagation.accept(headers.get, None if trusts else key, trusts)
    if not found:
        return ["rejected" if propagation.rejected() > before else "none"]
    parent = found.get("parent_id") or found["base_id"]
    return ["traced", *(str(uuid.UUID(bytes=trace_id_of(id))) for id in (found["base_id"], parent)),
            propagation.format_traceparent(found["base_id"], parent, found.get("flags", 1))[-2:], found.get("tracestate", "")]

json.dump([ids(*said) if isinstance(said, list) else request(said) for said in json.load(sys.stdin)], sys.stdout)
"""


def in_python(version, said, trusts=False, key=KEY):
    done = subprocess.run([python_or_skip(version), "-c", PEER, key, "trust" if trusts else "-"], input=json.dumps(said), capture_output=True,
                          text=True, check=True, env=environment())
    return json.loads(done.stdout)


def in_c(command, lines):
    return subprocess.run(command, input="".join(lines).encode("latin-1"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True).stdout.decode("latin-1").splitlines()


def signature(info):
    return hmac.new(KEY.encode(), info.encode("latin-1"), hashlib.sha1).hexdigest()


def packed(text):
    return base64.urlsafe_b64encode(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")).decode()


# ---- what is in X-Trace-Info ----

KEYS = ['"base_id"', '"parent_id"', '"base_id"', '"parent_id"', '"base_id"', '"parent_id"', '"base_\\u0069d"', '"Base_id"', '"hmac_key"', '""',
        '"base_id\\u0000"', "base_id", '"base_id\n"', '"\\ud800"']
VALUES = ['"%s"' % BASE, '"%s"' % PARENT, '"%s"' % PARENT, '""', "null", '"x"', '"\u20ac\u00ff"', '"\\u20ac"', '"\\ud83d\\ude00"', '"\U0001f600"',
          '"\\ud800"', '"\\ude00"', '"\\ud800x"', '"\\ud800\\u0041"', '"\\ud800\\ud83d\\ude00"', '"\ud800"', '"a\\nb"', '"a\nb"', '"\\u0000"',
          '"a\\u001f"', '"\x1f"', '"\\u007f"', '"\x7f"', '"\\u0080"', '"\x85"', '"\\u2028"', '"\\u00a0"', '" "', '"\\/\\b"', '"\\/"', '"\\x"', '"\\u12"',
          '"\\u12g4"', '"\\u+123"', '"\\"', '"' + "x" * 256 + '"', '"' + "x" * 257 + '"', '"' + "\u20ac" * 256 + '"', '"' + "\\ud83d\\ude00" * 256 + '"',
          '"' + "\u20ac" * 257 + '"', "5", "0", "true", "false", "nul", "nullx", "NaN", "[]", "{}", '["x"]', '{"base_id": "x"}', "", "'x'"]
GOOD = VALUES[:8] * 5
BLANKS = ["", "", "", " ", "\t", "\n", "\r", " \n\t ", "\v", "\f", "\0", "\u00a0"]
TAILS = ["", "", "", "", "", "", "x", "\0", "\0x", "{}", ",", "}", "\ufeff"]


def some_json(chance):
    """An object with one to three members, mostly ours, and blanks in all places where JSON has them."""
    def blank():
        return chance.choice(BLANKS) if chance.random() < 0.05 else ""

    members = [('"base_id"', chance.choice(VALUES))] if chance.random() < 0.3 else [('"base_id"', '"%s"' % BASE)]
    if chance.random() < 0.7:
        members.append(('"parent_id"', chance.choice(VALUES + GOOD)))
    if chance.random() < 0.07:
        members.append((chance.choice(KEYS), chance.choice(VALUES)))
    chance.shuffle(members)
    comma = chance.choice([",", ", "]) if chance.random() < 0.97 else chance.choice([",,", "", ";"])
    body = comma.join(blank() + name + blank() + ":" + blank() + value + blank() for name, value in members)
    return blank() + "{" + blank() + body + ("," if chance.random() < 0.02 else "") + "}" + blank() + chance.choice(TAILS if chance.random() < 0.3 else [""])


def spoilt(chance, text, alphabet):
    """With a character more, less or other; mostly without any."""
    if chance.random() < 0.85:
        return text
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice([chance.choice(alphabet), ""]) + text[at + chance.randrange(2):]


def infos():
    chance = random.Random(77)
    bytes_of_json = [chr(c).encode("latin-1") for c in (0, 9, 10, 13, 31, 32, 34, 44, 58, 92, 123, 125, 127, 128, 0xc0, 0xe2, 0xed, 0xff)]
    made = []
    for _ in range(4000):
        json_text = some_json(chance).encode("utf-8", "surrogatepass")
        if chance.random() < 0.1:
            at = chance.randrange(len(json_text) + 1)
            json_text = json_text[:at] + chance.choice(bytes_of_json) + json_text[at + chance.randrange(2):]
        made.append(spoilt(chance, packed(json_text), "AZaz09-_+/==.! \x80\xff\v"))
    exact = [packed('{"base_id": "x"}' + " " * (6144 - 16 + more)) for more in (-3, 0, 1, 3)]
    return made + exact + ["=", "====", "A===", "AA==", "AAA", packed("\ufeff" + json.dumps({"base_id": BASE})), packed("[" * 3000)]


@pytest.mark.parametrize("version", VERSIONS)
def test_ids(version):
    cases = [info for info in infos() if info.strip() == info]
    ours = in_c([SIGNS, "unpack"], [info + "\n" for info in cases])
    theirs = in_python(version, [[info, signature(info)] for info in cases])
    assert 1000 < theirs.count("bad") < len(cases) - 1000
    assert [(info, c, python) for info, c, python in zip(cases, ours, theirs) if c != python] == []
    assert len(ours) == len(theirs)


# ---- whole requests ----


def some_request(chance, info):
    headers = {}
    blank = ["", "", "", "", " ", "\t ", "\v", "\r", "\u00a0", " " * 300]
    if chance.random() < 0.7:
        # The signature is that of what is left when blanks are gone.
        headers["x-trace-info"] = chance.choice(blank) + info + chance.choice(blank)
        headers["x-trace-hmac"] = chance.choice(blank) + signature(info) + chance.choice(blank)
        if chance.random() < 0.3:
            headers[chance.choice(sorted(headers))] = chance.choice(["", " ", "x", signature(info).upper(), "0" * 40, "\xe9" * 40, "A" * 8192, "A" * 8196])
        if chance.random() < 0.1:
            del headers[chance.choice(sorted(headers))]
    if chance.random() < 0.8:
        parent = TRACEPARENT
        if chance.random() < 0.5:
            parent = "-".join([chance.choice(["00", "00", "01", "cc", "ff", "0g"]),
                               chance.choice(["f12e75d55d594cbcb74d357f19290dd7", "0" * 32, "F" * 32, "1" * 32]),
                               chance.choice(["af18d6c92f991f46", "b74d357f19290dd7", "0" * 16]), chance.choice(["00", "01", "02", "03", "ff", "fe", "0A"])])
            parent += chance.choice(["", "", "", "-", "-later", "x", "-" + "y" * 199, "-" + "y" * 200, "-" + "y" * 201])
        headers["traceparent"] = chance.choice(blank) + spoilt(chance, parent, "0aA-_g \xe9") + chance.choice(blank)
    if chance.random() < 0.5:
        entry = "vendor=" + "v" * chance.choice([1, 248, 250, 505, 506])
        headers["tracestate"] = chance.choice(blank) + chance.choice([
            "a=1", "a=1,b=2", "", entry, ",".join([entry] * chance.randrange(1, 4)), "a=\xe9", "a=\x7f", "a=1,\tb=2", "x" * 9000, "a=1," + "b" * 8190,
            "a=1," + "b" * 600 + "\x01"]) + chance.choice(blank)
    return headers


def answers(lines):
    """What the service said of each request, as Python's side says it."""
    found, now = [], None
    for line in lines:
        key, _, value = line.partition(" ")
        if key == "answer":
            now = [value]
            found.append(now)
        elif key in ("base", "span"):
            now.append(value)
        elif line.startswith("out traceparent: "):
            now += [line[-2:], ""]
        elif line.startswith("out tracestate: "):
            now[-1] = line[len("out tracestate: "):]
    return found


@pytest.mark.parametrize("trusts", [False, True])
@pytest.mark.parametrize("version", VERSIONS)
def test_requests(version, trusts):
    chance = random.Random(78)
    good = packed(json.dumps({"base_id": BASE, "parent_id": PARENT}))
    cases = [some_request(chance, good if chance.random() < 0.8 else packed(some_json(chance))) for _ in range(3000)]
    lines = ["".join("%s: %s\n" % pair for pair in headers.items()) + "\n" for headers in cases]
    ours = answers(in_c([SERVICE, "keys", "-" if trusts else KEY], lines))
    theirs = in_python(version, cases, trusts)
    kinds = [answer[0] for answer in theirs]
    assert all(kinds.count(kind) > 200 for kind in ("none", "traced", "rejected")), kinds
    assert [(headers, c, python) for headers, c, python in zip(cases, ours, theirs) if c != python] == []
    assert len(ours) == len(theirs)


@pytest.mark.parametrize("version", VERSIONS)
def test_services_without_keys(version):
    """They are dormant: nothing is followed, and nothing is counted as rejected."""
    chance = random.Random(79)
    cases = [some_request(chance, packed(some_json(chance))) for _ in range(500)]
    lines = ["".join("%s: %s\n" % pair for pair in headers.items()) + "\n" for headers in cases]
    assert answers(in_c([SERVICE, "keys", ""], lines)) == in_python(version, cases, key="") == [["none"]] * len(cases)

"""Headers: osprofiler's byte for byte, W3C's, and what strangers send."""
import base64
import json
import random
import uuid

import kit
from kit import BASE, HMAC, INFO, KEY, PARENT
from osprofiler import _utils as theirs
from venturi import propagation, trace

V3_IDS = {"base_id": "a?>\u00ff~~~", "parent_id": "\u20ac>>>???"}
VECTORS = [
    ({"base_id": BASE, "parent_id": PARENT}, "secret_word", INFO, HMAC),
    ({"base_id": BASE, "parent_id": PARENT}, "SECRET_KEY", INFO, "982d7325e4d2ea723eee8da7caee24a630e19d16"),
    (V3_IDS, "SECRET_KEY", "eyJiYXNlX2lkIjogImE_Plx1MDBmZn5-fiIsICJwYXJlbnRfaWQiOiAiXHUyMGFjPj4-Pz8_In0=",
     "15917226754c384b7153b296c435ef6e2dbc89d0"),
    ({"base_id": BASE}, "k\u00e9y", "eyJiYXNlX2lkIjogImYxMmU3NWQ1LTVkNTktNGNiYy1iNzRkLTM1N2YxOTI5MGRkNyJ9",
     "34dbc245cffea1c9dccb433575e3f7e57f1b6030"),
]


def test_vectors():
    for ids, key, info, signature in VECTORS:
        assert propagation.pack(ids, key) == (info, signature)
        assert propagation.unpack(info, signature, key) == dict(ids, hmac_key=key)
        assert propagation.unpack(info.encode(), signature.encode(), [key]) == dict(ids, hmac_key=key)
    assert propagation.rejected() == 0


def test_negative_vectors():
    assert propagation.unpack(INFO, "0" * 40, KEY) is None
    assert propagation.unpack(INFO, HMAC.upper(), KEY) is None
    assert propagation.rejected() == 2
    assert propagation.unpack(INFO, "  %s\t" % HMAC, KEY)


def test_both_directions_with_osprofiler():
    odd = random.Random(1)
    for _ in range(300):
        length = odd.randrange(1, 40)
        ids = {"base_id": str(uuid.UUID(int=odd.getrandbits(128))), "parent_id": "".join(chr(odd.randrange(32, 0x2000)) for _ in range(length))}
        ids["parent_id"] = "".join(c for c in ids["parent_id"] if propagation._is_text(c)) or "x"
        key = "".join(chr(odd.randrange(33, 0x500)) for _ in range(12)).replace(",", "")
        data, signature = theirs.signed_pack(ids, key)
        assert propagation.pack(ids, key) == (data.decode(), signature)
        assert propagation.unpack(data, signature, [key]) == dict(ids, hmac_key=key)
        assert theirs.signed_unpack(*propagation.pack(ids, key), [key]) == dict(ids, hmac_key=key)


def test_no_key_no_signature():
    assert propagation.pack({"base_id": BASE}, None)[1] is None
    assert propagation.unpack(INFO, HMAC, None) is None
    assert propagation.unpack(INFO, HMAC, " , ") is None


def test_without_keys_nothing_is_looked_at():
    """A service that has none is dormant: what others sign is no matter of its own, and not counted. As in C."""
    for keys in (None, "", " , ", []):
        for headers in ({"x-trace-info": INFO, "x-trace-hmac": HMAC}, {"x-trace-info": "?"}, {"x-trace-hmac": "\u00e9"}):
            assert propagation.accept(headers.get, keys) is None and propagation.unpack(INFO, HMAC, keys) is None
    assert propagation.rejected() == 0
    propagation.accept({"x-trace-info": INFO}.get, KEY)
    assert propagation.rejected() == 1


def test_key_lists():
    assert propagation.split_keys("a, b,,c ,") == ["a", "b", "c"] == theirs.split("a, b,,c ,")
    assert propagation.split_keys(["a, b"]) == ["a, b"]
    assert propagation.split_keys(None) == []
    assert propagation.unpack(INFO, HMAC, "other, %s ,third" % KEY)["hmac_key"] == KEY
    assert propagation.unpack(INFO, HMAC, "other,third") is None


def signed(value, key=KEY):
    text = value if isinstance(value, str) else json.dumps(value)
    info = base64.urlsafe_b64encode(text.encode("utf-8", "surrogatepass")).decode()
    return info, propagation.sign(info, key)


def test_signed_but_not_ids():
    """A holder of the key is no friend either."""
    bombs = ["[" * 3000, '{"base_id":' * 900, "1e999", "NaN", '"text"', "[]", "null", "9" * 3000, "{", "\ud800",
             "[" * 3000 + "]" * 3000, json.dumps({"base_id": BASE}) + " " * 8000]
    others = [{}, {"parent_id": PARENT}, {"base_id": ""}, {"base_id": None}, {"base_id": 5}, {"base_id": ["x"]}, {"base_id": "x" * 300},
              {"base_id": BASE, "parent_id": {"a": 1}}, {"base_id": BASE, "parent_id": PARENT, "sampled": True},
              {"base_id": BASE, "hmac_key": "x"}, {"base_id": "\ud800"}, {"base_id": "a\nb"}, {"base_id": BASE, "parent_id": "\x7f"}]
    for value in bombs + others:
        assert propagation.unpack(*signed(value), KEY) is None, value
    assert propagation.rejected() == len(bombs) + len(others)
    for nothing in (None, ""):
        assert propagation.unpack(*signed({"base_id": BASE, "parent_id": nothing}), KEY) == {"base_id": BASE, "hmac_key": KEY}
    assert propagation.unpack(*signed('\n{"parent_id":\t"x" , "base_id": "y"} '), KEY) == {"base_id": "y", "parent_id": "x", "hmac_key": KEY}
    assert propagation.unpack(*signed('{"base_id": "x", "base_id": "y"}'), KEY) is None


def test_strangers():
    """Any bytes and texts: never an exception, never accepted, counted, logged once."""
    odd = random.Random(2)
    values = [None, "", b"", " ", "\u00e9", b"\xff\xfe", "\ud800", "x" * (1 << 20), b"\0" * (1 << 20), INFO, HMAC, INFO[:-1], HMAC[:-1], 5, [], {}]
    values += [bytes(odd.randrange(256) for _ in range(odd.randrange(200))) for _ in range(100)]
    values += ["".join(chr(odd.randrange(0x110000)) for _ in range(odd.randrange(50))) for _ in range(100)]
    with kit.logged("venturi.propagation") as messages:
        for info in values:
            for signature in values[:16] + odd.sample(values, 20):
                if (info, signature) != (INFO, HMAC):
                    assert propagation.unpack(info, signature, [KEY, "other"]) is None
        assert propagation.rejected() > 5000
    assert len(messages) == 1 and "\n" not in messages[0] and KEY not in messages[0], messages


def test_flipped_bits():
    for at in range(len(INFO)):
        assert propagation.unpack(INFO[:at] + ("A" if INFO[at] != "A" else "B") + INFO[at + 1:], HMAC, KEY) is None
    for at in range(40):
        assert propagation.unpack(INFO, HMAC[:at] + ("0" if HMAC[at] != "0" else "1") + HMAC[at + 1:], KEY) is None
    assert propagation.unpack(INFO, HMAC, KEY)


def test_comparison_takes_constant_time():
    seen = []
    original = propagation.hmac.compare_digest
    propagation.hmac.compare_digest = lambda a, b: seen.append((a, b)) or original(a, b)
    try:
        propagation.unpack(INFO, HMAC, "one,two")
    finally:
        propagation.hmac.compare_digest = original
    assert [pair[0] for pair in seen] == [HMAC.encode()] * 2


def test_traceparent():
    text = "00-f12e75d55d594cbcb74d357f19290dd7-af18d6c92f991f46-01"
    parent = propagation.Parent(BASE, "00000000-0000-0000-af18-d6c92f991f46", 1)
    assert propagation.format_traceparent(BASE, PARENT) == text
    assert propagation.format_traceparent(BASE, parent.parent_id, 0) == text[:-1] + "0"
    for value in (text, text.encode(), " %s\t" % text, "cc" + text[2:], "cc" + text[2:] + "-what-comes-later"):
        assert propagation.parse_traceparent(value) == parent, value
    assert propagation.parse_traceparent(text[:-2] + "ff").flags == 3, "no flags that nobody here knows"
    assert propagation.parse_traceparent("00-f12e75d55d594cbcb74d357f19290dd7-b74d357f19290dd7-01").parent_id == BASE, "no span yet"


def test_bad_traceparents():
    text = "00-f12e75d55d594cbcb74d357f19290dd7-af18d6c92f991f46-01"
    zero = ["00-%s-af18d6c92f991f46-01" % ("0" * 32), "00-f12e75d55d594cbcb74d357f19290dd7-%s-01" % ("0" * 16)]
    odd = random.Random(3)
    rubbish = [bytes(odd.randrange(256) for _ in range(55)) for _ in range(50)] + [text[:n] for n in range(55)]
    for value in zero + rubbish + [None, "", 5, "ff" + text[2:], text + "-", text + "-x", text + "0", text.upper(), text.replace("-", "_"),
                                   "cc" + text[2:] + "x", text.replace("f1", "g1"), text.replace("1", "\u0661"), "x" * (1 << 20)]:
        assert propagation.parse_traceparent(value) is None, value


def test_tracestate():
    assert propagation.parse_tracestate(" rojo=00f067aa0ba902b7,congo=t61 ") == "rojo=00f067aa0ba902b7,congo=t61"
    assert propagation.parse_tracestate("a=1," + "b" * 600) == "a=1", "whole entries"
    for value in (None, "", "x" * 513, "a=1," * 3000, "a=\n\n=", "a=\u00e9", b"\xff", 7):
        assert propagation.parse_tracestate(value) == ""


def test_one_mapping_for_odd_ids():
    """A text that is no UUID is the same 128 bits each time."""
    text = propagation.format_traceparent("not-a-uuid", "neither")
    assert text == propagation.format_traceparent("not-a-uuid", "neither")
    parent = propagation.parse_traceparent(text)
    assert propagation.format_traceparent(parent.base_id, parent.parent_id) == text
    assert propagation.format_traceparent(BASE.upper(), "{%s}" % PARENT) == propagation.format_traceparent(BASE, PARENT)


def test_headers_of_the_current_span():
    assert propagation.headers() == {} == propagation.signed_headers()
    profiler = trace.init(KEY, base_id=BASE, parent_id=PARENT)
    assert propagation.signed_headers() == {"X-Trace-Info": INFO, "X-Trace-HMAC": HMAC}
    with trace.Trace("x"):
        sent = propagation.headers()
        assert propagation.unpack(sent["X-Trace-Info"], sent["X-Trace-HMAC"], KEY)["parent_id"] == profiler.get_id()
        assert sent["traceparent"] == propagation.format_traceparent(BASE, profiler.get_id())
        assert set(sent) == {"X-Trace-Info", "X-Trace-HMAC", "traceparent"}
        json.dumps(sent)
    trace.clean()
    assert propagation.headers() == {}
    trace.init(None, base_id=BASE)
    assert list(propagation.headers()) == ["traceparent"]


def test_accept():
    sent = {"x-trace-info": INFO, "x-trace-hmac": HMAC}
    ids = {"base_id": BASE, "parent_id": PARENT, "hmac_key": KEY}
    assert propagation.accept(sent.get, KEY) == ids
    assert propagation.accept({}.get, KEY) is None
    assert propagation.accept({}.get, None, True) is None
    sent.update(traceparent="00-f12e75d55d594cbcb74d357f19290dd7-af18d6c92f991f46-03", tracestate="a=b")
    assert propagation.accept(sent.get, KEY) == dict(ids, flags=3, tracestate="a=b")
    sent.update(traceparent="00-012e75d55d594cbcb74d357f19290dd7-af18d6c92f991f46-03")
    assert propagation.accept(sent.get, KEY) == ids, "of another trace"
    sent.update(traceparent="rubbish")
    assert propagation.accept(sent.get, KEY) == ids
    assert propagation.rejected() == 0
    assert propagation.accept(dict(sent, **{"x-trace-hmac": "0" * 40}).get, KEY, True) is None, "a forged one is not followed"
    assert propagation.rejected() == 1


def test_accept_traceparent_where_it_is_trusted():
    sent = {"traceparent": "00-f12e75d55d594cbcb74d357f19290dd7-af18d6c92f991f46-01", "tracestate": "a=b"}
    assert propagation.accept(sent.get, KEY) is None
    assert propagation.accept(sent.get, None, True) == {
        "base_id": BASE, "parent_id": "00000000-0000-0000-af18-d6c92f991f46", "flags": 1, "tracestate": "a=b"}
    assert propagation.accept({"traceparent": sent["traceparent"][:-1] + "0"}.get, None, True) is None
    assert propagation.rejected() == 0
    both = dict(sent, **{"x-trace-info": INFO, "x-trace-hmac": HMAC})
    assert propagation.accept(both.get, None, True)["parent_id"].endswith("-af18-d6c92f991f46"), "without keys only traceparent counts"
    assert propagation.accept(both.get, "other", True) is None and propagation.rejected() == 1
    propagation._rejected = 0
    assert propagation.accept({"traceparent": "x"}.get, None, True) is None
    assert propagation.rejected() == 1


def test_w3c_goes_through():
    """What came with a trace goes on with it."""
    sent = {"traceparent": "00-f12e75d55d594cbcb74d357f19290dd7-af18d6c92f991f46-01", "tracestate": "a=b"}
    with trace.attach(propagation.accept(sent.get, None, True)):
        assert propagation.headers() == sent
        with trace.Trace("x"):
            on = propagation.headers()
            assert on["tracestate"] == "a=b" and on["traceparent"].startswith(sent["traceparent"][:36]) and on != sent
    assert propagation.headers() == {}


def test_a_forked_child_counts():
    """Whoever was counting in the parent is not in the child."""
    def count(entered, go):
        with propagation._lock:
            entered.set()
            go.wait(20)

    def in_the_child():
        propagation.unpack("x", "y", KEY)
        return propagation.rejected() == 1
    with kit.logged("venturi.propagation"), kit.another_thread(count):
        assert kit.in_a_child(in_the_child)

"""libventuri-net against the real osprofiler: headers byte for byte, both ways; and a C service with the two files of a Mistral."""
import base64
import hashlib
import hmac
import json
import os
import random
import re
import shutil
import sys
import uuid

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lib"))

from recorded import BUILD, TOP, VENTURI, need, run  # noqa: E402

FIXTURES = os.path.join(os.path.dirname(HERE), "python_traces", "fixtures")
SERVICE = os.path.join(BUILD, "tests", "programs", "service")
SIGNS = os.path.join(BUILD, "tests", "programs", "signs")
BASE = "f12e75d5-5d59-4cbc-b74d-357f19290dd7"
PARENT = "b9b29981-0916-4635-af18-d6c92f991f46"
UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

pytestmark = pytest.mark.skipif(not os.path.exists(SERVICE), reason="libventuri-net is not built: no libcrypto")

# Runs with the real osprofiler: a list of calls comes in, a list of answers goes out.
PEER = """
import json, sys
from osprofiler import _utils, profiler, web

def text(value):
    return value.decode() if isinstance(value, bytes) else value

def pack(data, key):
    return [text(part) for part in _utils.signed_pack(data, key)]

def unpack(info, signature, keys):
    return _utils.signed_unpack(info, signature, keys)

def headers(key, base, parent):
    profiler.clean()
    profiler.init(key, base_id=base, parent_id=parent)
    return {name: text(value) for name, value in web.get_trace_id_headers().items()}

def serve(keys, got):
    '''What its middleware makes of a request: ids of the trace that the application is in.'''
    profiler.clean()
    seen = {}
    def application(environ, start):
        now = profiler.get()
        seen.update(base=now and now.get_base_id(), parent=now and now.get_parent_id())
        start("200 OK", [])
        return [b""]
    environ = {"REQUEST_METHOD": "GET", "SERVER_NAME": "a", "SERVER_PORT": "80", "wsgi.url_scheme": "http", "PATH_INFO": "/", "QUERY_STRING": ""}
    environ.update({"HTTP_" + name.upper().replace("-", "_"): value for name, value in got.items()})
    list(web.WsgiMiddleware(application, hmac_keys=keys, enabled=True)(environ, lambda *a: None))
    return seen

json.dump([globals()[name](*arguments) for name, *arguments in json.load(sys.stdin)], sys.stdout)
"""


VERSIONS = ["3.9", "3.10", "3.11", "3.12", "3.13"]
PYTHONS = dict(line.split("\t")[:2] for line in run([sys.executable, os.path.join(TOP, "tools", "pythons")]).stdout.splitlines())


def versions():
    """All; under a sanitizer, which is for our side, the newest that is here."""
    if os.environ.get("VENTURI_SANITIZE"):
        return ([version for version in VERSIONS if version in PYTHONS] or VERSIONS)[-1:]
    return VERSIONS


@pytest.fixture(params=versions())
def osprofiler(request):
    """osprofiler(calls) runs calls in the osprofiler of one Python."""
    folder = os.path.join(TOP, "build", "neighbours", request.param + "-trace")
    python = PYTHONS.get(request.param)
    if not python:
        pytest.skip("no Python " + request.param)
    if not os.path.exists(os.path.join(folder, "done")):
        pytest.skip("no osprofiler for Python %s: run tools/neighbours" % request.param)

    def call(calls):
        env = {**os.environ, "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
        return json.loads(run([python, "-W", "ignore", "-c", PEER], input=json.dumps(calls), env=env).stdout)
    return call


def signs(command, lines):
    return run([SIGNS, command], input="".join(line + "\n" for line in lines)).stdout.splitlines()


def hexed(text):
    """Half of a pair of surrogates is no character: Python keeps it, we do not."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text).encode().hex() if text is not None else "-"


def samples():
    """(key, base, parent): UUIDs, and texts with everything that JSON or base64 could get wrong."""
    chance = random.Random(20200227)
    alphabet = "a?>~/+\\\"'\b\f\n\r\t\x01\x1f\x7f \u00ff\u20ac\ud7ff\ue000\uffff\U0001f600\U0010ffff"
    some = [("secret_word", BASE, PARENT), ("SECRET_KEY", BASE, PARENT), ("SECRET_KEY", "a?>\xff~~~", "\u20ac>>>???"), ("k\xe9y", BASE, None)]
    for _ in range(100):
        some.append((chance.choice(["k", "secret_word", "x" * 200, "\U0001f511"]), str(uuid.UUID(int=chance.getrandbits(128))),
                     str(uuid.UUID(int=chance.getrandbits(128)))))
    for _ in range(300):
        base, parent = ("".join(chance.choices(alphabet, k=chance.randrange(1, 30))) for _ in range(2))
        some.append(("secret_word", base, chance.choice([parent, None])))
    return some


def as_data(base, parent):
    return {"base_id": base, "parent_id": parent} if parent is not None else {"base_id": base}


def test_packs_the_same_bytes(osprofiler):
    cases = samples()
    theirs = osprofiler([("pack", as_data(base, parent), key) for key, base, parent in cases])
    ours = signs("pack", [" ".join(map(hexed, case)) for case in cases])
    assert [" ".join(pair) for pair in theirs] == ours


def test_unpacks_what_it_packs_and_no_more(osprofiler):
    chance = random.Random(5)
    cases = samples()
    packed = osprofiler([("pack", as_data(base, parent), "k") for _, base, parent in cases])
    expected = ["bad" if re.search("[\0-\x1f\x7f]", base + (parent or "")) else f"{hexed(base)} {hexed(parent)}" for _, base, parent in cases]
    assert signs("unpack", [info for info, _ in packed]) == expected and 50 < expected.count("bad") < len(cases) - 50

    # Spoilt before they are signed: what is still taken means the same there.
    spoilt = []
    for info, _ in packed:
        at = chance.randrange(len(info))
        spoilt += [info[:at], info[:at] + chance.choice("AZaz09-_+/=. \xe9") + info[at + 1:], info[:at] + info[at + 4:]]
    spoilt = [info for info in spoilt if info]
    answers = signs("unpack", spoilt)
    taken = [(info, answer) for info, answer in zip(spoilt, answers) if answer != "bad"]
    assert 50 < len(taken) < len(spoilt) - 50
    theirs = osprofiler([("unpack", info, signature(info, "k"), ["k"]) for info, _ in taken])
    for (info, answer), their in zip(taken, theirs):
        base, parent = answer.split()
        assert their is not None, info
        assert (hexed(their["base_id"]), hexed(their.get("parent_id") or None)) == (base, parent)


def signature(info, key):
    return hmac.new(key.encode(), info.encode(), hashlib.sha1).hexdigest()


# ---- a service ----


def serve(command, argument, *requests, check=True, **kw):
    """The service's answers to requests (dicts of headers): a dict each; and all that it printed besides."""
    text = "".join("".join(f"{name}: {value}\n" for name, value in request.items()) + "\n" for request in requests)
    done = run([SERVICE, command, argument], input=text, check=check, **kw)
    answers, facts, now = [], {}, None
    for line in done.stdout.splitlines():
        key, _, value = line.partition(" ")
        if key == "answer":
            now = {"answer": value, "out": {}}
            answers.append(now)
        elif key == "end":
            now = None
        elif now is None:
            facts[key] = value
        elif key == "out":
            name, _, value = value.partition(": ")
            now["out"][name] = value
        else:
            now[key] = value
    return answers, facts, done


def test_there_and_back(osprofiler):
    """osprofiler calls a C service, which calls osprofiler: one trace, each the child of the one before, the same key all the way."""
    [sent] = osprofiler([("headers", "second", BASE, PARENT)])
    [answer], facts, _ = serve("keys", "first, second", sent)
    assert (answer["answer"], answer["base"], answer["span"]) == ("traced", BASE, PARENT)
    assert facts["rejected"] == "0"
    out = answer["out"]
    version, trace, span, flags = out["traceparent"].split("-")
    [seen, wrong, contents] = osprofiler([("serve", "second", out), ("serve", "first", out),
                                          ("unpack", out["X-Trace-Info"], out["X-Trace-HMAC"], ["first", "second"])])
    assert seen["base"] == BASE and wrong["base"] is None
    assert contents["hmac_key"] == "second" and contents["base_id"] == BASE
    assert contents["parent_id"] not in (BASE, PARENT)
    # One mapping of ids for both kinds of headers.
    assert (version, trace, flags) == ("00", BASE.replace("-", ""), "01")
    assert span == contents["parent_id"].replace("-", "")[16:]


def test_what_osprofiler_refuses(osprofiler):
    [sent] = osprofiler([("headers", "secret_word", BASE, PARENT)])
    info, mac = sent["X-Trace-Info"], sent["X-Trace-HMAC"]
    extra = signs_of({"base_id": BASE, "parent_id": PARENT, "sampled": True})
    bad = [{"X-Trace-Info": info, "X-Trace-HMAC": "0" * 40}, {"X-Trace-Info": info, "X-Trace-HMAC": mac.upper()},
           {"X-Trace-Info": info[:-4], "X-Trace-HMAC": mac}, {"X-Trace-Info": info}, {"X-Trace-HMAC": mac}, extra]
    theirs = osprofiler([("serve", "secret_word", headers) for headers in bad])
    assert all(seen["base"] is None for seen in theirs)
    # Those it dies of or carries on with are refused too.
    bad += [{"X-Trace-Info": info, "X-Trace-HMAC": "\xe9" * 40}, {"X-Trace-Info": "\xff" + info, "X-Trace-HMAC": mac},
            signs_of({"base_id": 5}), signs_of({"base_id": [BASE]}), signs_of({"base_id": BASE, "parent_id": {"a": []}}), signs_of([BASE]),
            signs_of({"base_id": "x" * 9000})]
    answers, facts, done = serve("keys", "secret_word", *bad, {}, {"X-Trace-Info": info, "X-Trace-HMAC": f"  {mac} "})
    assert [answer["answer"] for answer in answers] == ["rejected"] * len(bad) + ["none", "traced"]
    assert all(not answer["out"] and "base" not in answer for answer in answers[:-1])
    assert facts["rejected"] == str(len(bad))
    assert len(done.stderr.splitlines()) == 1 and "served untraced" in done.stderr


def signs_of(contents):
    info = base64.urlsafe_b64encode(json.dumps(contents).encode()).decode()
    return {"X-Trace-Info": info, "X-Trace-HMAC": signature(info, "secret_word")}


def test_w3c_only_where_nobody_asks_for_a_secret():
    headers = {"traceparent": "00-" + BASE.replace("-", "") + "-af18d6c92f991f46-01", "tracestate": "vendor=1"}
    [dormant], _, _ = serve("keys", "secret_word", headers)
    assert dormant == {"answer": "none", "out": {}}
    [open_one], _, _ = serve("keys", "-", headers)
    assert open_one["answer"] == "traced" and open_one["base"] == BASE
    assert sorted(open_one["out"]) == ["traceparent", "tracestate"]
    assert open_one["out"]["tracestate"] == "vendor=1"
    [unsampled], _, _ = serve("keys", "-", {"traceparent": headers["traceparent"][:-1] + "0"})
    assert unsampled == {"answer": "none", "out": {}}


# ---- the two files ----


@pytest.fixture
def mistral(tmp_path):
    """The seed's files as they are, with another folder for /tmp."""
    for name in ("mistral.conf", "wf_trace_logging.conf"):
        with open(os.path.join(FIXTURES, name)) as file:
            (tmp_path / name).write_text(file.read().replace("/tmp/", f"{tmp_path}/"))
    return tmp_path


START = re.compile(rf"\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{6}} {{10}}({UUID}) ({UUID}) ({UUID}) (\S+)-start\Z")
STOP = re.compile(rf"\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{6}} (\d\S*) ({UUID}) ({UUID}) ({UUID}) (\S+)-stop(  <- !!!)?\Z")


def test_seed_files(mistral):
    sent = signs_of({"base_id": BASE, "parent_id": PARENT})
    answers, facts, done = serve("conf", mistral / "mistral.conf", sent, {}, cwd="/")
    assert (facts["enabled"], facts["connection_string"], facts["lost"]) == ("1", "messaging://", "0")
    assert done.stderr == ""
    lines = (mistral / "mistral_osprofile.log").read_text().splitlines()
    starts = [START.match(line) for line in lines[:2]]
    stops = [STOP.match(line) for line in lines[2:]]
    assert len(lines) == 4 and all(starts) and all(stops), lines
    outer, inner = (match.groups() for match in starts)
    assert outer[:2] == (BASE, PARENT) and outer[3] == "engine-start-workflow"
    assert inner[:2] == (BASE, outer[2]) and inner[3] == "workflow-start"
    assert [match.group(2, 3, 4, 5) for match in stops] == [inner, outer]
    assert all(repr(float(match.group(1))) == match.group(1) for match in stops)
    # The untraced request left nothing; the traced one sends its innermost span on.
    info = answers[0]["out"]["X-Trace-Info"]
    assert signs("unpack", [info]) == [f"{hexed(BASE)} {hexed(inner[2])}"]

    # The logger propagates, so that the root's file has the same lines in its own form.
    root = (mistral / "mistral.log").read_text().splitlines()
    form = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} \d+ INFO service \[-\] (.*)")
    assert [form.fullmatch(line).group(1) for line in root] == lines
    assert not (mistral / "mistral_wf_trace.log").exists()

    ranked = run([VENTURI, "rank", mistral / "mistral_osprofile.log"]).stdout
    assert "engine-start-workflow" in ranked and "workflow-start" in ranked


def test_lines_are_in_the_form_of_the_seed():
    """The patterns above fit the lines that the seed shows."""
    seed = ["2020-02-27T08:04:25.954502          f12e75d5-5d59-4cbc-b74d-357f19290dd7 603f1fab-be78-438d-af13-d94ed3b7e416 "
            "b1d0a77a-52f5-4415-a6c4-f16b3591a47d workflow-set-state-start",
            "2020-02-27T08:04:25.961298 0.006782 f12e75d5-5d59-4cbc-b74d-357f19290dd7 603f1fab-be78-438d-af13-d94ed3b7e416 "
            "b1d0a77a-52f5-4415-a6c4-f16b3591a47d workflow-set-state-stop"]
    assert START.match(seed[0]) and STOP.match(seed[1])


def test_same_as_python_logging(mistral):
    """Python's own logging with the same file writes what we write, where and in the form that we do."""
    serve("conf", mistral / "mistral.conf", signs_of({"base_id": BASE}))
    ours = {name: (mistral / name).read_text().splitlines() for name in ("mistral_osprofile.log", "mistral.log")}
    for name in ours:
        os.remove(mistral / name)
    script = ("import logging, logging.config, sys\nlogging.config.fileConfig(sys.argv[1])\n"
              "for line in sys.stdin: logging.getLogger('profiler_trace').info(line[:-1])")
    run([sys.executable, "-c", script, mistral / "wf_trace_logging.conf"], input="".join(line + "\n" for line in ours["mistral_osprofile.log"]))
    plain = re.compile(r"^\S+ \S+ \d+ INFO \S+ ")  # when, which thread and which module differ
    for name, lines in ours.items():
        theirs = (mistral / name).read_text().splitlines()
        assert [plain.sub("", line) for line in theirs] == [plain.sub("", line) for line in lines] and len(lines) == 4


def test_all_settings(tmp_path):
    (tmp_path / "a.conf").write_text(
        "# a comment\n[DEFAULT]\ndebug = True\n\n[profiler]\nprofiler_enabled: yes\nhmac_keys = one,\n    secret_word\n"
        'connection_string = "redis://localhost:6379"\nfilter_error_trace = on\ntrace_sqlalchemy=1\ntrace_requests = TRUE\n'
        "es_doc_type = d\nes_scroll_time = 5m\nes_scroll_size = 77\nsocket_timeout = 2.5\nsentinel_service_name = s\n"
        "profiler_log_name = other\nnonsense = 1\n[profiler_otlp]\nservice_name_prefix = p\n")
    [answer], facts, done = serve("conf", tmp_path / "a.conf", signs_of({"base_id": BASE}))
    assert answer["answer"] == "traced"
    facts.pop("rejected"), facts.pop("lost")
    assert facts == {"enabled": "1", "filter_error_trace": "1", "trace_sqlalchemy": "1", "trace_requests": "1",
                     "connection_string": "redis://localhost:6379", "es_doc_type": "d", "es_scroll_time": "5m", "es_scroll_size": "77",
                     "socket_timeout": "2.5", "sentinel_service_name": "s", "profiler_log_name": "other"}
    assert done.stderr == f"venturi: {tmp_path}/a.conf: [profiler] nonsense is not known here\n"


def test_not_enabled_stays_dormant(mistral):
    text = (mistral / "mistral.conf").read_text()
    (mistral / "mistral.conf").write_text(text.replace("enabled = True", "enabled = False"))
    [signed, w3c], _, done = serve("conf", mistral / "mistral.conf", signs_of({"base_id": BASE}),
                                   {"traceparent": "00-" + BASE.replace("-", "") + "-af18d6c92f991f46-01"})
    assert signed["answer"] == w3c["answer"] == "none"
    assert not (mistral / "mistral_osprofile.log").exists() and done.stderr == ""


def test_no_public_secret(mistral):
    """osprofiler's default key is a word that everybody knows; here nobody gets in without one of the service's own."""
    (mistral / "mistral.conf").write_text("[profiler]\nenabled = True\n")
    info = signs_of({"base_id": BASE})["X-Trace-Info"]
    [answer], _, done = serve("conf", mistral / "mistral.conf", {"X-Trace-Info": info, "X-Trace-HMAC": signature(info, "SECRET_KEY")})
    assert answer["answer"] == "none" and "no hmac_keys" in done.stderr


@pytest.mark.parametrize("change, message", [
    (("enabled = True", "enabled = maybe"), "mistral.conf: [profiler] enabled has to be True or False"),
    (("hmac_keys = secret_word", "hmac_keys = secret_word\nes_scroll_size = many"), "[profiler] es_scroll_size has to be a whole number"),
    (("[profiler]", "[profiler"), "mistral.conf: line 4: a section without ]"),
    (("wf_trace_logging.conf", "none.conf"), "none.conf: cannot open: No such file or directory"),
])
def test_bad_files(mistral, change, message):
    text = (mistral / "mistral.conf").read_text()
    assert change[0] in text
    (mistral / "mistral.conf").write_text(text.replace(*change))
    _, _, done = serve("conf", mistral / "mistral.conf", {}, check=False)
    assert done.returncode == 2 and done.stderr.endswith(message + "\n") and "secret_word" not in done.stderr


@pytest.mark.parametrize("number", ["inf", "nan", "-1", "1e999", ""])
def test_seconds_are_a_number(tmp_path, number):
    (tmp_path / "a.conf").write_text(f"[profiler]\nsocket_timeout = {number}\n")
    _, _, done = serve("conf", tmp_path / "a.conf", {}, check=False)
    assert done.returncode == 2 and done.stderr.endswith("[profiler] socket_timeout has to be a number of seconds\n")


def test_what_is_said_steers_no_terminal(tmp_path):
    """Names that a file has come out without what a terminal obeys."""
    evil = "\x1b[2Jx\x9b1m\x7f"
    (tmp_path / "a.conf").write_text(f"[DEFAULT]\nlog_config_append = log.conf\n[profiler]\nenabled = 1\nhmac_keys = k\n{evil} = 1\n")
    (tmp_path / "log.conf").write_text(
        f"[loggers]\nkeys=root\n[logger_root]\nlevel=INFO\nhandlers={evil}\n[handler_{evil}]\nclass={evil}\n")
    _, _, done = serve("conf", tmp_path / "a.conf", {})
    assert done.stderr.count("?[2Jx??1m?") == 2 and not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", done.stderr), done.stderr
    (tmp_path / "log.conf").write_text(f"[loggers]\nkeys=root\n[logger_root]\nlevel={evil}\n")
    _, _, done = serve("conf", tmp_path / "a.conf", {}, check=False)
    assert done.returncode == 2 and "unknown level '?[2Jx??1m?'" in done.stderr


def test_log_config_of_the_working_directory(mistral):
    os.mkdir(mistral / "etc")
    shutil.move(str(mistral / "mistral.conf"), str(mistral / "etc"))
    serve("conf", "etc/mistral.conf", signs_of({"base_id": BASE}), cwd=mistral)
    assert len((mistral / "mistral_osprofile.log").read_text().splitlines()) == 4


def test_streams_and_foreign_handlers(tmp_path):
    (tmp_path / "a.conf").write_text("[DEFAULT]\nlog_config_append = log.conf\n[profiler]\nenabled = 1\nhmac_keys = secret_word\n")
    (tmp_path / "log.conf").write_text(
        "[loggers]\nkeys=root\n[handlers]\nkeys=out,sys\n[formatters]\nkeys=f\n[logger_root]\nlevel=INFO\nhandlers=out, sys\n"
        "[handler_out]\nclass=StreamHandler\nformatter=f\nargs=(sys.stderr,)\n[handler_sys]\nclass=handlers.SysLogHandler\n"
        "args=('/dev/log', handlers.SysLogHandler.LOG_USER)\n[formatter_f]\nformat=>%(levelname)-6s%(name)s|%(message)s\n")
    _, _, done = serve("conf", tmp_path / "a.conf", signs_of({"base_id": BASE}))
    first, *lines = done.stderr.splitlines()
    assert first == f"venturi: {tmp_path}/log.conf: handler sys is left out: its class is not known here"
    assert len(lines) == 4 and all(line.startswith(">INFO  profiler_trace|20") for line in lines)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_is_not_the_services_problem(mistral):
    text = (mistral / "wf_trace_logging.conf").read_text()
    (mistral / "wf_trace_logging.conf").write_text(text.replace(f"{mistral}/mistral_osprofile.log", "/dev/full"))
    answers, facts, done = serve("conf", mistral / "mistral.conf", *[signs_of({"base_id": BASE})] * 5)
    assert [answer["answer"] for answer in answers] == ["traced"] * 5
    assert facts["lost"] == "20" and done.stderr.count("\n") == 1 and "/dev/full: a line cannot be written: No space left" in done.stderr
    assert len((mistral / "mistral.log").read_text().splitlines()) == 20


PROGRAM = """
#include <venturi/service.h>
#include <stdio.h>

static void add(const char *name, const char *value, void *arg)
{
    (void)value, (void)arg;
    puts(name);
}

int main(void)
{
    vt_keys *keys = vt_keys_new("secret_word");

    vt_context_begin(NULL);
    vt_http_inject(keys, add, NULL);
    vt_keys_free(keys);
    return 0;
}
"""


@pytest.mark.skipif("VENTURI_SANITIZE" in os.environ, reason="a program without a sanitizer cannot link a library with one")
@pytest.mark.parametrize("options, language", [([], "c"), (["-DVT_OFF"], "c"), (["-DVT_OFF"], "c++"), ([], "c++")])
def test_pkg_config(tmp_path, options, language):
    """A program is built with what pkg-config says; with VT_OFF nothing of it is left."""
    compiler = {"c": "cc", "c++": "c++"}[language]
    need("pkg-config", compiler)
    flags = run(["pkg-config", "--cflags", "--libs", "venturi-net"],
                env={**os.environ, "PKG_CONFIG_PATH": os.path.join(BUILD, "meson-uninstalled")}).stdout.split()
    run([compiler, "-x", language, "-Wall", "-Wextra", "-Werror", *options, "-", "-o", tmp_path / "program", "-x", "none", *flags,
         "-Wl,-rpath," + BUILD], input=PROGRAM)
    printed = run([tmp_path / "program"]).stdout.split()
    assert printed == ([] if options else ["traceparent", "X-Trace-Info", "X-Trace-HMAC"])

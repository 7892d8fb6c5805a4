"""A service's files, and the log lines of its trace points. FIXTURES: where the two files of the guide are."""
import contextlib
import logging
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import threading

import kit
from kit import BASE, HMAC, INFO, KEY, PARENT
from venturi import clients, configuration, sql, trace, web

UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}"
START = re.compile(r"%s {10}(%s) (%s) (%s) (.+)-start" % (TIME, UUID, UUID, UUID))
STOP = re.compile(r"%s (\d+\.\d+|\de-0\d|\d\.\d+e-0\d) (%s) (%s) (%s) (.+)-stop" % (TIME, UUID, UUID, UUID))


@contextlib.contextmanager
def folder():
    """An empty one; afterwards logging is as it was."""
    loggers = [logging.getLogger(name) for name in (None, "workflow_trace", "profiler_trace")]
    before = [(logger, logger.level, list(logger.handlers), logger.propagate) for logger in loggers]
    with tempfile.TemporaryDirectory() as path:
        try:
            yield path
        finally:
            for logger, level, handlers, propagate in before:
                for handler in logger.handlers:
                    if handler not in handlers:
                        handler.close()
                logger.level, logger.handlers, logger.propagate = level, handlers, propagate
            logging.getLogger().manager._clear_cache()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def settings(text):
    with folder() as path:
        return configuration.load(write(os.path.join(path, "x.conf"), text))


def guide(path):
    """The guide's two files, with their own folder in the place of /tmp."""
    fixtures = os.environ["FIXTURES"]
    for name in ("mistral.conf", "wf_trace_logging.conf"):
        write(os.path.join(path, name), read(fixtures, name).replace("/tmp/", path + "/"))
    return os.path.join(path, "mistral.conf")


def fails(text):
    try:
        settings(text)
    except configuration.ConfigurationError as error:
        assert "\n" not in str(error) and "x.conf" in str(error), error
        return str(error)
    raise AssertionError(text)


def test_the_guide_s_settings():
    with folder() as path:
        said = configuration.load(guide(path))
        assert (said.enabled, said.hmac_keys) == (True, "secret_word")
        assert said.log_config_append == os.path.join(path, "wf_trace_logging.conf")
        assert said.profiler_log_name == "profiler_trace"


def test_every_setting():
    said = settings("[profiler]\nenabled = yes\ntrace_sqlalchemy: on\ntrace_requests=1\nhmac_keys = 'a, b'\nconnection_string = \"redis://x\"\n"
                    "es_doc_type = d\nes_scroll_time = 3m\nes_scroll_size = 7\nsocket_timeout = 0.25\nsentinel_service_name = s\n"
                    "filter_error_trace = TRUE\nprofiler_log_name = other\nunknown = x\n")
    assert said == configuration.Settings(True, True, True, "a, b", "redis://x", "d", "3m", 7, 0.25, "s", True, "other")


def test_defaults():
    said = settings("")
    assert said == configuration.Settings() and not said.enabled and said.hmac_keys == ""
    assert (said.es_doc_type, said.es_scroll_time, said.es_scroll_size, said.socket_timeout) == ("notification", "2m", 10000, 0.1)
    assert settings("[DEFAULT]\nenabled = true\nhmac_keys = x\n[profiler]\n") == said, "[DEFAULT] is a section as any other"
    assert settings("[profiler]\nprofiler_enabled = true\n").enabled
    assert settings("[profiler]\nenabled = true\nenabled = false\n[profiler]\nenabled = true\n").enabled


def test_values_as_oslo_reads_them():
    assert settings("[DEFAULT]\nword = w\n[profiler]\nes_doc_type = d\nhmac_keys = $word,${es_doc_type},$DEFAULT.word,$$x,\\$y,$none\n"
                    ).hmac_keys == "w,d,w,$x,$y,$none"
    assert settings("# c\n; c\n[profiler]\n# enabled = true\nhmac_keys = a # b\n").hmac_keys == "a # b"
    assert settings("[profiler]\nhmac_keys = a,\n  b\nenabled = no\n").hmac_keys == "a,\nb"
    assert settings("[profiler]\nhmac_keys = \u00e9\n").hmac_keys == "\u00e9"


def test_oslo_reads_the_same():
    from oslo_config import cfg
    from osprofiler import opts
    text = ("[DEFAULT]\nlog_config_append = l.conf\n[profiler]\nenabled = On\nhmac_keys = \"a,b$$c\"\nsocket_timeout = 1e-2\nes_scroll_size = 5\n"
            "trace_sqlalchemy = 0\nconnection_string = redis://$es_doc_type\nes_doc_type = q\n")
    with folder() as path:
        file = write(os.path.join(path, "x.conf"), text)
        conf = cfg.ConfigOpts()
        opts.set_defaults(conf)
        conf(["--config-file", file])
        ours = configuration.load(file)
        for name in ("enabled", "hmac_keys", "socket_timeout", "es_scroll_size", "trace_sqlalchemy", "connection_string", "es_doc_type"):
            assert getattr(ours, name) == getattr(conf.profiler, name), name


def test_what_is_wrong_is_said_in_a_line():
    assert "[profiler] enabled: 'maybe' is no boolean" in fails("[profiler]\nenabled = maybe\n")
    assert "is no number" in fails("[profiler]\nes_scroll_size = many\n")
    for text in ("enabled = true\n", "[profiler]\nno sign of equality\n", "[profiler\nx = y\n", "\0\0\0"):
        fails(text)
    for path in ("/nowhere/at/all", "/"):
        try:
            configuration.load(path)
        except configuration.ConfigurationError as error:
            assert str(error).startswith(path + ": ")
        else:
            raise AssertionError


def test_any_bytes():
    odd = random.Random(4)
    pieces = [b"[profiler]\n", b"[DEFAULT]\n", b"enabled = true\n", b"hmac_keys=", b"\n", b" ", b"=", b"$", b"${", b"'",
              b"\xff", b"\0", b"[", b"]", b"a"]
    with folder() as path:
        file = os.path.join(path, "x.conf")
        for _ in range(400):
            with open(file, "wb") as out:
                out.write(b"".join(odd.choice(pieces) for _ in range(odd.randrange(30))))
            try:
                configuration.load(file)
            except configuration.ConfigurationError as error:
                assert "\n" not in str(error)


def test_the_secret_is_not_shown():
    assert KEY not in repr(configuration.Settings(hmac_keys=KEY))


def test_the_guide_s_logging():
    """Every logger, handler and formatter of the file does what it says; what is there already goes on."""
    existing = logging.getLogger("existing.before")
    with folder() as path:
        console, sys.stdout = sys.stdout, open(os.path.join(path, "console"), "w")
        try:
            configuration.setup(guide(path), project="mistral", service="engine")
            assert not existing.disabled
            logging.getLogger("workflow_trace").info("a task runs")
            logging.getLogger("workflow_trace").debug("not this")
            logging.getLogger("anything").debug("detail")
            logging.getLogger("profiler_trace").info("a line")
        finally:
            sys.stdout.close()
            sys.stdout = console
        assert re.fullmatch(r"\d\d-\d\d-\d\d \d\d:\d\d:\d\d - a task runs\n", read(path, "console"))
        assert re.fullmatch(r"[\d-]+ [\d:,]+ WF \[-\] a task runs\n", read(path, "mistral_wf_trace.log"))
        assert read(path, "mistral_osprofile.log") == "a line\n"
        lines = read(path, "mistral.log").splitlines()
        assert [re.fullmatch(r"[\d-]+ [\d:,]+ \d+ (\w+) \w+ \[-\] (.*)", line).groups() for line in lines] == [
            ("DEBUG", "detail"), ("INFO", "a line")], lines


def engine(environ, start_response):
    with trace.Trace("engine-start-workflow"), trace.Trace("workflow start"):
        pass
    start_response("200 OK", [])
    return []


def request(application, headers):
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/", "wsgi.url_scheme": "http"}
    environ.update({"HTTP_" + name.upper().replace("-", "_"): value for name, value in headers.items()})
    body = application(environ, lambda *args: None)
    if hasattr(body, "close"):
        body.close()


def test_the_guide_s_session():
    """From the two files to the lines, which the tool reads."""
    application = web.WsgiMiddleware(engine)
    with folder() as path:
        configuration.setup(guide(path))
        request(application, {})
        request(application, {"X-Trace-Info": INFO, "X-Trace-HMAC": "0" * 40})
        assert read(path, "mistral_osprofile.log") == ""
        request(application, {"X-Trace-Info": INFO, "X-Trace-HMAC": HMAC})
        lines = read(path, "mistral_osprofile.log").splitlines()
        kinds = [START, START, START, STOP, STOP, STOP]
        found = [kind.fullmatch(line) for kind, line in zip(kinds, lines)]
        assert len(lines) == 6 and all(found), lines
        assert [match.groups()[-1] for match in found] == ["wsgi", "engine-start-workflow", "workflow start", "workflow start",
                                                           "engine-start-workflow", "wsgi"]
        assert found[0].groups()[:2] == (BASE, PARENT) and found[1].groups()[1] == found[0].groups()[2]
        done = subprocess.run([os.environ["TOOL"], "rank", os.path.join(path, "mistral_osprofile.log")], capture_output=True, text=True)
        assert done.returncode == 0 and done.stderr == "", done.stderr
        rows = [line.split(None, 4) for line in done.stdout.splitlines()[2:]]
        assert sorted((row[4], row[3]) for row in rows) == [("engine-start-workflow", "1"), ("workflow start", "1"), ("wsgi", "1")], done.stdout


def test_not_enabled_nothing_is_traced():
    application = web.WsgiMiddleware(engine, hmac_keys=KEY, enabled=True)
    with folder() as path, kit.told() as events:
        configuration.setup(write(os.path.join(path, "x.conf"), "[profiler]\nhmac_keys = secret_word\n"))
        request(application, {"X-Trace-Info": INFO, "X-Trace-HMAC": HMAC})
    assert events == []


def test_enabled_without_a_secret_stays_dormant():
    with folder() as path, kit.told() as events:
        configuration.setup(write(os.path.join(path, "x.conf"), "[profiler]\nenabled = true\n"))
        request(web.WsgiMiddleware(engine), {"X-Trace-Info": INFO, "X-Trace-HMAC": HMAC})
    assert events == []


def test_hooks_that_are_asked_for():
    before = clients._is_on
    with folder() as path:
        configuration.setup(write(os.path.join(path, "x.conf"), "[profiler]\nenabled = true\ntrace_requests = true\ntrace_sqlalchemy = true\n"))
        assert not before and clients._is_on and sql._is_on
        kit.reset()
        configuration.setup(write(os.path.join(path, "x.conf"), "[profiler]\nenabled = true\n"))
        assert not clients._is_on and not sql._is_on


def test_stores_that_are_not_there():
    with folder() as path, kit.logged("venturi.configuration") as messages:
        file = write(os.path.join(path, "x.conf"), "[profiler]\nenabled = true\nconnection_string = mongodb://:password@host\n")
        configuration.setup(file)
    assert len(messages) == 1 and "mongodb://" in messages[0] and "password" not in messages[0], messages


def test_stores_that_are_not_there_are_said_with_what_to_do():
    with folder() as path, kit.logged("venturi.configuration") as messages:
        configuration.setup(write(os.path.join(path, "x.conf"), "[profiler]\nenabled = true\nconnection_string = messaging://\n"))
    assert len(messages) == 1 and "messaging://" in messages[0] and "connection_string = log://" in messages[0], messages


def test_keys_that_are_not_known_are_named():
    text = "[profiler]\nenabled = no\nhmac_key = secret\nprofiler_enabled = no\nEnabled = yes\n[other]\nunknown = x\n"
    with kit.logged("venturi.configuration") as messages:
        said = settings(text)
    assert not said.enabled and len(messages) == 2, messages
    assert all(message.endswith("x.conf: [profiler] %s is not known here" % key) for message, key in zip(messages, ("hmac_key", "Enabled"))), messages
    with kit.logged("venturi.configuration") as messages:
        settings("[profiler]\n" + "".join("%s = 1\n" % name for name in vars(configuration.Settings()) if name != "log_config_append"))
    assert messages == []


def test_spans_that_nobody_receives():
    """Said once, with what to do; not where they go to a log, or are not wanted."""
    enabled = "[profiler]\nenabled = true\nhmac_keys = secret_word\n"
    with folder() as path, kit.logged("venturi.configuration") as messages:
        configuration._is_said = False
        configuration.setup(guide(path))
        configuration.setup(write(os.path.join(path, "x.conf"), enabled + "connection_string = none://\n"))
        configuration.setup(write(os.path.join(path, "x.conf"), enabled.replace("true", "false")))
        assert messages == []
    with folder() as path, kit.logged("venturi.configuration") as messages:
        for _ in range(2):
            configuration.setup(write(os.path.join(path, "x.conf"), enabled))
        assert len(messages) == 1 and "venturi run" in messages[0] and "log_config_append" in messages[0], messages


def test_spans_that_are_recorded_are_received():
    code = "from venturi import configuration; configuration.setup('x.conf')"
    with folder() as path:
        write(os.path.join(path, "x.conf"), "[profiler]\nenabled = true\nhmac_keys = secret_word\n")
        write(os.path.join(path, "program.py"), code)
        for command in ([], [os.environ["TOOL"], "run", "-q", "-f", "-o", "out.vt"]):
            done = subprocess.run(command + [sys.executable, "program.py"], cwd=path, capture_output=True, text=True)
            assert done.returncode == 0 and ("nobody" in done.stderr) == (not command), (command, done.stderr)


def test_logging_files_that_are_wrong():
    with folder() as path:
        for text in (None, "", "[loggers]\nkeys=root\n", "[loggers]\nkeys=root\n[handlers]\nkeys=h\n[formatters]\nkeys=\n[logger_root]\nhandlers=h\n"
                                                         "[handler_h]\nclass=FileHandler\nargs=('/nowhere/at/all',)\n"):
            if text is not None:
                write(os.path.join(path, "log.conf"), text)
            file = write(os.path.join(path, "x.conf"), "[DEFAULT]\nlog_config_append = log.conf\n")
            try:
                configuration.setup(file)
            except configuration.ConfigurationError as error:
                assert "log.conf" in str(error) and "\n" not in str(error)
            else:
                raise AssertionError(text)


def test_logging_files_that_want_to_exit():
    text = ("[loggers]\nkeys=root\n[handlers]\nkeys=h\n[formatters]\nkeys=\n[logger_root]\nhandlers=h\n[handler_h]\nclass=StreamHandler\n"
            "args=(exit(3),)\n")
    with folder() as path:
        write(os.path.join(path, "log.conf"), text)
        try:
            configuration.setup(write(os.path.join(path, "x.conf"), "[DEFAULT]\nlog_config_append = log.conf\n"))
        except configuration.ConfigurationError as error:
            assert "log.conf" in str(error) and "SystemExit: 3" in str(error) and "\n" not in str(error), error
        else:
            raise AssertionError


def test_files_with_a_byte_order_mark():
    assert settings("\ufeff[profiler]\nhmac_keys = \u00e9\n").hmac_keys == "\u00e9"
    with folder() as path:
        write(os.path.join(path, "log.conf"), "\ufeff" + read(os.environ["FIXTURES"], "wf_trace_logging.conf").replace("/tmp/", path + "/"))
        configuration.setup(write(os.path.join(path, "x.conf"), "[DEFAULT]\nlog_config_append = log.conf\n"))
        logging.getLogger("profiler_trace").info("a line")
        assert read(path, "mistral_osprofile.log") == "a line\n"


def test_paths_of_every_kind():
    with folder() as path:
        file = write(os.path.join(path, "x.conf"), "[DEFAULT]\nlog_config_append = log.conf\n[profiler]\nhmac_keys = a\n")
        write(os.path.join(path, "log.conf"), "")
        for kind in (file, os.fsencode(file), pathlib.Path(file), pathlib.PurePath(file)):
            said = configuration.load(kind)
            assert (said.hmac_keys, said.log_config_append) == ("a", os.path.join(path, "log.conf")), kind
        for bad in (b"/nowhere/at/all", "/nowhere\0", pathlib.Path("/nowhere")):
            try:
                configuration.setup(bad)
            except configuration.ConfigurationError as error:
                assert str(error).startswith("/nowhere"), error
            else:
                raise AssertionError(bad)


def test_what_is_not_needed_is_not_loaded():
    """http.client and logging.config take longer to load than all of ours."""
    for names in ("trace, propagation, web, sql, configuration", "compat.osprofiler.initializer, compat.osprofiler.opts"):
        code = "import sys\nsys.modules['oslo_config'] = None\n" + "".join("import venturi.%s\n" % name for name in names.split(", ")) + \
               "print([name for name in ('http.client', 'logging.config', 'requests', 'sqlalchemy') if name in sys.modules])"
        done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True)
        assert done.stdout == "[]\n", done.stdout + done.stderr
    code = "import sys, venturi.trace; print('venturi.propagation' in sys.modules, 'json' in sys.modules)"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True)
    assert done.stdout == "False False\n", done.stdout + done.stderr


def lines(notifier, *payloads):
    with kit.logged("profiler_trace") as messages:
        logging.getLogger("profiler_trace").setLevel(logging.INFO)
        for payload in payloads:
            notifier(payload)
    return messages


def payload(name, info=None, span="t1"):
    return {"name": name, "base_id": "b", "trace_id": span, "parent_id": "p", "timestamp": "2020-02-27T08:04:25.961298", "info": info or {}}


class Clock:
    """monotonic_ns() that says what it is told."""

    def __init__(self, *values):
        self.values = list(values)

    def monotonic_ns(self):
        return self.values.pop(0)


def timed(*values):
    configuration.time, before = Clock(0, values[0]), configuration.time
    try:
        return lines(configuration.LogNotifier(), payload("x-start"), payload("x-stop"))[1]
    finally:
        configuration.time = before


def test_durations_are_written_as_in_the_guide():
    for nanoseconds, text in ((6782000, "0.006782"), (17000, "1.7e-05"), (5999, "5e-06"), (0, "0.0"), (100000000, "0.1"), (500000000, "0.5"),
                              (267000, "0.000267")):
        assert timed(nanoseconds) == "2020-02-27T08:04:25.961298 %s b p t1 x-stop" % text
    assert timed(500001000) == "2020-02-27T08:04:25.961298 0.500001 b p t1 x-stop  <- !!!"
    assert timed(1234567891000) == "2020-02-27T08:04:25.961298 1234.567891 b p t1 x-stop  <- !!!"


def test_sql_in_a_line():
    error = {"db": {"original_exception": "e\n", "chained_exception": ""}, "etype": "X", "message": "e"}
    said = lines(configuration.LogNotifier(), payload("db-start", {"db": {"statement": "SELECT\n1", "params": {"p": "secret"}}}),
                 payload("db-stop", {"db": {"params": 1}}), payload("db-start", {"db": {"statement": "\u00e9"}}), payload("db-stop", error))
    assert said[0] == '2020-02-27T08:04:25.961298          b p t1 db-start {"statement": "SELECT\\n1"}'
    assert said[1].endswith("db-stop") and said[2].endswith('db-start {"statement": "\\u00e9"}')
    assert said[3].endswith('db-stop {"original_exception": "e\\n", "chained_exception": ""}')


def test_lines_stay_lines():
    said = lines(configuration.LogNotifier(), payload("a\nb\r\u2028-start", span="x\ny"), payload("%s %d-start"))
    assert [len(line.splitlines()) for line in said] == [1, 1], said
    assert said[0].endswith("x y a b  -start") and said[1].endswith(" %s %d-start"), said


def test_stop_on_another_thread():
    notifier = configuration.LogNotifier()
    lines(notifier, payload("x-start"))
    found = []
    thread = threading.Thread(target=lambda: found.extend(lines(notifier, payload("x-stop"))))
    thread.start()
    thread.join()
    assert len(found) == 1 and found[0].endswith("b p t1 x-stop")


class Stuck:
    """A clock that lets others go on before it says the time."""

    def __init__(self, entered, go):
        self.entered, self.go = entered, go

    def monotonic_ns(self):
        self.entered.set()
        self.go.wait(20)
        return 0


def test_a_forked_child_writes_lines():
    """Whatever the parent's threads were about, and what they had open is not the child's."""
    notifier = configuration.LogNotifier()
    lines(notifier, payload("x-start", span="parent"))
    clock = configuration.time

    def write_slowly(entered, go):
        configuration.time = Stuck(entered, go)
        lines(notifier, payload("x-start", span="thread"))

    def in_the_child():
        configuration.time = clock
        said = lines(notifier, payload("x-stop", span="parent"), payload("x-start"), payload("x-stop"))
        return [line.rpartition(" ")[2] for line in said] == ["x-start", "x-stop"]
    try:
        with kit.another_thread(write_slowly):
            assert kit.in_a_child(in_the_child)
    finally:
        configuration.time = clock
    assert len(lines(notifier, payload("x-stop", span="parent"))) == 1


def test_lines_within_lines():
    """As the handler of a signal writes them, or a span that the garbage collector ends."""
    notifier = configuration.LogNotifier()
    said = []

    class Interrupted:
        def monotonic_ns(self):
            configuration.time = clock
            said.extend(lines(notifier, payload("inner-start", span="i"), payload("inner-stop", span="i")))
            return 0

    def run():
        configuration.time = Interrupted()
        return len(lines(notifier, payload("x-start"))) == 3 and len(said) == 2
    clock = configuration.time
    assert kit.in_a_child(run)


def test_many_threads_at_the_limit():
    configuration._MAX_OPEN, before = 3, configuration._MAX_OPEN
    failures = []

    def write_many(number):
        try:
            for count in range(300):
                notifier(payload("x-start", span="%d %d" % (number, count)))
        except BaseException as error:
            failures.append(error)
    try:
        notifier = configuration.LogNotifier()
        with kit.logged("profiler_trace") as messages:
            logging.getLogger("profiler_trace").setLevel(logging.INFO)
            threads = [threading.Thread(target=write_many, args=(number,)) for number in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert failures == [] and len(messages) == 1200 and len(notifier._started) <= 3 + len(threads)
    finally:
        configuration._MAX_OPEN = before


def test_stop_without_start():
    assert lines(configuration.LogNotifier(), payload("x-stop")) == []


def test_spans_that_never_stop_do_not_fill_the_memory():
    configuration._MAX_OPEN, before = 10, configuration._MAX_OPEN
    try:
        notifier = configuration.LogNotifier()
        lines(notifier, *(payload("x-start", span=str(number)) for number in range(100)))
        assert len(notifier._started) == 10
        assert len(lines(notifier, payload("x-stop", span="0"), payload("x-stop", span="99"))) == 1
    finally:
        configuration._MAX_OPEN = before


def test_a_logger_that_is_off_costs_no_line():
    logging.getLogger("profiler_trace").setLevel(logging.ERROR)
    notifier = configuration.LogNotifier()
    notifier(payload("x-start"))
    assert notifier._started == {}

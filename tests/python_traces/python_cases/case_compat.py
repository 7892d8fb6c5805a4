"""What programs for osprofiler do with it. PROFILER names the package: the real one or ours; each case holds for both, test_ours_…
for ours alone: they say what the real one does."""
import importlib
import importlib.util
import inspect
import os
import uuid
from unittest import mock

import kit
import mistral_like
from kit import BASE, HMAC, INFO, KEY, PARENT

PACKAGE = os.environ["PROFILER"]
IS_OURS = PACKAGE != "osprofiler"
MODULES = ("_utils", "exc", "initializer", "notifier", "opts", "profiler", "requests", "sqlalchemy", "web", "drivers.base")
_utils, exc, initializer, notifier, opts, profiler, requests, sqlalchemy, web, base = (
    importlib.import_module(PACKAGE + "." + name) for name in MODULES)
HAS_OSLO = importlib.util.find_spec("oslo_config") is not None


def told(function):
    """What the notifier is told while the function runs in a trace."""
    events = []
    notifier.set(events.append)
    profiler.clean()
    try:
        profiler.init(KEY, base_id=BASE, parent_id=PARENT)
        function()
    finally:
        profiler.clean()
        notifier.set(notifier._noop_notifier)
    return events


def test_osprofiler_is_not_needed():
    if os.environ.get("ALONE"):
        for name in ("osprofiler", "oslo_config", "oslo_utils", "webob"):
            assert importlib.util.find_spec(name) is None, name


def test_names_and_signatures():
    """Every public name of the real modules is there, and can be called in the same way."""
    expected = {
        "profiler": {"init": "hmac_key base_id parent_id", "get": "", "clean": "", "start": "name info", "stop": "info",
                     "trace": "name info hide_args hide_result allow_multiple_trace",
                     "trace_cls": "name info hide_args hide_result trace_private allow_multiple_trace trace_class_methods trace_static_methods"},
        "notifier": {"set": "notifier", "get": "", "notify": "info", "create": "connection_string args kwargs", "clear_notifier_cache": ""},
        "web": {"enable": "hmac_keys", "disable": "", "get_trace_id_headers": ""},
        "initializer": {"init_from_conf": "conf context project service host kwargs"},
        "opts": {"set_defaults": "conf enabled trace_sqlalchemy hmac_keys connection_string es_doc_type es_scroll_time es_scroll_size "
                                 "socket_timeout sentinel_service_name",
                 "is_trace_enabled": "conf", "is_db_trace_enabled": "conf", "enable_web_trace": "conf", "disable_web_trace": "conf",
                 "list_opts": ""},
        "_utils": {"split": "text strip", "signed_pack": "data hmac_key", "signed_unpack": "data hmac_data hmac_keys",
                   "generate_hmac": "data hmac_key", "shorten_id": "span_id", "itersubclasses": "cls _seen"},
        "sqlalchemy": {"enable": "", "disable": ""},
        "requests": {"enable": ""},
        "drivers.base": {"get_driver": "connection_string args kwargs"},
    }
    for module, names in expected.items():
        for name, parameters in names.items():
            function = getattr(importlib.import_module(PACKAGE + "." + module), name)
            try:
                found = list(inspect.signature(function).parameters)
            except ValueError:
                continue  # one of C; the other cases call it
            assert found == parameters.split(), (module, name, found)
    assert list(inspect.signature(sqlalchemy.add_tracing).parameters)[:4] == ["sqlalchemy", "engine", "name", "hide_result"]
    assert len(inspect.signature(sqlalchemy.wrap_session).parameters) == 2
    assert (web.X_TRACE_INFO, web.X_TRACE_HMAC) == ("X-Trace-Info", "X-Trace-HMAC")
    assert isinstance(exc.CommandError("x"), Exception) and str(exc.CommandError("x")) == "x"


def test_payload():
    def run():
        profiler.start("rpc", info={"a": 1})
        profiler.stop(info={"b": 2})
    start, stop = told(run)
    assert list(start) == ["name", "base_id", "trace_id", "parent_id", "timestamp", "info"] == list(stop)
    assert (start["name"], stop["name"]) == ("rpc-start", "rpc-stop")
    assert (start["base_id"], start["parent_id"]) == (BASE, PARENT) and start["trace_id"] == stop["trace_id"]
    assert str(uuid.UUID(start["trace_id"])) == start["trace_id"] and uuid.UUID(start["trace_id"]).version == 4
    assert len(start["timestamp"]) == 26 and start["info"]["a"] == 1 and stop["info"]["b"] == 2 and stop["info"]["host"]


def test_ids():
    one = profiler.init(KEY, BASE, PARENT)
    assert (one.get_base_id(), one.get_parent_id(), one.get_id(), one.hmac_key) == (BASE, BASE, PARENT, KEY)
    assert profiler.get() is one and profiler.init("other") is one
    one.start("x")
    assert one.get_parent_id() == PARENT and one.get_id() not in (BASE, PARENT)
    one.stop()
    assert one.get_id() == PARENT
    profiler.clean()
    assert profiler.get() is None
    root = profiler.init(KEY)
    assert root.get_base_id() == root.get_id() == root.get_parent_id()
    assert root.get_shorten_id(BASE) == "b74d357f19290dd7" and root.get_shorten_id((1 << 70) + 10) == "a"
    profiler.clean()


def test_start_and_stop_without_a_trace():
    profiler.clean()
    profiler.start("x")
    profiler.stop()
    profiler.stop({"a": 1})
    with profiler.Trace("x"):
        assert profiler.get() is None


def test_one_stop_too_many():
    def run():
        profiler.start("x")
        profiler.stop()
        try:
            profiler.stop()
        except IndexError:
            assert not IS_OURS  # osprofiler before 4.4
    assert len(told(run)) == 2


def test_decorator():
    @profiler.trace("point", info={"extra": 1}, hide_result=False)
    def f(a, b=2):
        "doc"
        return [a, b]
    assert f.__name__ == "f" and f.__doc__ == "doc" and f.__traced__ == 1
    start, stop = told(lambda: f(1, b="x"))
    assert start["info"]["function"] == {"name": __name__ + ".test_decorator.<locals>.f", "args": "(1,)", "kwargs": "{'b': 'x'}"}
    assert start["info"]["extra"] == 1 and stop["info"]["function"] == {"result": "[1, 'x']"}
    hidden = profiler.trace("point", hide_args=True)(f.__wrapped__)
    assert list(told(lambda: hidden(1))[0]["info"]["function"]) == ["name"]
    try:
        profiler.trace("again", allow_multiple_trace=False)(f)
    except ValueError:
        pass
    else:
        raise AssertionError


class Odd(Exception):
    pass


def test_errors():
    @profiler.trace("point")
    def f():
        raise Odd("boom", 5)

    def run():
        for kind in (f, g):
            try:
                kind()
            except (Odd, ValueError):
                pass

    def g():
        with profiler.Trace("with"):
            raise ValueError("x\u00e9")
    ends = [event["info"] for event in told(run) if event["name"].endswith("-stop")]
    assert (ends[0]["etype"], ends[0]["message"]) == ("case_compat.Odd", "('boom', 5)")
    assert (ends[1]["etype"], ends[1]["message"]) == ("ValueError", "x\u00e9")


def test_ours_interrupts_are_errors_too():
    """osprofiler: KeyboardInterrupt of a decorated function is no error."""

    @profiler.trace("point")
    def f():
        raise KeyboardInterrupt

    def run():
        try:
            f()
        except KeyboardInterrupt:
            pass
    assert told(run)[1]["info"]["etype"] == "KeyboardInterrupt"


def test_ours_events_are_not_rewritten():
    """osprofiler: all events of a function share one dict."""

    @profiler.trace("point")
    def f(a):
        pass
    events = told(lambda: (f(1), f(2)))
    assert [event["info"]["function"]["args"] for event in events[::2]] == ["(1,)", "(2,)"]


def test_metaclass_wants_a_name():
    try:
        profiler.TracedMeta("C", (), {})
    except TypeError as error:
        assert "__trace_args__" in str(error)
    else:
        raise AssertionError


def test_signed_texts():
    data, signature = _utils.signed_pack({"base_id": BASE, "parent_id": PARENT}, KEY)
    assert (data, signature) == (INFO.encode(), HMAC)
    assert _utils.signed_pack({"some": "data"}, None)[1] is None
    assert _utils.signed_unpack(INFO, HMAC, ["other", KEY]) == {"base_id": BASE, "parent_id": PARENT, "hmac_key": KEY}
    assert _utils.signed_unpack(*_utils.signed_pack({"some": "data"}, "k"), ["k"]) == {"some": "data", "hmac_key": "k"}
    for bad in ((INFO, "0" * 40, [KEY]), (INFO, HMAC, None), (None, HMAC, [KEY]), (INFO, " ", [KEY]), (INFO, HMAC.upper(), [KEY])):
        assert _utils.signed_unpack(*bad) is None
    assert _utils.split("a, b,,c ,") == ["a", "b", "c"] and _utils.split(("a",)) == ("a",) and _utils.split("a, b", strip=False) == ["a", " b"]
    assert _utils.binary_decode(_utils.binary_encode("\u00e9")) == "\u00e9"
    for function in (_utils.split, _utils.binary_encode, _utils.binary_decode):
        try:
            function(5)
        except TypeError:
            pass
        else:
            raise AssertionError


def test_ours_signatures_that_are_not_ascii():
    """osprofiler: TypeError."""
    assert _utils.signed_unpack(INFO, "\u00e9", [KEY]) is None


def test_short_ids():
    assert _utils.shorten_id("4e3e0ec6-2938-40b1-8504-09eb1d4b0dee") == 9584796812364680686
    assert _utils.shorten_id((1 << 64) + 3) == 3
    assert _utils.uuid_to_int128(BASE) == uuid.UUID(BASE).int


def test_ours_odd_ids_keep_their_links():
    """osprofiler: another number each time."""
    assert _utils.shorten_id("odd") == _utils.shorten_id("odd") != _utils.shorten_id("even")


def test_headers():
    assert web.get_trace_id_headers() == {}
    profiler.init(KEY, BASE, PARENT)
    try:
        headers = {name: value if isinstance(value, str) else value.decode() for name, value in web.get_trace_id_headers().items()}
        assert headers == {"X-Trace-Info": INFO, "X-Trace-HMAC": HMAC}
    finally:
        profiler.clean()
    profiler.init(None, BASE)
    assert web.get_trace_id_headers() == {}
    profiler.clean()


def serve(middleware, headers):
    environ = {"REQUEST_METHOD": "GET", "SCRIPT_NAME": "", "PATH_INFO": "/p", "QUERY_STRING": "q=1", "wsgi.url_scheme": "http",
               "SERVER_NAME": "x", "SERVER_PORT": "80", "HTTP_HOST": "x"}
    environ.update({"HTTP_" + name.upper().replace("-", "_"): value for name, value in headers.items()})
    said = []
    body = middleware(environ, lambda status, headers, exc_info=None: said.append(status))
    content = b"".join(body)
    if hasattr(body, "close"):
        body.close()
    return said[0], content


def application(environ, start_response):
    with profiler.Trace("inner"):
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [b"ok"]


def watched(function):
    events = []
    notifier.set(events.append)
    try:
        function()
    finally:
        notifier.set(notifier._noop_notifier)
        web._ENABLED = None
    return events


def test_middleware():
    signed = {"X-Trace-Info": INFO, "X-Trace-HMAC": HMAC}
    made = web.WsgiMiddleware.factory({}, hmac_keys="x, " + KEY, enabled=True, other="y")(application)
    assert made.application is application and made.hmac_keys == ["x", KEY] and made.enabled and made.name == "wsgi"

    def run():
        assert serve(made, signed) == ("200 OK", b"ok")
        assert profiler.get() is None
        assert serve(made, {}) == ("200 OK", b"ok")
        assert serve(made, dict(signed, **{"X-Trace-HMAC": "0" * 40})) == ("200 OK", b"ok")
        assert serve(web.WsgiMiddleware(application, KEY), signed) == ("200 OK", b"ok")
        web.disable()
        assert serve(made, signed) == ("200 OK", b"ok")
        web.enable("z")
        assert serve(made, signed) == ("200 OK", b"ok")
        web.enable()
        assert serve(web.WsgiMiddleware(application, KEY), signed) == ("200 OK", b"ok")
    events = watched(run)
    assert kit.shape(events) == [("wsgi", [("inner", [])])] * 2
    assert kit.nodes(events)[0].begin == {"request": {"path": "/p", "query": "q=1", "method": "GET", "scheme": "http"}}
    assert (events[0]["base_id"], events[0]["parent_id"]) == (BASE, PARENT)


def test_notifiers():
    assert notifier.get() is notifier._noop_notifier
    seen = []
    notifier.set(seen.append)
    assert notifier.get() == seen.append
    notifier.notify({"a": 1})
    assert seen == [{"a": 1}]
    notifier.set(notifier._noop_notifier)


class Memory(base.Driver):
    """A driver of somebody's own."""

    @classmethod
    def get_name(cls):
        return "memory"

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.events = []

    def notify(self, info, **kwargs):
        self.events.append(dict(info, project=self.project, service=self.service))


def test_drivers():
    notifier.clear_notifier_cache()
    made = notifier.create("memory://x", project="p", service="s")
    assert notifier.create("memory://x") == made
    made({"a": 1})
    assert made.__self__.events == [{"a": 1, "project": "p", "service": "s"}] and made.__self__.connection_str == "memory://x"
    try:
        base.get_driver("unheard-of://")
    except ValueError:
        pass
    else:
        raise AssertionError
    with kit.logged(PACKAGE + ".notifier") as messages:
        assert notifier.create("unheard-of://") is notifier._noop_notifier
    assert len(messages) == 1
    notifier.clear_notifier_cache()
    for name in ("get_report", "list_error_traces", "list_traces"):
        try:
            getattr(base.Driver("x"), name)(*(["b"] if name == "get_report" else []))
        except NotImplementedError:
            pass
        else:
            raise AssertionError


def test_ours_stores_on_the_network():
    """osprofiler: they are there."""
    for store in ("messaging", "mongodb://:password@host:6379", "jaeger://x", "mysql+pymysql://u:password@h/db"):
        with kit.logged(PACKAGE + ".notifier") as messages:
            assert notifier.create(store) is notifier._noop_notifier and notifier.create(store) is notifier._noop_notifier
        assert len(messages) == 1 and "\n" not in messages[0] and "password" not in messages[0], messages
    assert notifier.create("none://") is not notifier._noop_notifier
    notifier.clear_notifier_cache()


def test_ours_lines_of_a_log():
    """osprofiler: no such driver."""
    import logging
    logging.getLogger("some.logger").setLevel(logging.INFO)
    with kit.logged("some.logger") as messages:
        notifier.set(notifier.create("log://some.logger"))
        profiler.init(KEY, BASE, PARENT)
        with profiler.Trace("point"):
            pass
        profiler.clean()
        notifier.set(notifier._noop_notifier)
    assert len(messages) == 2 and messages[0].endswith("point-start") and messages[1].endswith("point-stop")
    notifier.clear_notifier_cache()


class Session:
    """init_from_conf() with a file, then one traced request; `said`: what the notifier's and the initializer's logs had."""

    def __init__(self, conf, folder, logging_file=None):
        import logging
        names = ("profiler_trace", "other_trace", "workflow_trace")
        loggers = [logging.getLogger(name) for name in names] + [logging.getLogger()]
        before = [(logger, logger.level, list(logger.handlers), logger.propagate) for logger in loggers]
        with open(os.path.join(folder, "service.conf"), "w") as file:
            file.write(conf)
        if logging_file:
            with open(os.path.join(folder, "wf_trace_logging.conf"), "w") as file:
                file.write(logging_file)
        notifier.clear_notifier_cache()
        try:
            with kit.logged(PACKAGE) as self.said:
                initializer.init_from_conf(opts.Conf(os.path.join(folder, "service.conf")), {}, "mistral", "engine", "h")
                assert serve(web.WsgiMiddleware(application), {"X-Trace-Info": INFO, "X-Trace-HMAC": HMAC})[0] == "200 OK"
        finally:
            for logger, level, handlers, propagate in before:
                for handler in logger.handlers:
                    if handler not in handlers:
                        handler.close()
                logger.level, logger.handlers, logger.propagate = level, handlers, propagate
            logging.getLogger().manager._clear_cache()
            notifier.set(notifier._noop_notifier)
            notifier.clear_notifier_cache()
            web.disable()
            web._ENABLED = None
        log = os.path.join(folder, "mistral_osprofile.log")
        self.lines = open(log).read().splitlines() if os.path.exists(log) else []


def fixture(name, folder):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", name)) as file:
        return file.read().replace("/tmp/", folder + "/")


def test_ours_the_guide_s_files():
    """osprofiler: Mistral itself sends its notifications to the log; connection_string is not looked at."""
    import tempfile
    for change in (("", ""), ("profiler_trace", "other_trace")):
        with tempfile.TemporaryDirectory() as folder:
            conf = fixture("mistral.conf", folder)
            if change[0]:
                conf += "profiler_log_name = other_trace\n"
            seen = Session(conf, folder, fixture("wf_trace_logging.conf", folder).replace("qualname=" + change[0], "qualname=" + change[1]))
            assert [line.rpartition(" ")[2] for line in seen.lines] == ["wsgi-start", "inner-start", "inner-stop", "wsgi-stop"], seen.lines
            assert not any("messaging" in message for message in seen.said), seen.said


def test_ours_stores_with_and_without_a_log():
    """osprofiler: they are there."""
    import tempfile
    for store, has_log in (("", False), ("connection_string = mongodb://:password@h\n", False), ("connection_string = mongodb://:password@h\n", True)):
        with tempfile.TemporaryDirectory() as folder:
            conf = fixture("mistral.conf", folder) if has_log else "[profiler]\nenabled = True\nhmac_keys = secret_word\n"
            seen = Session(conf + store, folder, fixture("wf_trace_logging.conf", folder))
            scheme = "mongodb://" if store else "messaging://"
            (message,) = (message for message in seen.said if "not available" in message)
            assert message.count(scheme) == 1 and "connection_string = log://" in message and "password" not in message, message
            assert len(seen.lines) == (4 if has_log else 0)


def test_ours_a_notifier_that_fails():
    """osprofiler: the exception reaches the program."""

    def fail(payload):
        raise OSError("no network")
    notifier.set(fail)
    with kit.logged("venturi.trace"):
        profiler.init(KEY)
        with profiler.Trace("x"):
            pass
        profiler.clean()
    notifier.set(notifier._noop_notifier)


class Plain:
    """Settings that are nobody's: what init_from_conf() looks at."""

    class profiler:
        enabled = True
        trace_sqlalchemy = True
        trace_requests = False
        hmac_keys = KEY
        connection_string = "memory://init"
        filter_error_trace = False

    def get(self, name, otherwise=None):
        return getattr(self, name, otherwise)


def test_initializer():
    notifier.clear_notifier_cache()
    initializer.init_from_conf(Plain(), {}, "project", "service", "host")
    driver = notifier.get().__self__
    assert (driver.project, driver.service, driver.host) == ("project", "service", "host")
    serve(web.WsgiMiddleware(application), {"X-Trace-Info": INFO, "X-Trace-HMAC": HMAC})
    assert [event["name"] for event in driver.events] == ["wsgi-start", "inner-start", "inner-stop", "wsgi-stop"]
    notifier.set(notifier._noop_notifier)
    notifier.clear_notifier_cache()
    web._ENABLED = web._HMAC_KEYS = None


def new_conf():
    if HAS_OSLO:
        from oslo_config import cfg
        conf = cfg.ConfigOpts()
        conf([])
        return conf
    return opts.Conf()


def test_options():
    conf = new_conf()
    opts.set_defaults(conf)
    defaults = dict(enabled=False, trace_sqlalchemy=False, trace_requests=False, hmac_keys="SECRET_KEY", connection_string="messaging://",
                    es_doc_type="notification", es_scroll_time="2m", es_scroll_size=10000, socket_timeout=0.1,
                    sentinel_service_name="mymaster", filter_error_trace=False)
    for name, value in defaults.items():
        assert getattr(conf.profiler, name) == value, name
    assert not opts.is_trace_enabled(conf) and not opts.is_db_trace_enabled(conf) and opts.is_trace_enabled() is False
    group, listed = opts.list_opts()[0]
    assert group == "profiler" and {option.name for option in listed} == set(defaults)
    assert [option.name for option in listed if option.secret] == ["hmac_keys"]
    changed = dict(enabled=True, trace_sqlalchemy=True, hmac_keys="k", connection_string="c://", es_doc_type="d", es_scroll_time="1m",
                   es_scroll_size=1, socket_timeout=1.5, sentinel_service_name="n")
    opts.set_defaults(conf, **changed)
    for name, value in changed.items():
        assert getattr(conf.profiler, name) == value, name
    assert opts.is_trace_enabled(conf) and opts.is_db_trace_enabled(conf)
    opts.set_defaults(conf, **{name: defaults[name] for name in changed})  # oslo.config keeps them for the process


def test_web_by_options():
    conf = new_conf()
    opts.set_defaults(conf, hmac_keys=KEY)
    opts.enable_web_trace(conf)
    assert web._ENABLED is None
    opts.set_defaults(conf, enabled=True)
    opts.enable_web_trace(conf)
    assert web._ENABLED is True and list(web._HMAC_KEYS) == [KEY]
    opts.disable_web_trace(conf)
    assert web._ENABLED is False
    web._ENABLED = web._HMAC_KEYS = None
    opts.set_defaults(conf, enabled=False, hmac_keys="SECRET_KEY")


def test_options_of_a_file():
    import tempfile
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
        file.write("[DEFAULT]\n[profiler]\nenabled = true\nhmac_keys = 'a,b'\n")
        file.flush()
        if HAS_OSLO:
            from oslo_config import cfg
            conf = cfg.ConfigOpts()
            opts.set_defaults(conf)
            conf(["--config-file", file.name])
        else:
            conf = opts.Conf(file.name)
        assert conf.profiler.enabled and conf.profiler.hmac_keys == "a,b" and conf.profiler.connection_string == "messaging://"


def test_listeners_of_sql_that_are_replaced():
    """Programs' tests look at what is hooked in; a session's engine once."""
    with mock.patch.object(sqlalchemy, "_before_cursor_execute") as before, mock.patch.object(sqlalchemy, "_after_cursor_execute") as after, \
            mock.patch.object(sqlalchemy, "handle_error") as failed:
        events = ("before_cursor_execute", before.return_value), ("after_cursor_execute", after.return_value), ("handle_error", failed)
        module, engine, session = mock.MagicMock(), mock.MagicMock(), mock.MagicMock()
        sqlalchemy.disable()
        sqlalchemy.add_tracing(module, engine, "sql")
        assert module.event.listen.mock_calls == [] == before.mock_calls
        sqlalchemy.enable()
        sqlalchemy.add_tracing(module, engine, "sql", hide_result=False)
        before.assert_called_once_with("sql")
        after.assert_called_once_with(hide_result=False)
        assert module.event.listen.mock_calls == [mock.call(engine, *event) for event in events]
        module.reset_mock()
        session.__enter__.return_value = session
        session.bind.traced = False
        for _ in range(2):
            with sqlalchemy.wrap_session(module, session) as inner:
                assert inner is session
        assert module.event.listen.mock_calls == [mock.call(session.bind, *event) for event in events]


def test_a_service_in_the_manner_of_mistral():
    names = [name for name, *_ in ((event["name"],) for event in mistral_like.run(profiler, notifier))]
    assert names[:8] == ["engine-on-action-complete-start", "transaction-start", "engine-lookup-start", "engine-lookup-stop",
                         "action-handler-on-action-complete-start", "action-handler-on-action-complete-stop", "transaction-stop",
                         "engine-on-action-complete-stop"] and len(names) == 26, names

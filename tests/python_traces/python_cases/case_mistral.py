"""Code written for the real osprofiler does the same with ours: a service in the manner of Mistral's, run with both."""
import pprint

import kit
import mistral_like
from osprofiler import notifier as their_notifier
from osprofiler import profiler as their_profiler
from venturi.compat.osprofiler import notifier, profiler


def test_the_same_events():
    theirs = mistral_like.masked(mistral_like.run(their_profiler, their_notifier))
    ours = mistral_like.masked(mistral_like.run(profiler, notifier))
    for one, other in zip(theirs, ours):
        assert one == other, pprint.pformat((one, other))
    assert len(theirs) == len(ours) == 26


def test_both_packages_in_one_process():
    """A library that a program uses may import the real one."""
    from oslo_config import cfg
    from osprofiler import opts as theirs
    from venturi.compat.osprofiler import opts
    conf = cfg.ConfigOpts()
    opts.set_defaults(conf, hmac_keys=kit.KEY)
    theirs.set_defaults(conf, enabled=True)
    conf([])
    assert opts.is_trace_enabled(conf) and conf.profiler.hmac_keys == kit.KEY


def test_webob():
    """The real middleware is one of webob's: it may be called with a request alone."""
    import webob
    from osprofiler import web as theirs
    from venturi.compat.osprofiler import web

    for profiler_, notifier_, web_ in ((their_profiler, their_notifier, theirs), (profiler, notifier, web)):
        events = []

        def application(environ, start_response):
            with profiler_.Trace("inner"):
                start_response("200 OK", [("Content-Length", "2")])
                return [b"ok"]
        middleware = web_.WsgiMiddleware(application, hmac_keys=kit.KEY, enabled=True)
        notifier_.set(events.append)
        try:
            for headers in ({}, {"X-Trace-Info": kit.INFO, "X-Trace-HMAC": kit.HMAC}):
                request = webob.Request.blank("/p?q=1", headers=headers)
                assert middleware(request).body == request.get_response(middleware).body == b"ok"
                assert profiler_.get() is None
        finally:
            notifier_.set(notifier_._noop_notifier)
        assert kit.shape(events) == [("wsgi", [("inner", [])])] * 2, web_
        assert kit.nodes(events)[0].begin == {"request": {"path": "/p", "query": "q=1", "method": "GET", "scheme": "http"}}

"""A service in the manner of Mistral's, as the guide shows it. `profiler` is given by whoever runs it: the real one or ours."""


def build(profiler):
    class ActionHandler:
        @profiler.trace("action-handler-on-action-complete", hide_args=True)
        def on_action_complete(self, action, result):
            if result == "bad":
                raise ValueError("no such result")
            return action + 1

    @profiler.trace_cls("task", info={"kind": "task"}, hide_args=True, hide_result=False, trace_static_methods=True)
    class Task:
        def run(self, number):
            self._prepare()
            return self.complete(number)

        @staticmethod
        def complete(number):
            return [number] * 2

        def _prepare(self):
            pass

    class Manager(metaclass=profiler.TracedMeta):
        __trace_args__ = {"name": "rpc", "info": {"a": 1}, "hide_args": False}

        def call(self, one, two=2):
            return one + two

        def __repr__(self):
            return "<manager>"

    class DefaultEngine:
        def __init__(self):
            self.handler = ActionHandler()

        @profiler.trace("engine-on-action-complete", hide_args=True)
        def on_action_complete(self, action_ex_id, result, wf_action=False, async_=False):
            with profiler.Trace("transaction", info={"isolation": {"level": 3}}):
                try:
                    profiler.start("engine-lookup")
                    found = action_ex_id * 2
                finally:
                    profiler.stop()
                return self.handler.on_action_complete(found, result)

        def run(self):
            self.on_action_complete(1, "good")
            try:
                self.on_action_complete(2, "bad")
            except ValueError:
                pass
            profiler.start("tasks", {"count": 2})
            Task().run(7)
            profiler.stop({"done": True})
            Manager().call(1, two=5)
            try:
                with profiler.Trace("fails"):
                    raise LookupError("name")
            except LookupError:
                pass

    return DefaultEngine()


def run(profiler, notifier):
    """Runs it in a trace of its own; what the notifier was told."""
    events = []
    notifier.set(lambda payload: events.append(dict(payload, info=dict(payload["info"]))))
    profiler.clean()
    profiler.init("secret_word", base_id="f12e75d5-5d59-4cbc-b74d-357f19290dd7")
    try:
        build(profiler).run()
    finally:
        profiler.clean()
        notifier.set(notifier._noop_notifier)
    return events


def masked(events):
    """(name, place of the parent, info) of every event; ids and times are left out."""
    places, found = {}, []
    for event in events:
        places.setdefault(event["trace_id"], len(places))
        parent = "root" if event["parent_id"] == event["base_id"] else places[event["parent_id"]]
        found.append((list(event), event["name"], places[event["trace_id"]], parent, len(event["timestamp"]), event["info"]))
    return found

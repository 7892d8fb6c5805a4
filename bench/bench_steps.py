#!/usr/bin/env python3
"""What the metrics of a step of Python cost a message: the loop of venturi.step minus the same loop without a meter.

usage: bench_steps.py [--build FOLDER] [--rounds N] [--json] [PYTHON...]

PYTHON is a path; without any those of tools/pythons are measured. Recorded: with VENTURI_OUTPUT, so that nothing but the step is. Extra: with two
extra metrics. Of the short batches the fastest counts, for other load only ever adds time.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MESSAGES = 200  # a batch: some tens of microseconds


# ---- in the measured interpreter, which may be any from 3.9 on ----------------------------------

def measure(rounds):
    """Nanoseconds for a message: plain, and with extra metrics."""
    from venturi.step import GenericStep

    message = {"candid": "1234567890", "oid": "ZTF20aaelulu", "magnitude": 18.5}
    messages = [message] * MESSAGES

    class Given:
        def consume(self):
            return iter(messages)

        def commit(self):
            pass

    class Step(GenericStep):
        def execute(self, message):
            return None

        def bare(self):
            """As start(), without the meter."""
            self.pre_consume()
            work = self.bare_work
            for message in self.consumer.consume():
                self.message = message
                try:
                    work(message)
                except Exception:
                    raise
                if self.prometheus_metrics is not None:
                    self._observe()
            self._finish()

        def bare_work(self, message):
            prepared = self.pre_execute(message)
            result = self.execute(prepared)
            if self.commit:
                self.consumer.commit()
            result = self.post_execute(result)
            if self._has_producer:
                self.produce(result)

    def shortest(function):
        best = None
        for number in range(rounds):
            begin = time.perf_counter_ns()
            function()
            took = time.perf_counter_ns() - begin
            best = took if best is None or took < best else best
            if number % 50 == 49:
                time.sleep(0.01)  # lets whoever writes the recording keep up
        return best / MESSAGES

    plain = Step(Given(), config={})
    extra = Step(Given(), config={"METRICS_CONFIG": {"EXTRA_METRICS": ["candid", {"key": "oid", "alias": "object"}]}})
    bare = shortest(plain.bare)
    return {"bare": bare, "plain": shortest(plain.start) - bare, "extra": shortest(extra.start) - bare}


# ---- outside ------------------------------------------------------------------------------------

def pythons():
    done = subprocess.run([os.path.join(HERE, "..", "tools", "pythons")], capture_output=True, text=True, check=True)
    return [line.split("\t")[1] for line in done.stdout.splitlines()]


def ask(python, build, rounds, is_recorded, folder):
    env = dict(os.environ, PYTHONPATH=os.path.join(build, "python"))
    if is_recorded:
        env["VENTURI_OUTPUT"] = os.path.join(folder, "bench.vt")
    done = subprocess.run([python, os.path.abspath(__file__), "--inside", str(rounds)], capture_output=True, text=True, env=env, check=False)
    if is_recorded and os.path.exists(env["VENTURI_OUTPUT"]):
        os.unlink(env["VENTURI_OUTPUT"])
    return json.loads(done.stdout) if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", default=os.path.join(os.path.dirname(HERE), "build"))
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--inside", type=int, help=argparse.SUPPRESS)
    parser.add_argument("python", nargs="*")
    options = parser.parse_args()
    if options.inside:
        print(json.dumps(dict(measure(options.inside), python="%d.%d" % sys.version_info[:2])))
        return
    with tempfile.TemporaryDirectory() as folder:
        for python in options.python or pythons():
            for is_recorded in (True, False):
                found = ask(python, options.build, options.rounds, is_recorded, folder)
                if found is None:
                    print("bench_steps: %s: not measured" % python, file=sys.stderr)
                    break
                found["recorded"] = is_recorded
                print(json.dumps(found) if options.json else "Python {python}, recorded {recorded}: {plain:.0f} ns, with extra metrics {extra:.0f} ns "
                      "(loop without: {bare:.0f} ns)".format(**found), flush=True)


if __name__ == "__main__":
    main()

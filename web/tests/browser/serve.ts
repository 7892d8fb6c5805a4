/* Servers and programs as these tests use them: started here, and ended here by their own number. */

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach } from "vitest";
import { BUILD, FOLDER, inFolder, TOOL } from "./tool";

/* Without it every test of the dashboard is skipped by name. */
export const hasServe = existsSync(join(BUILD, "venturi-serve"));

const running: ChildProcess[] = [];

export interface Server {
  address: string; // with the token
  port: number;
  /* Ends it with that signal, and waits until it is gone. */
  end(signal: NodeJS.Signals): Promise<void>;
}

function gone(child: ChildProcess): Promise<void> {
  return new Promise((done) => {
    if (child.exitCode !== null || child.signalCode !== null) done();
    else child.once("exit", () => done());
  });
}

/* The first match in what a program says on stderr; what it said instead is thrown. */
function waitFor(child: ChildProcess, wanted: RegExp): Promise<RegExpMatchArray> {
  return new Promise((done, fail) => {
    let said = "";
    child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      const found = (said += text).match(wanted);
      if (found) done(found);
    });
    child.once("error", fail);
    child.once("exit", (code) => fail(new Error(`ended with ${code}: ${said}`)));
  });
}

/* `venturi serve TARGET` on a free port, or on the one that is given. */
export async function serve(target: string, ...args: string[]): Promise<Server> {
  const options = args.includes("--port") ? args : ["--port", "0", ...args];
  const child = spawn(TOOL, ["serve", target, ...options], {
    cwd: FOLDER,
    stdio: ["ignore", "ignore", "pipe"],
  });

  running.push(child);
  const [address] = await waitFor(child, /http:\/\/127\.0\.0\.1:\d+\/status\?token=\S+/);
  return {
    address,
    port: Number(new URL(address).port),
    end(signal) {
      child.kill(signal);
      return gone(child);
    },
  };
}

/* A pipeline that goes on until it is told to stop: graphs of tasks on two threads, spans of which some fail, and a step. Not for ever: a
 * test that dies leaves nothing behind. */
const PIPELINE = `
import os, sys, threading, time
import venturi
import venturi.dask.threaded
from venturi import trace
from venturi.step import GenericStep
from venturi.step.consumers import GenericConsumer

end = time.monotonic() + 120
stop = sys.argv[1]

def goes_on():
    return time.monotonic() < end and not os.path.exists(stop)

@trace.trace("classify")
def classify(number):
    if number % 10 == 3:
        raise ValueError("no luck")
    time.sleep(0.001)

def classify_all():
    number = 0
    while goes_on():
        number += 1
        try:
            classify(number)
        except ValueError:
            pass

class Numbers(GenericConsumer):
    def consume(self):
        number = 0
        while goes_on():
            number += 1
            yield {"candid": str(number), "timestamp_sent": time.time() - 2}

class CountStep(GenericStep):
    def execute(self, message):
        time.sleep(0.002)
        venturi.items(2, effective=1)

def load(number):
    time.sleep(0.004)
    return number

threads = [threading.Thread(target=classify_all, name="classifier <b>1</b>"),
           threading.Thread(target=CountStep(consumer=Numbers({}), config={}).start, name="step")]
for thread in threads:
    thread.start()
while goes_on():
    graph = {("load", i): (load, i) for i in range(8)}
    graph["total"] = (sum, [("load", i) for i in range(8)])
    venturi.dask.threaded.get(graph, "total", num_workers=2)
for thread in threads:
    thread.join()
`;

export interface Program {
  recording: string;
  /* Lets it end, and waits until its recording is whole. */
  end(): Promise<void>;
}

let count = 0;

/* A program that is being recorded: the file is there. */
export async function startPipeline(folder = FOLDER, name = `live${++count}`): Promise<Program> {
  const script = inFolder("live.py");
  const stop = inFolder(`${name}.stop`);
  const recording = join(folder, `${name}.vt`);

  writeFileSync(script, PIPELINE);
  rmSync(stop, { force: true });
  rmSync(recording, { force: true });
  const child = spawn(TOOL, ["run", "-q", "-o", recording, "--", script, stop], {
    cwd: FOLDER,
    stdio: "ignore",
    env: { ...process.env, PYTHONPATH: join(BUILD, "python"), PYTHONDONTWRITEBYTECODE: "1" },
  });

  running.push(child);
  while (!existsSync(recording) && child.exitCode === null) await new Promise((done) => setTimeout(done, 20));
  return {
    recording,
    async end() {
      writeFileSync(stop, "");
      await gone(child);
    },
  };
}

/* Whatever a test started and did not end. */
export function useProcesses(): void {
  afterEach(async () => {
    for (const child of running.splice(0)) {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await gone(child);
    }
  });
}

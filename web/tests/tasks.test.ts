/* Task graphs: tables to tasks, lanes of workers, figures by name, worker and along the path, results held, colours. */

import { beforeEach, describe, expect, it } from "vitest";
import { nameColours } from "../src/model/task-colour";
import { taskCurves } from "../src/model/task-curves";
import {
  besideTask,
  FAILED_MARK,
  laneBox,
  makeStream,
  MATCH_MARK,
  nextTask,
  PATH_MARK,
  streamLanes,
} from "../src/model/task-stream";
import {
  leastTime,
  longestRun,
  nameRows,
  pathSteps,
  workerRows,
  workersAtOnce,
} from "../src/model/task-sums";
import { freedTimes, isFailed, shortLabels, stateOf, taskFacts, taskKey, tasksOf } from "../src/model/tasks";
import { viewOptions } from "../src/state/selection";
import { viewsOf } from "../src/ui/app";
import {
  extentOf,
  panelShown,
  runShown,
  selectTask,
  showPanel,
  showRun,
  taskShown,
} from "../src/views/tasks/address";
import { pathSentences } from "../src/views/tasks/path";
import { emptyRecording, encodePage, makeTexts } from "./fixture";
import { graphPage, graphTables, type RunWish } from "./graphs";
import { openFixture } from "./open";

const KEY = "('load-1f', \u0001, \u0001)";

/*  worker 0:  0 load 0…10 (path), 2 add 12…20 (path), transfer 10…12
 *  worker 1:  1 load 0…5, 3 sum 20…24 failed, needs 2 (path); 4 never ran                 */
const FIRST: RunWish = {
  begin: 1000,
  duration: 3000,
  unit: 100,
  freedUnit: 50,
  error: "ValueError: no",
  workers: [
    { label: "tcp://a", pid: 7, tid: 70, spent: [1800, 200, 0, 1000, 0, 0] },
    { label: "tcp://b", pid: 8, tid: 80, spent: [900, 0, 1500, 0, 600, 0] },
  ],
  tasks: [
    {
      name: "load",
      key: KEY,
      numbers: [3, 17],
      worker: 0,
      start: 0,
      length: 10,
      flags: 8,
      bytes: 640,
      kept: 1,
    },
    { name: "load", key: KEY, numbers: [4, 0], worker: 1, start: 0, length: 5, wait: 0, bytes: 64, kept: 12 },
    { name: "", action: 1, worker: 0, start: 10, length: 2, bytes: 5 },
    {
      name: "add",
      key: "add-0",
      worker: 0,
      start: 12,
      length: 8,
      wait: 2,
      flags: 8,
      cpu: 125,
      needs: [0, 1],
    },
    {
      name: "sum",
      key: "\u0001",
      numbers: [9],
      worker: 1,
      start: 20,
      length: 4,
      state: 2,
      retries: 2,
      flags: 8 | 64,
      needs: [3],
    },
    { name: "sum", key: "sum-1", worker: -1, state: 3, needs: [4] },
  ],
};
/* On the first thread, while its first task ran. */
const SECOND: RunWish = {
  begin: 1200,
  duration: 500,
  parent: 0,
  workers: [{ label: "worker 0", pid: 7, tid: 70, spent: [300, 0, 0, 0, 200, 0] }],
  tasks: [
    { name: "inner", worker: 0, start: 0, length: 200 },
    { name: "inner", worker: 0, start: 200, length: 100 },
  ],
};

const one = openFixture(graphPage([FIRST]));
const data = openFixture(graphPage([FIRST, SECOND]));
const tasks = tasksOf(data);
const list = (values: ArrayLike<number>) => Array.from(values);

describe("tables", () => {
  it("become tasks with times since the start of the recording", () => {
    expect(list(tasks.start.subarray(0, 5))).toEqual([1000, 1000, 2000, 2200, 3000]);
    expect(list(tasks.end.subarray(0, 5))).toEqual([2000, 1500, 2200, 3000, 3400]);
    expect(list(tasks.ready.subarray(3, 4))).toEqual([2000]);
    expect(tasks.start[5]).toBeNaN();
    expect(list(tasks.start.subarray(6))).toEqual([1200, 1400]);
    expect(list(tasks.run)).toEqual([0, 0, 0, 0, 0, 0, 1, 1]);
    expect([tasks.worker[5], tasks.worker[6]]).toEqual([-1, 2]);
  });

  it("put numbers into keys, unless a key is plain; without one a task goes by its name", () => {
    expect([0, 1, 3, 6].map((task) => taskKey(data, task))).toEqual([
      "('load-1f', 3, 17)",
      "('load-1f', 4, 0)",
      "add-0",
      "inner",
    ]);
    expect(taskKey(data, 4)).toBe("\u0001");
    expect(taskKey(data, 2)).toBe("transfer");
  });

  it("say what a task needs and what needs it", () => {
    const of = (links: typeof tasks.needs, task: number) =>
      list(links.to.subarray(links.first[task]!, links.first[task + 1]!));
    expect([of(tasks.needs, 3), of(tasks.neededBy, 0), of(tasks.neededBy, 4)]).toEqual([[0, 1], [3], [5]]);
    expect(of(tasks.needs, 0)).toEqual([]);
  });

  it("say what is known of one", () => {
    expect(taskFacts(data, 3)).toMatchObject({ length: 800, wait: 200, cpu: 400, retries: 0 });
    expect(taskFacts(data, 3).bytes).toBeNaN();
    expect(taskFacts(data, 0).bytes).toBe(640);
    expect([stateOf(tasks, 4), isFailed(tasks.flags[4]!), isFailed(tasks.flags[5]!)]).toEqual([
      "failed",
      true,
      false,
    ]);
  });

  it("that point nowhere harm nobody", () => {
    const texts = makeTexts();
    const tables = graphTables(texts, [FIRST]);
    const set = (table: string, name: string, value: number) => {
      const found = tables.find((each) => each.name === table)!.columns.find((each) => each.name === name)!;
      found.values = list(found.values).map(() => value);
    };
    set("task_runs", "rows", 99);
    set("tasks", "worker", 50);
    set("tasks", "name", 70);
    set("task_edges", "ahead", 1000);
    const odd = openFixture(encodePage({ ...emptyRecording() }, texts, tables));
    const made = tasksOf(odd);
    expect([made.needs.to.length, made.worker[0], made.runs[0]!.last]).toEqual([0, -1, 6]);
    expect(makeStream(made, -1).rows.map((row) => row.label)).toEqual([
      "tcp://a",
      "tcp://b",
      "unknown worker",
    ]);
    expect(nameRows(odd, -1, { from: 0, to: 1e9 }).length).toBe(1);
  });
});

describe("the stream", () => {
  const stream = makeStream(tasks, -1);

  it("has a row for each worker, lanes where tasks overlap, thin ones beside", () => {
    expect(stream.rows.map(({ label, lanes, thin, workers }) => [label, lanes, thin, workers])).toEqual([
      ["tcp://a", 2, 1, [0, 2]],
      ["tcp://b", 1, 0, [1]],
    ]);
    expect(list(stream.laneOf)).toEqual([0, 3, 2, 0, 3, -1, 1, 1]);
    expect(laneBox(stream, 1).y).toBe(laneBox(stream, 0).y + stream.laneHeight);
    expect(laneBox(stream, 2).height).toBeLessThan(stream.laneHeight);
  });

  it("of one run has only its workers", () => {
    expect(makeStream(tasks, 1).rows.map((row) => row.label)).toEqual(["worker 0"]);
    expect(list(makeStream(tasks, 1).order)).toEqual([6, 7]);
  });

  it("marks what failed, what is on the path and what the search found", () => {
    const matches = new Uint8Array(tasks.size);
    matches[1] = 1;
    const lanes = streamLanes(tasks, stream, matches);
    const marks = new Map(list(stream.order).map((task, i) => [task, lanes.flags[i]]));
    expect(marks.get(4)).toBe(FAILED_MARK | PATH_MARK);
    expect(marks.get(1)).toBe(MATCH_MARK);
    expect(marks.get(7)).toBe(0);
  });

  it("is walked in time, along a lane and across workers", () => {
    const any = () => true;
    expect(nextTask(stream, tasks, -1, 1, any)).toBe(0);
    expect(nextTask(stream, tasks, 0, 1, any)).toBe(1);
    expect(nextTask(stream, tasks, 1, 1, (task) => tasks.name[task] === tasks.name[6])).toBe(6);
    expect(nextTask(stream, tasks, 3, -1, any)).toBe(2);
    expect(nextTask(stream, tasks, 4, 1, any)).toBe(-1);
    expect(nextTask(stream, tasks, -1, -1, any)).toBe(4);
    expect([besideTask(stream, tasks, 0, 1, 0), besideTask(stream, tasks, 3, 1, 0)]).toEqual([3, -1]);
    expect([besideTask(stream, tasks, 4, 0, -1), besideTask(stream, tasks, 0, 0, 1)]).toEqual([2, 6]);
  });

  it("shows from the begin of the first run to the end of the last", () => {
    expect(extentOf(data, -1)).toEqual({ from: 1000, to: 4000 });
    expect(extentOf(data, 1)).toEqual({ from: 1200, to: 1700 });
  });
});

describe("labels of workers", () => {
  it("lose what all addresses have in common", () => {
    expect(shortLabels(["tcp://127.0.0.1:4458#0", "tcp://127.0.0.1:4459#1", "thread 1"])).toEqual([
      ":4458#0",
      ":4459#1",
      "thread 1",
    ]);
    expect(shortLabels(["tcp://10.0.0.1:80", "tcp://10.0.0.2:80"])).toEqual(["10.0.0.1:80", "10.0.0.2:80"]);
    expect(shortLabels(["tcp://a:1", "tcp://a:1"])).toEqual(["tcp://a:1", "tcp://a:1"]);
    expect(shortLabels(["tcp://a:1", "tls://b:1"])).toEqual(["tcp://a:1", "tls://b:1"]);
  });

  it("order the rows: threads of one process are neighbours", () => {
    const labels = ["tcp://h:10#1", "tcp://h:9#0", "tcp://h:10#0"];
    const workers = labels.map((label, i) => ({ label, pid: 7, tid: 70 + i }));
    const page = openFixture(
      graphPage([{ duration: 100, workers, tasks: [{ name: "a", worker: 0, start: 0, length: 10 }] }]),
    );
    const { rows, laneOf, rowOfLane } = makeStream(tasksOf(page), -1);
    expect(rows.map((row) => row.short)).toEqual([":9#0", ":10#0", ":10#1"]);
    expect(rows[rowOfLane[laneOf[0]!]!]!.label).toBe(labels[0]);
  });
});

describe("figures", () => {
  const byName = (rows: ReturnType<typeof nameRows>, of = data) =>
    new Map(rows.map((row) => [tasksOf(of).names[row.name]!.text, row]));

  it("of all runs are the tool's, of one run or a part of the time those of its tasks", () => {
    const all = byName(nameRows(data, -1, null));
    expect(all.get("load")).toMatchObject({
      count: 2,
      total: 1500,
      p50: 500,
      p99: 1000,
      max: 1000,
      path_tasks: 1,
    });
    expect(all.get("sum")).toMatchObject({ count: 2, failed: 1, retries: 2, total: 400 });
    expect(all.get("add")!.wait).toBe(200);
    expect(all.get("load")).toMatchObject({ level: 0, share: 1500 / 2700 }); // what is within it counts once
    expect(all.get("inner")).toMatchObject({ level: 1, share: 1 }); // of what is as deep
    expect(all.get("transfer")!.share).toBeNaN();
    const first = byName(nameRows(data, 0, null));
    expect(first.has("inner")).toBe(false);
    expect(first.get("load")).toMatchObject({
      count: 2,
      total: 1500,
      p50: 500,
      max: 1000,
      avg: 750,
      bytes: 704,
    });
    const part = byName(nameRows(data, -1, { from: 1400, to: 2300 }));
    expect([...part.keys()].sort()).toEqual(["add", "inner", "transfer"]);
    expect(part.get("inner")).toMatchObject({ count: 1, total: 100 });
  });

  it("worked out here are the same as the tool's", () => {
    const told = nameRows(one, -1, null);
    const counted = nameRows(one, 0, { from: 0, to: 1e9 });
    for (const row of counted.filter(({ name }) => tasksOf(one).names[name]!.text !== "sum"))
      for (const name of [
        "count",
        "total",
        "min",
        "avg",
        "p50",
        "p90",
        "p99",
        "max",
        "wait",
        "retries",
      ] as const)
        expect(row[name], name).toBe(told.find((each) => each.name === row.name)![name]);
  });

  it("of workers add up, over their runs", () => {
    const rows = workerRows(data, makeStream(tasks, -1).rows);
    expect(rows[0]).toMatchObject({
      label: "tcp://a",
      compute: 2100,
      moving: 200,
      scheduler: 200,
      whole: 3500,
    });
    expect(rows[1]).toMatchObject({ dependencies: 1500, scheduler: 600, nothing_left: 0, whole: 3000 });
  });

  it("of the path have gaps and what they waited in them", () => {
    const run = tasks.runs[0]!;
    expect(pathSteps(tasks, run)).toEqual([
      { task: 0, gap: 0, queued: 0, time: 1000 },
      { task: 3, gap: 200, queued: 200, time: 800 },
      { task: 4, gap: 0, queued: 0, time: 400 },
    ]);
    expect([run.path, leastTime(run), longestRun(tasks.runs)]).toEqual([2200, 2200, run]);
    expect(leastTime({ ...run, taskTime: 10000 })).toBe(5000);
    expect(pathSentences(run, false).join(" ")).toBe(
      "The critical path of the run has 3 tasks and takes 2.20 µs of 3.00 µs (73.3 %): with any number of workers the run takes at least that long. With its 2 workers it takes at least 2.20 µs: 26.7 % less than it took.",
    );
  });
});

describe("workers of several runs", () => {
  const run = (begin: number, duration: number, workers: number, parent = -1) => ({
    begin,
    duration,
    workers,
    parent,
  });

  it("are as many as there were at once", () => {
    expect(workersAtOnce([])).toBe(0);
    expect(workersAtOnce([run(0, 10, 2), run(10, 10, 3)])).toBe(3); // one after the other
    expect(workersAtOnce([run(0, 10, 2), run(9, 10, 3), run(30, 5, 4)])).toBe(5);
    expect(workersAtOnce([run(5, 0, 2), run(6, 0, 1)])).toBe(2);
  });

  it("are those that the others ran within", () => {
    expect(workersAtOnce([run(0, 100, 2), run(10, 20, 8, 0), run(12, 20, 8, 0)])).toBe(2);
    expect(workersAtOnce(tasks.runs)).toBe(2);
  });
});

describe("results", () => {
  it("are held until they are given up, or as long as they are needed", () => {
    const { freed, isKnown } = freedTimes(data);
    expect(isKnown).toBe(true);
    expect(freed[0]).toBe(3000); // until what depends on it ended
    expect(freed[1]).toBe(1500 + 10 * 50);
    expect(freed[3]).toBe(4000); // to the end of the run
    expect([freed[2], freed[4], freed[5]].every(Number.isNaN)).toBe(true); // none, failed, never ran
    const bare = { ...FIRST, tasks: FIRST.tasks.map((task) => ({ ...task, kept: 0 })) };
    const unknown = freedTimes(openFixture(graphPage([bare])));
    expect([unknown.isKnown, unknown.freed[1]]).toEqual([false, 3000]);
  });

  it("are counted over time", () => {
    const [held, bytes] = taskCurves(data, 0);
    expect(list(held!.series.time)).toEqual([1500, 2000, 3000, 4000]);
    expect(list(held!.series.value)).toEqual([1, 1, 1, 0]);
    expect([held!.title, bytes!.series.most]).toEqual(["Results held", 640]);
  });
});

describe("colours", () => {
  it("are the same for the same names, and differ while there are few", () => {
    const names = ["load", "merge", "smooth", "count", "compute", "qr", "dot", "add"];
    const colours = nameColours(names);
    expect(nameColours([...names].reverse())).toEqual(colours);
    expect(new Set(Array.from(colours.values(), String)).size).toBe(8);
    expect(
      new Set(Array.from(nameColours(Array.from({ length: 24 }, (_, i) => `task${i}`)).values(), String))
        .size,
    ).toBeGreaterThan(20);
  });

  it("of what is no task are reserved", () => {
    const name = tasks.names.find(({ action }) => action === 1)!;
    expect([name.text, name.colour[0] > 2 * name.colour[1]]).toEqual(["transfer", true]);
  });
});

describe("the address", () => {
  beforeEach(() => (viewOptions.value = {}));

  it("keeps run, task and panel, and drops what cannot be", () => {
    expect([runShown(tasks), runShown(tasksOf(one)), panelShown()]).toEqual([-1, 0, "names"]);
    showRun(1);
    showPanel("path");
    selectTask(6);
    expect([runShown(tasks), panelShown(), taskShown(tasks, 1), taskShown(tasks, 0)]).toEqual([
      1,
      "path",
      6,
      -1,
    ]);
    for (const odd of ["-3", "x", "8", "1.5"]) {
      viewOptions.value = { "tasks.task": odd, "tasks.run": odd };
      expect([taskShown(tasks, -1), runShown(tasks)], odd).toEqual([-1, -1]);
    }
  });

  it("has a tab for it only where tasks ran", () => {
    const titles = (of: typeof data) => viewsOf(of).map((view) => view.id);
    expect(titles(data)).toContain("tasks");
    expect(titles(openFixture(graphPage([])))).not.toContain("tasks");
  });
});

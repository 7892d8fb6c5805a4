/* What the dashboard makes of what the server says: curves, the stream of tasks, bars, times, and what to say where nothing is. */

import { describe, expect, it } from "vitest";
import { clockScale, clockStep, clockText } from "../src/dashboard/data/clock";
import { append, isMoving, lastOf, load, makeHistory } from "../src/dashboard/data/history";
import { addTasks, layoutOf, makeStream, MOST_TASKS, placeOf } from "../src/dashboard/data/stream";
import { layoutTracks, rectAt } from "../src/dashboard/data/tracks";
import type { SpanRect, State, StepState, WindowReply } from "../src/dashboard/data/types";
import { functionsPanel, LOADING } from "../src/dashboard/panels/functions";
import { endOf } from "../src/dashboard/panels/processes";
import { sharesOf } from "../src/dashboard/panels/progress";
import { columnMaker, withValues } from "../src/dashboard/live-table";
import { isCut } from "../src/dashboard/plot";
import { isBare, whatToDo } from "../src/dashboard/start";
import { itemFacts } from "../src/dashboard/panels/items";
import { summaryOf } from "../src/dashboard/summary";
import { known } from "../src/dashboard/words";
import { colourGiver, failedColour, nameColours } from "../src/model/task-colour";
import { contrast, hexColour } from "../src/ui/colour";
import { makeGroup, makeState, START_MS, tasksEvent } from "./dashboard-fixture";

const ALL = { from: 0, to: 1e12 };

function withCpu(seconds: number, cpu: number | null): State {
  return makeState({
    now_ms: START_MS + seconds * 1000,
    resources: {
      cpu,
      cpu_ns: null,
      memory_bytes: 1,
      peak_bytes: null,
      threads: null,
      read_per_s: null,
      written_per_s: null,
      processes: null,
      machine_busy: null,
      available_bytes: null,
    },
  });
}

describe("history", () => {
  it("puts what the server kept before what came since", () => {
    const history = makeHistory();

    append(history, withCpu(10, 1));
    append(history, withCpu(10.25, 2));
    load(history, {
      from_ms: START_MS,
      to_ms: START_MS + 10_000,
      step_ms: 1000,
      times_ms: [8, 9, 10].map((at) => START_MS + at * 1000),
      series: { cpu: [5, null, 7] },
    });
    expect(history.times.map((at) => (at - START_MS) / 1000)).toEqual([8, 9, 10, 10.25]);
    expect(history.series.cpu).toEqual([5, null, 7, 2]);
    expect(history.series.memory).toEqual([null, null, null, 1]);
    expect(lastOf(history, "cpu")).toBe(2);
  });

  it("leaves out what was before the program began", () => {
    const history = makeHistory();
    const reply = {
      from_ms: 1000,
      to_ms: 3000,
      step_ms: 1000,
      times_ms: [1000, 2000, 3000],
      series: { cpu: [5, 6, 7] },
    };

    load(history, reply, 1500);
    expect(history.times).toEqual([2000, 3000]);
    expect(history.series.cpu).toEqual([6, 7]);
  });

  it("is broken where nothing was said, and takes nothing twice", () => {
    const history = makeHistory();

    append(history, withCpu(1, 1));
    append(history, withCpu(1, 9));
    append(history, withCpu(60, 3));
    expect(history.series.cpu).toEqual([1, null, 3]);
  });

  it("has an end, and tells unknown from nothing", () => {
    const history = makeHistory();

    for (let i = 1; i <= 20_000; i++) append(history, withCpu(i / 4, i % 2 ? null : 0));
    expect(history.times.length).toBeLessThanOrEqual(6000);
    expect(history.series.cpu.length).toBe(history.times.length);
    expect(lastOf(history, "cpu")).toBe(0);
    expect(isMoving(history, "cpu")).toBe(false);
    expect(isMoving(history, "memory")).toBe(true);
  });

  it("makes a rate of tasks that failed", () => {
    const history = makeHistory();
    const at = (seconds: number, failed: number) =>
      makeState({ now_ms: START_MS + seconds * 1000, tasks: { ...makeState().tasks, failed } });

    append(history, at(1, 3));
    append(history, at(1.5, 5));
    append(history, at(2, 0)); // begun anew
    expect(history.series.tasks_failed).toEqual([null, 4, 0]);
  });

  it("stands an answer that is none", () => {
    const history = makeHistory();

    load(history, {} as never);
    load(history, { times_ms: [1], series: null } as never);
    expect(history.times).toEqual([]);
  });
});

describe("stream of tasks", () => {
  it("takes each task once, also after a break", () => {
    const stream = makeStream();

    addTasks(
      stream,
      tasksEvent([
        [1, 0, 0, 10],
        [2, 0, 10, 20],
      ]),
      START_MS,
    );
    addTasks(
      stream,
      tasksEvent(
        [
          [1, 0, 0, 10],
          [2, 0, 10, 20],
          [3, 0, 20, 30],
        ],
        { skipped: 4 },
      ),
      START_MS,
    );
    expect(stream.tasks.map((task) => task.number)).toEqual([1, 2, 3]);
    expect(stream.tasks[2]).toMatchObject({ name: "sum", start: 20e6, end: 30e6, lane: 0 });
    expect(stream.skipped).toBe(4);
  });

  it("gives tasks that overlap lanes of their own, and rows the order of their labels", () => {
    const stream = makeStream();

    addTasks(
      stream,
      tasksEvent([
        [1, 0, 0, 10],
        [2, 0, 5, 12],
        [3, 0, 12, 20],
        [4, 1, 0, 5],
        [5, null, 0, 1],
      ]),
      START_MS,
    );
    const { rows, tasks, height } = layoutOf(stream, ALL, 400);
    expect(rows.map((row) => [row.row.label, row.lanes])).toEqual([
      ["", 1],
      ["w9", 1],
      ["w10", 2],
    ]);
    expect(tasks.map((task) => task.lane)).toEqual([0, 1, 0, 0, 0]);
    expect(height).toBe(rows.reduce((sum, row) => sum + row.height, 0));
    for (const a of tasks)
      for (const b of tasks) {
        const [pa, pb] = [a, b].map((task) =>
          placeOf(
            rows.find((row) => row.row === task.row)!,
            task,
          ),
        );
        if (a !== b && a.start < b.end && b.start < a.end) expect(pa!.y).not.toBe(pb!.y);
      }
  });

  it("needs one lane for tasks that are told out of order, or whose times are rounded", () => {
    const stream = makeStream();

    addTasks(
      stream,
      tasksEvent([
        [1, 0, 4, 8],
        [2, 0, 0, 4],
        [3, 0, 12, 16],
        [4, 0, 7.9995, 12],
      ]),
      START_MS,
    );
    expect(stream.tasks.map((task) => task.lane)).toEqual([0, 0, 0, 0]);
  });

  it("shows what is not computing on a thin lane, and only workers that did something in the range", () => {
    const stream = makeStream();

    addTasks(
      stream,
      tasksEvent([
        [1, 0, 0, 10],
        [2, 0, 2, 4, 1, 1],
        [3, 1, 100, 110],
      ]),
      START_MS,
    );
    const { rows, tasks } = layoutOf(stream, { from: 0, to: 50e6 }, 400);
    expect(rows.map((row) => row.row.label)).toEqual(["w10"]);
    expect(placeOf(rows[0]!, tasks[1]!).height).toBe(4);
    expect(placeOf(rows[0]!, tasks[0]!).height).toBe(24);
  });

  it("keeps the newest, whatever comes", () => {
    const stream = makeStream();

    for (let i = 0; i < 60; i++)
      addTasks(
        stream,
        tasksEvent(
          Array.from({ length: 1000 }, (_, j) => [i * 1000 + j + 1, 0, i * 1000 + j, i * 1000 + j + 1]),
        ),
        START_MS,
      );
    expect(stream.tasks.length).toBeLessThanOrEqual(MOST_TASKS);
    expect(stream.tasks.at(-1)!.number).toBe(60_000);
    addTasks(stream, { tasks: null } as never, START_MS);
    addTasks(
      stream,
      tasksEvent([
        [60_001, 0, 20, 10],
        [60_002, 0, NaN, 10],
      ]),
      START_MS,
    );
    expect(stream.last).toBe(60_000);
    /* Many at once on one worker have an end too. */
    const crowd = makeStream();
    addTasks(crowd, tasksEvent(Array.from({ length: 500 }, (_, j) => [j + 1, 0, 0, 100])), START_MS);
    expect(layoutOf(crowd, ALL, 264).rows[0]!.lanes).toBe(32);
  });
});

describe("timeline", () => {
  const track = (name: string, rects: SpanRect[]) => ({ track: 1, pid: 2, tid: 3, name, deepest: 1, rects });
  const reply = (tracks: WindowReply["tracks"]): WindowReply => ({
    recording: 0,
    start_ms: 0,
    duration_ns: 1,
    from_ns: 0,
    to_ns: 1,
    lost_events: 0,
    more: 0,
    names: ["a"],
    tracks,
  });

  it("tells threads of one name apart", () => {
    const some: SpanRect[] = [[0, 0, 0, 100, 1]];
    const { rows } = layoutTracks(
      reply([{ ...track("pool", some), tid: 7 }, track("main", some), { ...track("pool", some), tid: 8 }]),
      16,
    );

    expect(rows.map((row) => row.label)).toEqual(["pool 7", "main", "pool 8"]);
  });

  it("places threads one below the other and finds what is under the pointer", () => {
    const { rows, height, left } = layoutTracks(
      reply([
        track("main", [
          [0, 0, 0, 100, 1],
          [1, 0, 10, 1, 1],
        ]),
        track("idle", []),
        track("", [[0, 0, 50, 10, 3]]),
      ]),
      16,
    );

    expect(rows.map((row) => [row.label, row.y, row.height])).toEqual([
      ["main", 0, 36],
      ["thread 3", 36, 20],
    ]);
    expect([height, left]).toEqual([56, 0]);
    expect(rectAt(rows, 5, 50, 0, 16)).toEqual([0, 0, 0, 100, 1]);
    expect(rectAt(rows, 20, 13, 5, 16)).toEqual([1, 0, 10, 1, 1]);
    expect(rectAt(rows, 20, 13, 1, 16)).toBeNull();
    expect(rectAt(rows, 40, 55, 0, 16)![4]).toBe(3);
    expect(rectAt(rows, 500, 55, 0, 16)).toBeNull();
  });

  it("does not draw thousands of threads, and says how many it left out", () => {
    const many = Array.from({ length: 500 }, (_, i) => track(`t${i}`, [[i, 0, 0, 1, 1]]));
    const { rows, height, left } = layoutTracks(reply(many), 16);

    expect(rows.length + left).toBe(500);
    expect(height).toBeLessThan(40_000);
    expect(layoutTracks(null, 16)).toEqual({ rows: [], height: 0, left: 0 });
  });
});

describe("clock", () => {
  it("has ticks at whole times", () => {
    expect(clockStep(60e9, 6)).toBe(10e9);
    expect(clockStep(600e9, 6)).toBe(120e9);
    expect(clockStep(86_400e9, 6)).toBe(21_600e9);
    expect(clockStep(1e9, 5)).toBe(0.2e9);
    expect(clockStep(1e18, 5)).toBe(86_400e9);
  });

  it("says as much of a time as tells it from the next", () => {
    const at = new Date(2026, 10, 16, 14, 3, 7, 250).getTime();

    expect(clockText(at, 60e9)).toBe("14:03");
    expect(clockText(at, 10e9)).toBe("14:03:07");
    expect(clockText(at, 0.05e9)).toBe("14:03:07.25");
    expect(clockText(at, 1e6)).toBe("14:03:07.250");
    expect(clockText(NaN, 1)).toBe("–");
  });

  it("counts from the origin", () => {
    const at = new Date(2026, 10, 16, 14, 3, 7).getTime();
    const scale = clockScale(at);

    expect(scale.text(3e9, 1e9)).toBe("14:03:10");
    /* A tick of 10 s after the offset is a whole one of the clock. */
    const first = Math.ceil((0 - scale.offset) / 10e9) * 10e9 + scale.offset;
    expect(scale.text(first, 10e9)).toBe("14:03:10");
  });
});

describe("bars and words", () => {
  it("shows how far tasks are, where that is known", () => {
    expect(sharesOf(makeGroup("a", { ended: 50, failed: 5, running: 10, total: 100 }), 999)).toEqual({
      ended: 0.45,
      failed: 0.05,
      running: 0.1,
    });
    expect(sharesOf(makeGroup("a", { ended: 50 }), 200)).toEqual({ ended: 0.25, failed: 0, running: 0 });
    expect(sharesOf(makeGroup("a", { total: 0 }), 1)).toEqual({ ended: 0, failed: 0, running: 0 });
  });

  it("shows what failed on both grounds", () => {
    for (const theme of ["light", "dark"] as const)
      expect(
        contrast(failedColour(theme === "dark"), hexColour(theme === "dark" ? "#1b1e25" : "#ffffff")),
      ).toBeGreaterThan(7);
  });

  it("keeps the colour of a name when others come", () => {
    const give = colourGiver();
    const first = give("load");

    for (let i = 0; i < 50; i++) give(`task ${i}`);
    expect(give("load")).toBe(first);
    expect(nameColours(["b", "a"]).get("a")).toEqual(nameColours(["a", "b", "b"]).get("a"));
  });

  it("never shows what is not known as 0", () => {
    const { number, word } = columnMaker([{ n: null as number | null }, { n: 0 }]);
    const column = number("n", "N", "", (one) => one.n, String);

    expect([column.text(0), column.text(1)]).toEqual(["–", "0"]);
    expect(known(null, String)).toBe("–");
    expect(known(undefined, String)).toBe("–");
    const empty = word("w", "W", () => "");
    expect(withValues([column, empty], ["n", "w"], 2)).toEqual([column]);
    expect(withValues([column, empty], ["n"], 1)).toEqual([empty]);
  });

  it("says how processes ended", () => {
    expect(endOf({ is_running: true, how: "running", status: 0 })).toBe("running");
    expect(endOf({ is_running: false, how: "exit", status: 0 })).toBe("ended");
    expect(endOf({ is_running: false, how: "exit", status: 3 })).toBe("exit 3");
    expect(endOf({ is_running: false, how: "signal", status: 9 })).toBe("signal 9");
  });

  it("has at a glance what is known, and marks what is bad", () => {
    expect(summaryOf(makeState()).map(([name]) => name)).toEqual(["Lost"]);
    const facts = summaryOf(
      makeState({ lost_events: 7, tasks: { ...makeState().tasks, ended: 10, failed: 2 } }),
    );
    expect(facts.filter((fact) => fact[3]).map(([name, value]) => [name, value])).toEqual([
      ["Failed tasks", "2"],
      ["Lost", "7"],
    ]);
  });

  it("has sums of what is over, and says of rates that they are", () => {
    const step = { messages: 40, messages_per_s: 0, failed: 0 } as StepState;
    const energy = { own_joules: 1.5, own_watts: null, joules: 9, watts: null } as State["energy"];
    const messagesOf = (is_growing: boolean, messages_per_s: number) =>
      summaryOf(
        makeState({ is_growing, energy, steps: { count: 1, more: 0, list: [{ ...step, messages_per_s }] } }),
      ).filter(([name]) => name !== "Lost");

    expect(messagesOf(false, 0).map(([name, value]) => [name, value])).toEqual([
      ["Messages", "40"],
      ["Energy", "1.50 J"],
    ]);
    expect(messagesOf(true, 2)[0]).toEqual(["Messages", "2/s", "40 so far, of all steps together"]);
  });

  it("says how many items get done, now or on average, and for how much", () => {
    const items = {
      raw: 1200,
      effective: 30,
      raw_per_s: 50,
      effective_per_s: 2,
      wall_s: 12,
      j_per_1000: 1.5,
    };
    const said = (...args: Parameters<typeof itemFacts>) => Object.fromEntries(itemFacts(...args));

    expect(said(items, true)).toEqual({
      Items: "1,200",
      Now: "50/s",
      "On average": "100/s",
      Effective: "30",
      "Effective now": "2/s",
      "Effective on average": "2.50/s",
      Share: "2.5 %",
      "Energy for 1,000": "1.50 J",
    });
    expect(said({ ...items, effective: null, wall_s: null, j_per_1000: null }, false)).toEqual({
      Items: "1,200",
      "On average": "–",
    });
    expect(summaryOf(makeState({ items })).find(([name]) => name === "Items")).toEqual([
      "Items",
      "50/s",
      "1,200 so far",
    ]);
  });

  it("does not say what is missing before anybody has answered", () => {
    expect(functionsPanel.missing(makeState())).toBe(LOADING);
  });

  it("leaves out the label of a time that the edge would cut", () => {
    expect(isCut(100, 0, 100, 484)).toBe(true);
    expect(isCut(90, 0, 100, 484)).toBe(false);
  });
});

describe("nothing yet", () => {
  it("says what to do, for every kind of target", () => {
    expect(isBare(makeState())).toBe(true);
    expect(isBare(makeState({ events: 1 }))).toBe(false);
    expect(isBare(withCpu(1, 1))).toBe(false);
    expect(whatToDo(makeState({ kind: "folder", path: "/runs" }))).toContain(
      "`venturi run -o /runs/NAME.vt PROGRAM`",
    );
    expect(whatToDo(makeState({ kind: "dask" }))).toContain("no workers");
    expect(whatToDo(makeState())).toContain("appears here by itself");
    expect(whatToDo(makeState({ is_growing: false }))).toContain("`venturi info /data/run.vt`");
    expect(whatToDo(makeState({ caught_up: 0.5 }))).toContain("being read");
  });

  it("is not fooled by the name of a folder", () => {
    expect(whatToDo(makeState({ kind: "folder", path: "/a`b\u202e" })).split("`").length).toBe(3);
    expect(whatToDo(makeState({ kind: "folder", path: "/a`b\u202e" }))).not.toContain("\u202e");
  });
});

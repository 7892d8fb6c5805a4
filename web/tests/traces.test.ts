/* Traces: trees out of tables, rows in sight, bars and own time, what a search means, the flame of a span, the address. */

import { beforeEach, describe, expect, it } from "vitest";
import { frames } from "../src/model/frames";
import { arrange, kindsOf, traceRows, whyNoPaths } from "../src/model/source";
import { spanFlame } from "../src/model/span-flame";
import {
  attributesOf,
  detailOf,
  findSpan,
  findTrace,
  makeTree,
  serviceOfProcess,
  spanId,
  spansOf,
  traceBase,
  traceName,
  traceTables,
} from "../src/model/traces";
import {
  barOf,
  countMarked,
  matchSpans,
  nextMarked,
  openAtFirst,
  openLevels,
  reveal,
  rowOf,
  selfParts,
  shownSpans,
  visibleSpans,
} from "../src/model/waterfall";
import { WHOLE } from "../src/model/zoom";
import { viewsOf } from "../src/ui/app";
import { processName } from "../src/ui/threads";
import { matcherOf } from "../src/state/search";
import { viewOptions } from "../src/state/selection";
import { hiddenServices, hideServices, showTrace, traceShown } from "../src/views/traces/address";
import { windowOf } from "../src/views/traces/keys";
import { servicesIn } from "../src/views/traces/legend";
import type { Process } from "../src/data/types";
import { emptyRecording, encodePage, makeTexts } from "./fixture";
import { openFixture } from "./open";
import { makeProgram } from "./program";
import { makeRequest, requestPage, requestTables, SERVICES, type SpanWish, type TraceWish } from "./requests";

const BASE = "f12e75d5-5d59-4cbc-b74d-357f19290dd7";

/*  0 a        0 … 100
 *    1 b      10 … 40
 *      2 c    15 … 20, failed
 *    3 b      30 … 60
 *  4 d        90 … 130, of another service                */
const SPANS: SpanWish[] = [
  { name: "a", start: 0, duration: 100, self: 50, attributes: { "db.statement": "SELECT 1", rows: "7" } },
  { name: "b", parent: 0, start: 10, duration: 30, self: 25 },
  { name: "c", parent: 1, start: 15, duration: 5, flags: 2, error: ["ValueError", "no money"] },
  { name: "b", parent: 0, start: 30, duration: 30 },
  { name: "d", process: 1, start: 90, duration: 40, flags: 8 },
];
const TRACES: TraceWish[] = [
  { base: "00000000-0000-4000-8000-000000000001", spans: [{ name: "other", start: 0, duration: 5 }] },
  { base: BASE, offset: 1000, spans: SPANS },
];

const data = openFixture(requestPage(TRACES, SERVICES));
const spans = spansOf(data, 1);
const list = (values: ArrayLike<number>) => Array.from(values);

describe("tables", () => {
  it("become the tree of one trace", () => {
    expect([spans.first, spans.size, spans.duration]).toEqual([1, 5, 130]);
    expect(list(spans.parent)).toEqual([-1, 0, 1, 0, -1]);
    expect(list(spans.depth)).toEqual([0, 1, 2, 1, 0]);
    expect(list(spans.end)).toEqual([4, 3, 3, 4, 5]);
    expect(list(spans.start)).toEqual([0, 10, 15, 30, 90]);
  });

  it("a parent that comes later, or is another trace's, is none", () => {
    const { parent, depth, end } = makeTree([3, 0, 1, 9, 1], 1, 4);

    expect(list(parent)).toEqual([-1, -1, -1, -1]);
    expect(list(depth)).toEqual([0, 0, 0, 0]);
    expect(list(end)).toEqual([1, 2, 3, 4]);
  });

  it("services have colours, those with the most spans first", () => {
    const { services } = traceTables(data);

    expect(services.map((one) => one.name).slice(0, 2)).toEqual(["api", "engine"]);
    expect(services.find((one) => one.name === "executor")!.skews).toEqual([
      { pid: 977, host: "cmp-7", ns: -1_250_000 },
    ]);
    expect(services[0]!.colour).not.toEqual(services[1]!.colour);
    expect(servicesIn(spans, services)).toEqual([
      { index: 0, count: 4 },
      { index: 1, count: 1 },
    ]);
  });

  it("names, ids and attributes", () => {
    expect(traceName(data, 1)).toBe("a");
    expect(traceBase(data, 1)).toBe(BASE);
    expect([findTrace(data, BASE), findTrace(data, "a"), findTrace(data, "")]).toEqual([1, -1, -1]);
    const id = spanId(data, spans.first + 3);
    expect(id).toBe("10000001-2000-3003-8000-000000000003");
    expect([findSpan(data, spans, id), findSpan(data, spans, spanId(data, 0))]).toEqual([3, -1]);
    expect([findSpan(data, spans, ""), findSpan(data, spans, "x".repeat(32))]).toEqual([-1, -1]);
    expect(attributesOf(data, spans.first)).toEqual([
      { key: "db.statement", value: "SELECT 1", isOfBegin: true },
      { key: "rows", value: "7", isOfBegin: true },
    ]);
    expect(attributesOf(data, spans.first + 1)).toEqual([]);
    expect(detailOf(data, spans.first)).toBe("SELECT 1");
    expect(detailOf(data, spans.first + 1)).toBe("");
  });
});

describe("rows in sight", () => {
  const open = (...which: number[]) => Uint8Array.from({ length: 5 }, (_, i) => (which.includes(i) ? 1 : 0));

  it("are those whose parents are open", () => {
    expect(list(visibleSpans(spans, open(), null))).toEqual([0, 4]);
    expect(list(visibleSpans(spans, open(0), null))).toEqual([0, 1, 3, 4]);
    expect(list(visibleSpans(spans, open(0, 1), null))).toEqual([0, 1, 2, 3, 4]);
    expect(list(visibleSpans(spans, open(1), null))).toEqual([0, 4]);
  });

  it("leave out a service or what is not in the time, not what is below it", () => {
    expect(shownSpans(spans, new Set(), null)).toBeNull();
    expect(list(shownSpans(spans, new Set([0]), null)!)).toEqual([0, 0, 0, 0, 1]);
    expect(list(shownSpans(spans, new Set(), { from: 41, to: 90 })!)).toEqual([1, 0, 0, 1, 0]);
    expect(list(visibleSpans(spans, open(), Uint8Array.from([0, 1, 1, 1, 0])))).toEqual([1, 3]);
  });

  it("are as many levels as make few rows; three, or two if that makes too many", () => {
    const rows = (count: number) => {
      const some = spansOf(openFixture(requestPage([makeRequest(count)], SERVICES)), 0);
      return { all: some.size, at: list(visibleSpans(some, openAtFirst(some), null)), depth: some.depth };
    };
    expect(rows(30).at.length).toBe(30);
    const sixty = rows(60);
    expect(sixty.at.length).toBe(list(sixty.depth).filter((depth) => depth < 4).length);
    expect(sixty.at.length).toBeLessThan(60);
    const wide = [
      { name: "root", start: 0, duration: 1000 },
      ...Array.from({ length: 150 }, (_, i) => [
        { name: "child", parent: 0, start: i, duration: 1 },
        { name: "inner", parent: 1 + 2 * i, start: i, duration: 1 },
      ]).flat(),
    ];
    const many = spansOf(openFixture(requestPage([{ base: BASE, spans: wide }], SERVICES)), 0);
    expect(visibleSpans(many, openAtFirst(many), null).length).toBe(151);
    expect(visibleSpans(many, openLevels(many, 1), null).length).toBe(1);
  });

  it("a span that is gone to has everything above it open", () => {
    const shut = open();

    expect(list(reveal(spans, shut, 2))).toEqual([1, 1, 0, 0, 0]);
    expect(list(shut)).toEqual([0, 0, 0, 0, 0]);
    expect(reveal(spans, shut, 4)).toBe(shut);
  });

  it("the row of a span, or of the one that hides it", () => {
    const rows = Uint32Array.from([0, 3, 4]);

    expect([0, 1, 2, 3, 4, 9].map((span) => rowOf(rows, span))).toEqual([0, 0, 0, 1, 2, 2]);
    expect(rowOf(new Uint32Array(0), 3)).toBe(-1);
  });

  it("marked ones are counted and walked through, around the end", () => {
    const before = countMarked(5, (span) => span === 1 || span === 3);

    expect(list(before)).toEqual([0, 0, 1, 1, 2, 2]);
    expect([nextMarked(before, 1, 1), nextMarked(before, 3, 1), nextMarked(before, 1, -1)]).toEqual([
      3, 1, 3,
    ]);
    expect(
      nextMarked(
        countMarked(5, () => false),
        0,
        1,
      ),
    ).toBe(-1);
    expect(
      nextMarked(
        countMarked(1, () => true),
        0,
        1,
      ),
    ).toBe(0);
  });
});

describe("bars", () => {
  it("lie on one axis, as far as one looks", () => {
    expect(barOf(spans, 0, WHOLE)).toEqual({ from: 0, to: 100 / 130 });
    const part = barOf(spans, 3, { from: 30 / 130, to: 90 / 130 });
    expect(part.from).toBeCloseTo(0);
    expect(part.to).toBeCloseTo(0.5);
    expect(windowOf(spans, 3).from).toBeCloseTo(30 / 130);
    expect(windowOf(spans, 3).to).toBeCloseTo(60 / 130);
  });

  it("own time is where no child runs, whether children overlap or not", () => {
    expect(selfParts(spans, 0, 0)).toEqual([0, 10, 60, 100]);
    expect(selfParts(spans, 1, 0)).toEqual([10, 15, 20, 40]);
    expect(selfParts(spans, 1, 6)).toEqual([20, 40]);
    expect(selfParts(spans, 2, 0)).toEqual([15, 20]);
    const nested = [
      { name: "a", start: 0, duration: 100 },
      { name: "b", parent: 0, start: 10, duration: 70 },
      { name: "c", parent: 0, start: 20, duration: 10 },
      { name: "d", parent: 0, start: 95, duration: 50 },
    ];
    const one = spansOf(openFixture(requestPage([{ base: BASE, spans: nested }], SERVICES)), 0);
    expect(selfParts(one, 0, 0)).toEqual([0, 10, 80, 95]);
  });
});

describe("search", () => {
  const found = (query: string, idOf: ((row: number) => string) | null = null) =>
    list(
      matchSpans(
        data,
        spans,
        traceTables(data).services.map((one) => one.name),
        idOf,
        matcherOf(query),
      ),
    );

  it("looks at names, services, errors and attributes", () => {
    expect(found("b")).toEqual([1, 1, 0, 1, 0]); // "db.statement" has one
    expect(found("/^b$/")).toEqual([0, 1, 0, 1, 0]);
    expect(found("engine")).toEqual([0, 0, 0, 0, 1]);
    expect(found("valueerror")).toEqual([0, 0, 1, 0, 0]);
    expect(found("money")).toEqual([0, 0, 1, 0, 0]);
    expect(found("select")).toEqual([1, 0, 0, 0, 0]);
    expect(found("/^7$/")).toEqual([1, 0, 0, 0, 0]);
    expect(found("other")).toEqual([0, 0, 0, 0, 0]); // another trace's
  });

  it("finds an id", () => {
    expect(found("20003003")).toEqual([0, 0, 0, 0, 0]);
    expect(found("2000-3003", (row) => spanId(data, row))).toEqual([0, 0, 0, 1, 0]);
  });
});

describe("the flame of a span", () => {
  it("has the span as its root, and one box for spans of one name", () => {
    const tree = spanFlame(spans, 0);
    const children = list(tree.children(0));

    expect([tree.parent(0), tree.total(0), tree.self(0), tree.width(0)]).toEqual([-1, 100, 50, 100]);
    expect(children.map((node) => data.strings[tree.frame(node)])).toEqual(["b"]);
    const [b] = children as [number];
    expect([tree.parent(b), tree.count(b), tree.total(b), tree.self(b)]).toEqual([0, 2, 60, 55]);
    expect(list(tree.children(b)).map((node) => data.strings[tree.frame(node)])).toEqual(["c"]);
  });

  it("of a leaf is itself", () => {
    const tree = spanFlame(spans, 2);

    expect([tree.total(0), tree.count(0), tree.children(0).length]).toEqual([5, 1, 0]);
  });
});

describe("the address", () => {
  beforeEach(() => (viewOptions.value = {}));

  it("keeps trace and span, and forgets the span with the trace", () => {
    expect(traceShown(data)).toBe(-1);
    showTrace(data, 1, 3);
    expect(traceShown(data)).toBe(1);
    expect(viewOptions.value).toEqual({ "traces.id": BASE, "traces.span": spanId(data, 4) });
    showTrace(data, 0);
    expect(viewOptions.value).toEqual({ "traces.id": TRACES[0]!.base });
    showTrace(data, null);
    expect(viewOptions.value).toEqual({});
  });

  it("one trace is always shown, one that is not there never", () => {
    expect(traceShown(openFixture(requestPage(TRACES.slice(1), SERVICES)))).toBe(0);
    viewOptions.value = { "traces.id": "nothing" };
    expect(traceShown(data)).toBe(-1);
  });

  it("keeps services that are hidden, whatever else stands there", () => {
    hideServices(new Set([2, 0]));
    expect(viewOptions.value).toEqual({ "traces.hidden": "0.2" });
    viewOptions.value = { "traces.hidden": "1.x.-2.3.5" };
    expect([...hiddenServices()]).toEqual([1, 3, 5]);
  });
});

describe("views of a page", () => {
  const ids = (page: typeof data) => viewsOf(page).map((view) => view.id);

  it("traces are offered where there are some", () => {
    expect(ids(data)).toEqual(["traces"]);
    expect(ids(openFixture(makeProgram(100)))).not.toContain("traces");
    expect(ids(openFixture(requestPage(TRACES, SERVICES, { kind: "report" })))).toContain("traces");
  });
});

describe("many spans", () => {
  it("a hundred thousand are laid out at once", () => {
    const page = openFixture(requestPage([makeRequest(100_000)], SERVICES));
    const all = spansOf(page, 0);

    expect(all.size).toBe(100_000);
    expect(visibleSpans(all, new Uint8Array(all.size).fill(1), null).length).toBe(100_000);
    expect(spanFlame(all, 0).total(0)).toBe(1_234_567_890);
  }, 60_000);
});

describe("all traces of a report", () => {
  it("are paths of their own, equal ones together, in the views of paths", () => {
    const report = openFixture(requestPage(TRACES, SERVICES, { kind: "report" }));
    const how = { tracks: null, isMerged: true, isFolded: false };
    const forest = arrange(report, traceRows(report), how);
    const pathOf = (node: number): string =>
      node === 0
        ? ""
        : `${pathOf(forest.parent[node]!)}/${frames(report).list[forest.frame[node]!]?.name ?? "?"}`;
    const nodes = Array.from({ length: forest.size - 1 }, (_, i) => i + 1);

    expect(kindsOf(report)).toEqual(["traces"]);
    expect(whyNoPaths(report)).toBeNull();
    expect(
      nodes.map((node) => [pathOf(node), forest.count[node], forest.total[node], forest.self[node]]),
    ).toEqual([
      ["/other", 1, 5, 5],
      ["/a", 1, 100, 50],
      ["/a/b", 2, 60, 55],
      ["/a/b/c", 1, 5, 5],
      ["/d", 1, 40, 40],
    ]);
    expect(forest.total[0]).toBe(145);
  });

  it("async spans without ids have no paths: it is said where they are", () => {
    const texts = makeTexts();
    const column = (name: string, value: number) => ({ name, type: "uint" as const, values: [value] });
    const names = ["track", "site", "id", "start", "duration", "flags", "lane"];
    const only = { name: "async", columns: names.map((name) => column(name, 1)) };
    const told = whyNoPaths(openFixture(encodePage(emptyRecording(), texts, [only])));

    expect(told).toContain("Ranking and Timeline");
    expect(told).not.toContain("no spans");
  });

  it("name the processes of the recording by their service", () => {
    const processOf = (pid: number, name: string, host = 0) =>
      ({ pid, name, host, command: "", id: pid }) as unknown as Process;
    const texts = makeTexts();
    const twins = [...SERVICES, { service: "other", host: "elsewhere", pid: 88 }];
    const hosts = ["ctl-1", "db-1"].map((name) => ({ ...emptyRecording().hosts[0]!, name }));
    const processes = [
      processOf(4302, "python3"), // a service
      processOf(977, "executor"), // which is its name
      processOf(88, "postgres", 1), // on two machines: the one that it ran on
      processOf(88, "postgres", 0), // … or neither
      processOf(1, "sh"), // in no trace
    ];
    const made = openFixture(
      encodePage({ ...emptyRecording(), hosts, processes }, texts, requestTables(texts, TRACES, twins)),
    );

    expect(processes.map((_, i) => serviceOfProcess(made, i))).toEqual(["engine", "", "database", "", ""]);
    expect(processName(made, 0)).toBe("engine · python3 4302");
    expect(processName(made, 4)).toBe("sh 1");
  });
});

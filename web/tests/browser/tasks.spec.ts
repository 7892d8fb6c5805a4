/* Task graphs: the page says what `venturi tasks --json` says; the stream is walked with keys and pointer, searched, zoomed, saved, and kept in
 * the address. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { formatTime } from "../../src/ui/format";
import {
  coloursOf,
  hasChromium,
  hashHas,
  picture,
  saved,
  savedRows,
  svgElements,
  tab,
  useBrowser,
} from "./chromium";
import { BUILD, json, once, record, report } from "./tool";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const BEGIN = 1_790_000_000n * 1_000_000_000n;
const MS = 1_000_000n;

/* Lines for make_tasks: see there. */
function taskLine(task: {
  number: number;
  key: string;
  name: string;
  worker: number;
  state?: number;
  action?: number;
  start: bigint;
  end: bigint;
  needs?: number[];
}): string {
  const { number, key, name, worker, state = 1, action = 0, start, end, needs = [] } = task;

  return [
    "task",
    number,
    key,
    name,
    worker,
    state,
    action,
    state === 2 ? 1 : 0,
    start - (number > 0 ? MS : 0n),
    start,
    end,
    0,
    Number((end - start) / 2n),
    number * 1000,
    0,
    needs.join(","),
  ].join("\t");
}

/* Two runs on two workers: a chain with a transfer and a failure, and three tasks beside each other. Keys and names are not to be trusted. */
function twoRuns(): string {
  const at = (ms: bigint) => BEGIN + ms * MS;
  const workers = [0, 1].map((n) => ["worker", n, `tcp://10.0.0.${n + 1}:4000`, 10 + n, 100 + n].join("\t"));
  const run = (begin: bigint, end: bigint, error: string) =>
    ["run", "distributed", 0, 4, 0, at(begin), at(end), error].join("\t");
  const evil = "<img src=x onerror=alert(1)>";

  return [
    run(0n, 100n, "ValueError: no luck"),
    ...workers,
    taskLine({ number: 0, key: "('load', 0)", name: "load", worker: 0, start: at(1n), end: at(21n) }),
    taskLine({ number: 1, key: "('load', 1)", name: "load", worker: 1, start: at(1n), end: at(11n) }),
    taskLine({
      number: 2,
      key: "('add', 0)",
      name: "add",
      worker: 1,
      start: at(30n),
      end: at(60n),
      needs: [0, 1],
    }),
    taskLine({ number: 2, key: "", name: "", worker: 1, action: 1, start: at(22n), end: at(29n) }),
    taskLine({
      number: 3,
      key: evil,
      name: evil,
      worker: 0,
      state: 2,
      start: at(62n),
      end: at(90n),
      needs: [2],
    }),
    run(120n, 150n, ""),
    ...workers,
    ...[0, 1, 2].map((n) =>
      taskLine({
        number: n,
        key: `('late', ${n})`,
        name: "late",
        worker: n % 2,
        start: at(121n + BigInt(n) * 5n),
        end: at(125n + BigInt(n) * 5n),
      }),
    ),
    "",
  ].join("\n");
}

function made(name: string, text: () => string): string {
  return once(`${name}.vt`, (path) =>
    execFileSync(join(BUILD, "tests/programs/make_tasks"), [path], { input: text() }),
  );
}

const small = () => made("tasks", twoRuns);
const graph = () => record("graph", "--", join(BUILD, "examples/graph"), "48");

/* As wide as it gets: a hundred thousand tasks of 16 workers. */
function many(): string {
  const lines = [["run", "threads", 0, 100_000, 0, BEGIN, BEGIN + 2_000n * MS, ""].join("\t")];

  for (let n = 0; n < 16; n++) lines.push(["worker", n, `thread ${n}`, 9, 100 + n].join("\t"));
  for (let i = 0; i < 100_000; i++) {
    const start = BEGIN + MS + BigInt(i >> 4) * 310_000n;
    const name = ["load", "parse", "join"][Math.floor(i / 40_000)]!;
    const needs = i >= 40_000 ? [i - 40_000] : [];
    lines.push(
      taskLine({
        number: i,
        key: `('${name}', ${i})`,
        name,
        worker: i & 15,
        start,
        end: start + 300_000n,
        needs,
      }),
    );
  }
  return `${lines.join("\n")}\n`;
}

interface Told {
  names: { name: string; count: number; total_s: number; p50_s: number; p99_s: number; failed: number }[];
}

interface ToldPaths {
  critical_paths: { length_s: number; at_least_s: number; tasks: { key: string; time_s: number }[] }[];
}

const panel = (page: Page, name: string): Promise<void> =>
  page.locator(".tasks-panel").getByRole("button", { name, exact: true }).click();
const rows = (page: Page, label: string | RegExp): Locator =>
  page.getByRole("grid", { name: label }).locator(".table-body [role=row]");
const heading = (page: Page): Locator => page.locator(".tasks-facts h2");

describe.skipIf(!hasChromium)("tasks", () => {
  const open = useBrowser();

  it("says by name what the tool says", async () => {
    const { page, problems } = await open(report(graph()), { hash: "tasks" });
    const told = json<Told>("tasks", graph(), "--json");
    const csv = await savedRows(page, page.locator(".tasks-panel .table-foot button"));

    expect(csv.length).toBe(told.names.length);
    for (const name of told.names) {
      const row = csv.find((one) => one.name === name.name)!;
      expect(Number(row.count), name.name).toBe(name.count);
      expect(Number(row.total_ns) / 1e9).toBeCloseTo(name.total_s, 8);
      expect(Number(row.p50_ns) / 1e9).toBeCloseTo(name.p50_s, 8);
      expect(Number(row.p99_ns) / 1e9).toBeCloseTo(name.p99_s, 8);
    }
    expect(await coloursOf(picture(page).canvas)).toBeGreaterThan(5);
    expect(problems).toEqual([]);
  });

  it("shows the critical path as the tool has it, and goes to its tasks", async () => {
    const { page, problems } = await open(report(graph()), { hash: "tasks" });
    const path = json<ToldPaths>("tasks", graph(), "--critical-path", "--json").critical_paths[0]!;

    await page.keyboard.press("p");
    await expect
      .poll(() => page.locator(".tasks-says").textContent())
      .toContain(`takes ${formatTime(path.length_s * 1e9)} of`);
    expect(await page.locator(".tasks-says").textContent()).toContain(
      `at least ${formatTime(path.at_least_s * 1e9)}`,
    );
    const csv = await savedRows(page, page.locator(".tasks-panel .table-foot button"));
    expect(csv.map((row) => row.key)).toEqual(path.tasks.map((task) => task.key));
    await rows(page, "Tasks on the critical path").nth(1).click();
    await page.keyboard.press("o");
    expect(await heading(page).textContent()).toBe(path.tasks[1]!.key);
    expect(problems).toEqual([]);
  });

  it("a click selects a task, and what it needs is listed and leads there", async () => {
    const { page, problems } = await open(report(small()), { hash: "tasks?o.tasks.run=1" });
    const box = (await picture(page).canvas.boundingBox())!;
    const x = box.x + 168 + ((box.width - 168) * 45) / 100; // in the middle of add, on the second worker

    await page.mouse.move(x, box.y + 24 + 36 + 18);
    await expect.poll(() => page.locator(".tooltip").textContent()).toContain("('add', 0)");
    expect(await page.locator(".tooltip").textContent()).toContain("30.0 ms on tcp://10.0.0.2:4000, done");
    await page.mouse.down();
    await page.mouse.up();
    await expect.poll(() => heading(page).textContent()).toBe("('add', 0)");
    expect(await rows(page, /^Depends on/).count()).toBe(2);
    expect(await rows(page, /^Needed by/).count()).toBe(1);
    await rows(page, /^Depends on/)
      .first()
      .focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => heading(page).textContent()).toBe("('load', 0)");
    await hashHas(page, "o.tasks.task=");
    await page.keyboard.press("]");
    await expect.poll(() => heading(page).textContent()).toBe("('add', 0)");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.locator(".tasks-task").count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it("is walked with the keys alone, and says where one is", async () => {
    const { page, problems } = await open(report(small()), { hash: "tasks" });
    const said = () => page.locator(".status").textContent();
    const press = async (key: string, text: string) => {
      await page.keyboard.press(key);
      await expect.poll(said, { message: key }).toContain(text);
    };

    await press("ArrowRight", "('load', 0), 20.0 ms, tcp://10.0.0.1:4000");
    await press("ArrowDown", "('load', 1)");
    await press(".", "No other task is called load");
    await press("e", "<img src=x");
    await press("[", "('add', 0)");
    await press("[", "('load', 0)");
    await press("]", "('add', 0)");
    for (const [key, title] of [
      ["i", "What each worker did"],
      ["p", "Tasks on the critical path"],
      ["n", "Tasks by name"],
    ] as const) {
      await page.keyboard.press(key);
      await page.getByRole("grid", { name: title }).waitFor();
    }
    expect(problems).toEqual([]);
  });

  it("finds by key and by name, and goes from one to the next", async () => {
    const { page, problems } = await open(report(small()), { hash: "tasks" });

    await page.getByRole("searchbox").fill("/'l(oad|ate)', 1/");
    await expect.poll(() => page.locator(".timeline-found").textContent()).toContain("2 tasks found");
    await page.locator("main").focus();
    await page.keyboard.press("Enter");
    await hashHas(page, "o.tasks.task=");
    await page.keyboard.press("o");
    await expect.poll(() => heading(page).textContent()).toBe("('load', 1)");
    await page.keyboard.press("Enter");
    await expect.poll(() => heading(page).textContent()).toBe("('late', 1)");
    expect(problems).toEqual([]);
  });

  it("chooses a run, and shares names, time and zoom with other views", async () => {
    const { page, problems } = await open(report(small()), { hash: "tasks" });
    const names = () => rows(page, "Tasks by name").count();

    expect(await names()).toBe(5);
    await page.getByRole("combobox", { name: "Run" }).selectOption({ index: 2 });
    await expect.poll(names).toBe(1);
    await hashHas(page, "o.tasks.run=2");
    await page.getByRole("combobox", { name: "Run" }).selectOption({ index: 0 });
    await page.keyboard.press("w");
    await hashHas(page, "o.timeline.zoom=");
    await page.keyboard.press("0");
    const box = (await picture(page).canvas.boundingBox())!;
    await page.mouse.move(box.x + 180, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + 168 + (box.width - 168) * 0.18, box.y + 40, { steps: 4 });
    await page.mouse.up();
    await hashHas(page, "range=");
    await expect.poll(() => page.locator(".selected").textContent()).toContain("time");
    await page.keyboard.press("Escape");
    await page.locator(".tasks-legend button", { hasText: "add" }).click();
    await expect.poll(() => page.locator(".selected").textContent()).toContain("add");
    expect(problems).toEqual([]);
  });

  it("says what workers did, with bars and a table that add up", async () => {
    const { page, problems } = await open(report(small()), {
      hash: "tasks?o.tasks.panel=workers&o.tasks.run=1",
    });
    const told = json<{ workers: { worker: string; compute_s: number; idle_s: Record<string, number> }[] }>(
      "tasks",
      small(),
      "--by",
      "worker",
      "--run",
      "1",
      "--json",
    );
    const csv = await savedRows(page, page.locator(".tasks-panel .table-foot button"));

    told.workers.forEach((worker) => {
      const row = csv.find((one) => one.worker === worker.worker)!;
      expect(Number(row.compute_ns) / 1e9).toBeCloseTo(worker.compute_s, 8);
      expect(Number(row.dependencies_ns ?? 0) / 1e9).toBeCloseTo(worker.idle_s["dependencies"] ?? 0, 8);
    });
    const svg = await saved(page, page.locator(".tasks-bars .save").getByRole("button", { name: "SVG" }));
    expect(await svgElements(page, svg.data.toString("utf8"))).toBeGreaterThan(8);
    expect(problems).toEqual([]);
  });

  it("saves its pictures, and every one has a table behind it", async () => {
    const { page, problems } = await open(report(graph()), { hash: "tasks" });

    for (const section of [".tasks-stream", ".tasks-curves"]) {
      const button = (name: string) =>
        page.locator(`${section} .save`).getByRole("button", { name, exact: true });
      const svg = await saved(page, button("SVG"));
      expect(await svgElements(page, svg.data.toString("utf8")), section).toBeGreaterThan(20);
      expect((await saved(page, button("PNG"))).data.subarray(1, 4).toString(), section).toBe("PNG");
      expect((await savedRows(page, button("CSV"))).length, section).toBeGreaterThan(20);
      await button("Table").click();
      expect(await page.locator(`${section} .picture-table tbody tr`).count(), section).toBeGreaterThan(20);
      await button("Table").click();
    }
    expect(problems).toEqual([]);
  });

  it("says so where no task was recorded, and bears tasks without length, worker or end", async () => {
    const begin = String(BEGIN);
    const none = made("tasks-none", () => `run\tsync\t0\t0\t0\t${begin}\t${begin}\t\n`);
    const odd = made("tasks-odd", () =>
      [
        ["run", "sync", 0, 3, 0, begin, 0, ""].join("\t"),
        ["worker", 0, "", 0, 0].join("\t"),
        ["task", 0, "", "f", 0, 1, 0, 0, begin, begin, begin, 0, -1, -1, 0, ""].join("\t"),
        ["task", 1, "k", "g", -1, 3, 0, 0, 0, 0, 0, 0, -1, -1, 0, "0"].join("\t"),
        "",
      ].join("\n"),
    );
    const first = await open(report(none), { hash: "tasks" });
    expect(await first.page.locator("main .empty").textContent()).toContain("none of their tasks");
    const { page, problems } = await open(report(odd), { hash: "tasks" });
    expect(await page.locator("main").textContent()).toContain("1 never ran");
    for (const key of ["ArrowRight", "w", "d", "f", "r", "[", "]", ".", "e", "p", "i", "o", "0", "n"])
      await page.keyboard.press(key);
    expect(await rows(page, "Tasks by name").count()).toBe(1);
    await page.emulateMedia({ media: "print" });
    expect([...first.problems, ...problems]).toEqual([]);
  });

  it("a finding leads to its run", async () => {
    const { page, problems } = await open(report(small()), { hash: "overview" });

    await page.locator(".findings button", { hasText: "failed" }).click();
    await page.locator("main[aria-label='Tasks']").waitFor();
    expect(await page.locator(".tasks-problem").textContent()).toContain("ValueError: no luck");
    expect(problems).toEqual([]);
  });

  for (const isDark of [false, true])
    it(`axe finds nothing serious, ${isDark ? "dark" : "light"}, and it fits on a narrow screen`, async () => {
      const { page, problems } = await open(report(small()), { isDark, bypassCSP: true, hash: "tasks" });

      await page.addScriptTag({ content: AXE });
      await page.keyboard.press("ArrowRight");
      for (const name of ["Names", "Critical path", "Workers", "Task"]) {
        await panel(page, name);
        const found = await page.evaluate(() =>
          (
            window as unknown as {
              axe: {
                run(
                  o: object,
                ): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>;
              };
            }
          ).axe.run({ resultTypes: ["violations"] }),
        );
        const serious = found.violations.filter(
          ({ impact }) => impact === "serious" || impact === "critical",
        );
        expect(
          serious.map(({ id, nodes }) => `${id} ${nodes[0]?.html}`),
          name,
        ).toEqual([]);
      }
      await page.setViewportSize({ width: 400, height: 700 });
      for (const name of ["Names", "Critical path", "Workers", "Task"]) {
        await panel(page, name);
        expect(
          await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
          name,
        ).toBeLessThanOrEqual(0);
      }
      expect(problems).toEqual([]);
    });

  it("a hundred thousand tasks are a small page, drawn by level of detail", async () => {
    const path = report(made("many", many));
    const { page, problems } = await open(path, { hash: "tasks" });

    expect(readFileSync(path).length).toBeLessThan(1_500_000);
    await page.waitForFunction(() => performance.getEntriesByName("venturi:tasks").length > 0);
    const svg = await saved(page, picture(page).button("SVG"));
    const elements = await svgElements(page, svg.data.toString("utf8"));
    expect(elements).toBeGreaterThan(2000);
    expect(elements).toBeLessThan(40_000);
    expect((await savedRows(page, picture(page).button("CSV"))).length).toBe(100_000);
    await tab(page, "Tasks").waitFor();
    expect(problems).toEqual([]);
  });
});

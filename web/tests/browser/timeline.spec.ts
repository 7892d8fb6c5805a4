/* The timeline draws the spans that `venturi query` lists, and is moved by keys, wheel, drag and click. */

import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { formatCount, formatTime } from "../../src/ui/format";
import type { ReportAnswer } from "./answers";
import {
  coloursOf,
  hasChromium,
  hashHas,
  picture,
  saved,
  savedRows,
  svgElements,
  useBrowser,
} from "./chromium";
import { spans } from "./samples";
import { golden, json, report } from "./tool";

interface Span {
  name: string;
  track: number;
  depth: number;
  begin_ns: number;
  duration_ns: number;
  corrected_ns: number;
}

function listed(recording: string, where = "NOT async"): Span[] {
  return json<Span[]>("query", recording, "--json", `SELECT * FROM spans WHERE ${where} ORDER BY begin_ns`);
}

/* How many spans the rows of a table stand for. */
function spansIn(rows: Record<string, string>[], isAsync: boolean): number {
  return rows.reduce((sum, row) => sum + ((row.thread === "async") === isAsync ? Number(row.spans) : 0), 0);
}

async function drawn(page: Page): Promise<void> {
  await page.waitForFunction(() => performance.getEntriesByName("venturi:timeline").length > 0);
}

function option(page: Page, name: string): Promise<string | null> {
  return page.evaluate((key) => new URLSearchParams(location.hash.split("?")[1]).get(key), name);
}

describe.skipIf(!hasChromium)("timeline", () => {
  const open = useBrowser();

  it("has every span of a stretch, to the nanosecond", async () => {
    const told = listed(spans());
    const middle = told[Math.floor(told.length / 2)]!;
    const [from, to] = [middle.begin_ns, middle.begin_ns + 200_000];
    const { page, problems } = await open(report(spans()), {
      hash: `timeline?o.timeline.zoom=${from}-${to}`,
    });
    await drawn(page);
    await expect.poll(() => coloursOf(picture(page).canvas)).toBeGreaterThan(5);
    const rows = await savedRows(page, picture(page).button("CSV"));
    const single = rows.filter((row) => row.spans === "1" && row.thread !== "async");
    const keys = new Set(
      told.map((span) => `${span.name} ${span.depth} ${span.begin_ns} ${span.duration_ns}`),
    );

    expect(single.length).toBeGreaterThan(3);
    for (const row of single)
      expect(keys).toContain(`${row.name} ${row.depth} ${row["start ns"]} ${row["duration ns"]}`);
    expect(spansIn(rows, false)).toBe(
      told.filter((span) => span.begin_ns <= to && span.begin_ns + span.duration_ns >= from).length,
    );
    expect(problems).toEqual([]);
  });

  it("shows all spans of the whole run, folded or not", async () => {
    const { page, problems } = await open(report(spans()), { hash: "timeline" });
    await drawn(page);
    const rows = await savedRows(page, picture(page).button("CSV"));

    expect(spansIn(rows, false)).toBe(listed(spans()).length);
    expect(spansIn(rows, true)).toBe(listed(spans(), "async").length);
    const svg = (await saved(page, picture(page).button("SVG"))).data.toString("utf8");
    expect(await svgElements(page, svg)).toBeGreaterThan(50);
    expect((await saved(page, picture(page).button("PNG"))).data.length).toBeGreaterThan(2000);
    expect(problems).toEqual([]);
  });

  it("zooms and pans by keys, wheel and buttons", async () => {
    const { page, problems } = await open(report(spans()), { hash: "timeline" });
    await drawn(page);
    const zoom = () => option(page, "o.timeline.zoom");
    const box = (await picture(page).canvas.boundingBox())!;
    const width = async () => {
      const [from, to] = ((await zoom()) ?? "0-0").split("-").map(Number);
      return to! - from!;
    };
    const begin = (range: string | null) => Number((range ?? "0").split("-")[0]);

    await page.keyboard.press("w");
    await page.keyboard.press("w");
    await expect.poll(zoom).not.toBeNull();
    const before = (await zoom())!;
    await page.keyboard.press("d");
    await expect.poll(zoom).not.toBe(before);
    await page.keyboard.press("a");
    await expect.poll(async () => Math.abs(begin(await zoom()) - begin(before))).toBeLessThan(3); // ns, whole ones
    const wide = await width();
    await page.mouse.move(box.x + 600, box.y + 60);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -200);
    await page.keyboard.up("Control");
    await expect.poll(width).toBeLessThan(wide);
    const here = (await zoom())!;
    await page.keyboard.down("Shift");
    await page.mouse.wheel(0, 200);
    await page.keyboard.up("Shift");
    await expect.poll(zoom).not.toBe(here);
    await page.getByRole("button", { name: "Fit", exact: true }).click();
    await expect.poll(zoom).toBeNull();
    expect(problems).toEqual([]);
  });

  it("a drag selects a stretch of time, and the ranking counts only what is in it", async () => {
    const { page, problems } = await open(report(spans()), { hash: "timeline" });
    await drawn(page);
    const box = (await picture(page).canvas.boundingBox())!;

    await page.mouse.move(box.x + 250, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 500, box.y + 60, { steps: 4 });
    await page.mouse.move(box.x + box.width - 60, box.y + 60, { steps: 4 });
    await page.mouse.up();
    await hashHas(page, "range=");
    const [from, to] = (await option(page, "range"))!.split("-").map(Number) as [number, number];
    expect(await page.locator(".selected").textContent()).toContain(formatTime(from));
    await page.keyboard.press("2");
    const csv = page.getByRole("button", { name: "CSV", exact: true });
    await expect.poll(() => page.locator(".toolbar").textContent()).not.toContain("counting");
    const rows = await savedRows(page, csv);
    const told = listed(spans(), `NOT async AND begin_ns >= ${from} AND begin_ns < ${to}`);
    const name = told[Math.floor(told.length / 2)]!.name;
    const wanted = told.filter((span) => span.name === name).length;
    expect(Number(rows.find((row) => row.name === name)?.count)).toBe(wanted);
    await page.keyboard.press("Escape");
    await expect.poll(() => page.locator(".selected").count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it("a click selects a span: its drawer has the tool's numbers, keys go on from there", async () => {
    const told = listed(spans());
    const long = told
      .filter((span) => span.depth === 1)
      .toSorted((a, b) => b.duration_ns - a.duration_ns)[0]!;
    const [from, to] = [long.begin_ns - 50_000, long.begin_ns + long.duration_ns + 50_000];
    const { page, problems } = await open(report(spans()), {
      hash: `timeline?o.timeline.zoom=${Math.max(0, from)}-${to}&span=${long.track}.1.${long.begin_ns}`,
    });
    const stats = json<ReportAnswer>("report", "--json", "-n", "0", spans()).spans;
    const drawer = page.locator(".drawer");
    const same = stats.find((one) => one.name === long.name)!;

    await expect.poll(() => drawer.locator("h2").textContent()).toBe(long.name);
    expect(await drawer.textContent()).toContain(`Duration${formatTime(long.corrected_ns)}`);
    expect(await drawer.textContent()).toContain(`${formatCount(same.count)} of this name`);
    const at = () => option(page, "span");
    const start = await at();
    await page.keyboard.press("ArrowUp");
    await expect.poll(at).not.toBe(start);
    await page.keyboard.press("b");
    await expect.poll(at).toBe(start);
    await page.keyboard.press("r");
    await hashHas(page, "range=");
    await drawer.getByRole("button", { name: "Close" }).click();
    await expect.poll(() => drawer.count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it("a click on a rectangle selects it", async () => {
    const { page, problems } = await open(report(spans()), { hash: "timeline" });
    await drawn(page);
    const box = (await picture(page).canvas.boundingBox())!;

    await page.mouse.click(box.x + 700, box.y + 24 + 10);
    await hashHas(page, "span=");
    await expect.poll(() => page.locator(".drawer h2").textContent()).toBe("pipeline");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.locator(".drawer").count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it("a search counts what it finds and goes from one to the next", async () => {
    const { page, problems } = await open(report(spans()), { hash: "timeline?search=classify" });
    await drawn(page);
    const told = listed(spans(), "name = 'classify'");

    await page.keyboard.press("Enter");
    await hashHas(page, `.${told[0]!.begin_ns}`);
    await page.keyboard.press("Enter");
    await hashHas(page, `.${told[1]!.begin_ns}`);
    await page.keyboard.press("Shift+Enter");
    await hashHas(page, `.${told[0]!.begin_ns}`);
    expect(await page.locator(".timeline-found").textContent()).toMatch(/spans? found: .* % of the time/);
    expect(problems).toEqual([]);
  });

  it("shows processes, counters, marks, errors, async spans and losses", async () => {
    const { page, problems } = await open(report(golden("everything")), { hash: "timeline" });
    await drawn(page);
    const svg = (await saved(page, picture(page).button("SVG"))).data.toString("utf8");

    for (const text of ["queue", "memory", "async"]) expect(svg).toContain(text);
    expect(await svgElements(page, svg)).toBeGreaterThan(50);
    expect(problems).toEqual([]);
  });
});

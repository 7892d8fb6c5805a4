/* Recordings with nothing, little or half of it: every view opens and says in words what is missing. */

import { readFileSync, truncateSync, writeFileSync, copyFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { hasChromium, tab, useBrowser } from "./chromium";
import { calls, lines, spans } from "./samples";
import { golden, inFolder, once, report, venturi, writeWithPython } from "./tool";

const VIEWS = ["Overview", "Ranking", "Flame", "Sandwich", "Timeline", "Source", "Resources"] as const;

const COUNTERS = `
import sys
from vtwrite import Writer
w = Writer()
w.host()
w.clock(kind=2, anchors=[(0, 0, 1800000000 * 10 ** 9, 0)])
w.process(0)
w.track(0, name="main", thread=100)
w.site(1, "queue", 1, "main", "main.c", 7, "items")
e = w.events(0, first=0)
for i in range(50):
    e.counter(1000 * i, 1, i * i)
e.write()
w.close()
open(sys.argv[1], "wb").write(w.bytes())
`;

/* The sentence that stands in place of a view; "" where there is one. */
async function missing(page: Page, view: string): Promise<string> {
  await tab(page, view).click();
  await page.locator(`main[aria-label="${view}"]`).waitFor();
  const empty = page.locator("main > p.empty");
  return (await empty.count()) ? ((await empty.textContent()) ?? "") : "";
}

async function allMissing(page: Page): Promise<string[]> {
  const without: string[] = [];

  for (const view of VIEWS) {
    const text = await missing(page, view);
    if (text) without.push(view);
    else expect((await page.locator("main").innerText()).length, view).toBeGreaterThan(20);
    if (text) expect(text, view).toMatch(/^[A-Z].*\.$/);
  }
  return without;
}

describe.skipIf(!hasChromium)("missing", () => {
  const open = useBrowser();

  it("an empty recording", async () => {
    const { page, problems } = await open(report(golden("empty")));

    expect(await page.locator("main").textContent()).toContain("This recording is empty");
    expect(await allMissing(page)).toEqual(VIEWS.slice(1));
    expect(problems).toEqual([]);
  });

  it("only functions", async () => {
    const { page, problems } = await open(report(calls()));

    expect(await allMissing(page)).toEqual(["Timeline", "Source"]);
    expect(await missing(page, "Timeline")).toContain("--timeline");
    expect(await missing(page, "Source")).toContain("venturi run -l");
    expect(problems).toEqual([]);
  });

  it("only spans, without resources", async () => {
    const { page, problems } = await open(report(golden("everything")));

    expect(await allMissing(page)).toEqual(["Source", "Resources"]);
    expect(await missing(page, "Resources")).toContain("not sampled");
    await tab(page, "Flame").click();
    expect(await page.locator("main canvas").first().getAttribute("aria-label")).toContain("Spans");
    expect(problems).toEqual([]);
  });

  it("only lines", async () => {
    const { page, problems } = await open(report(lines()));

    expect(await allMissing(page)).toEqual(["Flame", "Sandwich", "Timeline"]);
    expect(problems).toEqual([]);
  });

  it("only counters", async () => {
    const { page, problems } = await open(report(writeWithPython("counters.vt", COUNTERS)));

    expect(await allMissing(page)).toEqual(["Ranking", "Flame", "Sandwich", "Source", "Resources"]);
    expect(problems).toEqual([]);
  });

  it("a recording that was cut off says so", async () => {
    const path = once("cut.vt", (out) => {
      copyFileSync(spans(), out);
      truncateSync(out, Math.floor(readFileSync(out).length * 0.7));
    });
    const { page, problems } = await open(report(path));

    expect(await page.locator("main").innerText()).toMatch(/cut off|no end|not closed|ended before/i);
    await allMissing(page);
    expect(problems).toEqual([]);
  });

  it("a damaged one says so", async () => {
    const { page, problems } = await open(report(golden("damage")));

    expect(await page.locator("main").innerText()).toMatch(/damage/i);
    await allMissing(page);
    expect(problems).toEqual([]);
  });

  it("a profile of cProfile says that its paths are estimates", async () => {
    const path = once("calls.prof", (out) => venturi("export", "-f", "pstats", calls(), "-o", out));
    const { page, problems } = await open(report(path));

    expect(await allMissing(page)).toEqual(["Timeline", "Source", "Resources"]);
    await tab(page, "Overview").click();
    expect(await page.locator("main").innerText()).toMatch(/estimate|shared out/i);
    await tab(page, "Ranking").click();
    await page.getByRole("searchbox").fill("descend");
    await expect.poll(() => page.locator("[data-at='0']").textContent()).toContain("descend");
    expect(problems).toEqual([]);
  });

  it("a profile of line_profiler", async () => {
    const path = once("lines.lprof", (out) => venturi("export", "-f", "lprof", lines(), "-o", out));
    const { page, problems } = await open(report(path));

    expect(await missing(page, "Source")).toBe("");
    expect(await page.locator(".source-list").textContent()).toContain("collatz");
    expect(problems).toEqual([]);
  });

  it("a page that was cut off says so", async () => {
    const whole = readFileSync(report(spans()));
    const path = inFolder("half.html");
    writeFileSync(path, whole.subarray(0, whole.length - 2000));
    const { page } = await open(report(spans()));

    await page.goto(pathToFileURL(path).href);
    await expect.poll(() => page.locator("body").innerText()).toMatch(/cannot show|not whole/i);
  });
});

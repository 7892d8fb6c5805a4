/* Recordings whose every text is an attack: nothing runs, nothing is asked for, nothing is pushed out of shape. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { hasChromium, picture, saved, svgElements, tab, useBrowser } from "./chromium";
import { hostileRecording, NAMES } from "./hostile";
import { golden, importText, report, venturi, writeWithPython, once } from "./tool";

/* Functions, and the lines of a source that is itself full of markup. */
const PROFILE = `
import marshal, sys
NAMES = [name.decode("latin-1") if isinstance(name, bytes) else name for name in ${NAMES}]
table = {}
for i, name in enumerate(NAMES):
    callers = {(NAMES[i - 1], i, NAMES[i - 1]): (1, 1, 0.5, 1.0)} if i else {}
    table[(name, i + 1, name)] = (1, 1, 0.5, 1.0 + len(NAMES) - i, callers)
open(sys.argv[1], "wb").write(marshal.dumps(table))
`;

/* Turns lines around, or is not seen at all. */
const UNSEEN = /[\u202a-\u202e\u2066-\u2069\u0000\u001b\u2028]/;

const VIEWS = ["Overview", "Ranking", "Flame", "Sandwich", "Timeline", "Source", "Resources"];

describe.skipIf(!hasChromium)("hostile", () => {
  const open = useBrowser();

  async function walk(path: string, width: number): Promise<void> {
    const { page, problems } = await open(path, { width });
    const tags = () =>
      page.evaluate(() => document.querySelectorAll("img, iframe, object, embed, form, base, svg").length);

    for (const name of VIEWS) {
      await tab(page, name).click();
      await page.locator(`main[aria-label="${name}"]`).waitFor();
      for (const key of ["ArrowDown", "ArrowDown", "ArrowRight", "Enter", "w", "0"])
        await page.keyboard.press(key);
      await page.mouse.move(width / 2, 300);
      await page.mouse.click(width / 2, 310);
      await page.waitForTimeout(50);
      expect(
        await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
        name,
      ).toBeLessThanOrEqual(0);
      expect(await tags(), name).toBe(0);
      expect(
        await page.evaluate(() => document.getElementById("app")!.textContent + document.title),
        name,
      ).not.toMatch(UNSEEN);
    }
    const hasThreads = (await page.getByRole("button", { name: "Threads", exact: true }).count()) > 0;
    await page.keyboard.press(hasThreads ? "t" : "?");
    await page.getByRole("dialog").waitFor();
    expect(await tags()).toBe(0);
    await page.keyboard.press("Escape");
    expect(await page.evaluate(() => "hit" in window)).toBe(false);
    expect(await page.evaluate(() => document.querySelectorAll("script:not([type])").length)).toBe(1);
    expect(problems).toEqual([]);
  }

  it("what would run or ask is stopped, and noticed here", async () => {
    const { page, problems } = await open(report(golden("empty")));
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? "");
      response.end();
    });
    await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

    await page.evaluate((to) => {
      const script = document.createElement("script");
      const image = document.createElement("img");
      script.textContent = "window.hit = 1";
      image.src = `${to}/image`;
      document.body.append(script, image);
      return fetch(`${to}/fetch`).catch(() => null);
    }, address);
    expect(await page.evaluate(() => "hit" in window)).toBe(false);
    for (const part of ["script-src", "img-src", "connect-src"])
      expect(
        problems.some((problem) => problem.includes(part)),
        part,
      ).toBe(true);
    server.close();
    expect(asked).toEqual([]);
  });

  it("names of spans, threads, processes, counters, errors", async () => {
    await walk(report(hostileRecording()), 1280);
  });

  it("the same on a narrow screen", async () => {
    await walk(report(hostileRecording()), 400);
  });

  it("names and files of functions", async () => {
    await walk(report(writeWithPython("hostile.prof", PROFILE)), 1280);
  });

  it("a comparison", async () => {
    const recording = hostileRecording();
    const path = once("hostile-diff.html", (out) => venturi("diff", recording, recording, "-o", out));
    const { page, problems } = await open(path);

    await page.getByRole("button", { name: "show all" }).click(); // nothing has changed
    await expect.poll(() => page.locator("[data-at]").count()).toBeGreaterThan(5);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(
      0,
    );
    expect(problems).toEqual([]);
  });

  it("names in a trace of Chrome's", async () => {
    const names = [
      "</script><script>alert(1)</script>",
      "<img src=x onerror=alert(1)>",
      "\u202eabc",
      "\u0000",
      "y".repeat(10_000),
    ];
    const events = names.flatMap((name, i) => [
      { ph: "M", name: "process_name", pid: i, tid: i, args: { name } },
      { ph: "M", name: "thread_name", pid: i, tid: i, args: { name } },
      { ph: "X", name, cat: name, pid: i, tid: i, ts: i * 10, dur: 9, args: { [name]: name } },
    ]);
    await walk(report(importText("hostile-chrome", JSON.stringify(events), "chrome")), 1280);
  });

  it("saves them as drawings and tables that hold no code", async () => {
    const { page, problems } = await open(report(hostileRecording()), {
      hash: "timeline",
    });

    await page.waitForFunction(() => performance.getEntriesByName("venturi:timeline").length > 0);
    const svg = (await saved(page, picture(page).button("SVG"))).data.toString("utf8");
    expect(await svgElements(page, svg)).toBeGreaterThan(20);
    await tab(page, "Ranking").click();
    const csv = await saved(page, page.getByRole("button", { name: "CSV", exact: true }));
    expect(csv.name).toMatch(/^[A-Za-z0-9._-]+\.csv$/);
    expect(csv.data.toString("utf8")).not.toMatch(/^[=@+]/m);
    expect(problems).toEqual([]);
  });
});

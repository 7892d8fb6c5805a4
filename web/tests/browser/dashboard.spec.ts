/* The dashboard as `venturi serve` shows it: a program while it runs, what was recorded of one, and what happens when the server goes. */

import { copyFileSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { formatCount } from "../../src/ui/format";
import { AXE, overflow, serious } from "./axe";
import { coloursOf, csvRows, hasChromium, hashHas, saved, useBrowser } from "./chromium";
import { hostileRecording } from "./hostile";
import { spans } from "./samples";
import { hasServe, serve, startPipeline, useProcesses } from "./serve";
import { FOLDER, json } from "./tool";

const PATIENCE = { timeout: 30_000 };

function panel(page: Page, title: string): Locator {
  return page.getByRole("region", { name: title, exact: true });
}

/* The text of a cell, by the name of its column, in the row that begins with a name. */
async function cell(page: Page, title: string, row: string, column: string): Promise<string> {
  const table = panel(page, title).getByRole("grid");
  const heads = (await table.getByRole("columnheader").allInnerTexts()).map((text) =>
    text.replace(/ ?[↑↓]$/, ""),
  );
  const found = table
    .getByRole("row")
    .filter({ has: page.getByRole("gridcell", { name: row, exact: true }) });

  return (await found.getByRole("gridcell").nth(heads.indexOf(column)).innerText()).trim();
}

const numberOf = (text: string) => Number(text.replace(/[^0-9.]/g, ""));

/* One of the numbers at a glance. */
function glance(page: Page, name: string): Promise<string> {
  return factOf(page.locator(".summary"), name);
}

async function factOf(place: Locator, name: string): Promise<string> {
  const fact = place.locator(".facts > div").filter({ has: place.page().getByText(name, { exact: true }) });

  return (await fact.locator("dd").innerText()).trim();
}

async function says(page: Page, text: RegExp): Promise<void> {
  await expect.poll(() => page.locator(".connection-text").innerText(), PATIENCE).toMatch(text);
}

/* What a browser says of a server that is gone is no fault of the page's. */
const isFault = (problem: string) => !/Failed to load resource|ERR_|EventSource/.test(problem);

describe.skipIf(!hasChromium || !hasServe)("dashboard", () => {
  const open = useBrowser();

  useProcesses();

  it("lets in who follows the address from another site, or from the file of --open", async () => {
    const server = await serve(spans());
    const file = join(mkdtempSync(join(FOLDER, "open-")), "page.html");

    writeFileSync(file, `<!doctype html><meta http-equiv=refresh content="0;url=${server.address}">`);
    const { page } = await open(file, { isBare: true });
    await says(page, /^Over/);
    expect(page.url()).not.toContain("token");
    await page.context().clearCookies();
    await page.goto("data:text/html,<a href='" + server.address + "'>there</a>");
    await page.getByText("there").click();
    await says(page, /^Over/);
  });

  it("shows a program while it runs, and says when it is over", async () => {
    const program = await startPipeline();
    const server = await serve(program.recording);
    const { page, problems } = await open(server.address);

    await says(page, /^Live/);
    expect(page.url()).not.toContain("token");
    for (const title of [
      "Task stream",
      "Progress",
      "Resources and rates",
      "Throughput",
      "Steps",
      "Spans",
      "Workers",
      "Threads now",
      "Processes",
    ])
      await panel(page, title).waitFor();
    /* Everything goes on. */
    const tasks = numberOf(await glance(page, "Tasks"));
    const count = numberOf(await cell(page, "Spans", "classify", "Count"));
    await expect.poll(async () => numberOf(await glance(page, "Tasks")), PATIENCE).toBeGreaterThan(tasks);
    await expect
      .poll(async () => numberOf(await cell(page, "Spans", "classify", "Count")), PATIENCE)
      .toBeGreaterThan(count);
    await expect
      .poll(async () => numberOf(await cell(page, "Steps", "CountStep", "Messages")), PATIENCE)
      .toBeGreaterThan(0);
    await expect
      .poll(() => coloursOf(panel(page, "Task stream").locator("canvas")), PATIENCE)
      .toBeGreaterThan(5);
    await expect
      .poll(() => coloursOf(panel(page, "Resources and rates").locator("canvas").first()), PATIENCE)
      .toBeGreaterThan(3);
    await page.locator(".progress-list li").filter({ hasText: "load" }).first().waitFor();

    await program.end();
    await says(page, /^Over/);
    /* What the page says at last is what the recording holds. */
    const [row] = json<Record<string, number>[]>(
      "query",
      "--json",
      program.recording,
      "SELECT count(*) AS n, sum(error IS NOT NULL) AS errors FROM spans WHERE name = 'classify'",
    );
    await expect.poll(() => cell(page, "Spans", "classify", "Count"), PATIENCE).toBe(formatCount(row!.n!));
    expect(await cell(page, "Spans", "classify", "Errors")).toBe(formatCount(row!.errors!));
    const { items } = json<{ energy: { items: { raw: number; effective: number } } }>(
      "report",
      "--json",
      program.recording,
    ).energy;
    const throughput = panel(page, "Throughput");
    await expect.poll(() => factOf(throughput, "Items"), PATIENCE).toBe(formatCount(items.raw));
    expect(await factOf(throughput, "Effective")).toBe(formatCount(items.effective));
    expect(await factOf(throughput, "Share")).toBe("50.0 %");
    expect(problems).toEqual([]);
  });

  it("shows another recording of the same name, and nothing of the one before", async () => {
    const before = await startPipeline(FOLDER, "again");
    const server = await serve(before.recording);
    const { page, problems } = await open(server.address);

    await says(page, /^Live/);
    await panel(page, "Task stream").waitFor();
    await before.end();
    await says(page, /^Over/);
    copyFileSync(spans(), before.recording);
    await expect.poll(() => panel(page, "Task stream").count(), PATIENCE).toBe(0);
    await panel(page, "Spans").waitFor();
    expect(await panel(page, "Steps").count()).toBe(0);
    expect(await panel(page, "Resources and rates").count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it("stops at the reader's wish, and goes on", async () => {
    const program = await startPipeline();
    const server = await serve(program.recording);
    const { page, problems } = await open(server.address);

    await says(page, /^Live/);
    await panel(page, "Spans").waitFor();
    await page.keyboard.press("p");
    await says(page, /^Stopped/);
    const before = await cell(page, "Spans", "classify", "Count");
    const { seq } = (await (await page.request.get(`http://127.0.0.1:${server.port}/api/state`)).json()) as {
      seq: number;
    };
    await expect
      .poll(
        async () =>
          (
            (await (await page.request.get(`http://127.0.0.1:${server.port}/api/state`)).json()) as {
              seq: number;
            }
          ).seq,
        PATIENCE,
      )
      .toBeGreaterThan(seq + 3);
    expect(await cell(page, "Spans", "classify", "Count")).toBe(before);
    await page.getByRole("button", { name: "Go on" }).click();
    await says(page, /^Live/);
    await expect.poll(() => cell(page, "Spans", "classify", "Count"), PATIENCE).not.toBe(before);

    /* A drag over a picture stops it at that piece. */
    const canvas = panel(page, "Task stream").locator("canvas");
    const box = (await canvas.boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.6, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.8, box.y + 40, { steps: 4 });
    await page.mouse.up();
    await says(page, /^Stopped/);
    const piece = await page.locator(".connection-details").innerText();
    await page.keyboard.press("s");
    await expect.poll(() => page.locator(".connection-details").innerText()).not.toBe(piece);
    await page.keyboard.press("Escape");
    await says(page, /^Live/);
    expect(problems).toEqual([]);
  });

  it("is worked with keys: window, panels, search, help", async () => {
    const server = await serve(spans());
    const { page, problems } = await open(server.address);

    await says(page, /^Over/);
    await page.getByRole("button", { name: "all", exact: true, pressed: true }).waitFor();
    await page.keyboard.press("[");
    await hashHas(page, "window=86400");
    await page.reload();
    await page.getByRole("button", { name: "24 h", exact: true, pressed: true }).waitFor();
    await panel(page, "Spans").waitFor();
    await page.keyboard.press("1");
    expect(await page.evaluate(() => document.activeElement?.className)).toContain("panel");
    const rows = panel(page, "Spans").locator("[data-at]");
    const all = await rows.count();
    await page.keyboard.press("/");
    await page.keyboard.type("classify");
    await expect.poll(() => rows.count()).toBeLessThan(all);
    await page.keyboard.press("Escape");
    await expect.poll(() => rows.count()).toBe(all);
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("Stop the picture, or go on").waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it("shows what was recorded: numbers as the tool says them, and every thread over time", async () => {
    const recording = spans();
    const server = await serve(recording);
    const { page, problems } = await open(server.address);
    const counts = json<{ name: string; n: number }[]>(
      "query",
      "--json",
      recording,
      "SELECT name, count(*) AS n FROM spans GROUP BY name ORDER BY name",
    );

    await panel(page, "Spans").waitFor();
    const csv = await saved(page, panel(page, "Spans").getByRole("button", { name: "CSV" }));
    const told = csvRows(csv.data.toString("utf8"))
      .map((row) => ({ name: row.name!, n: Number(row.count) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    expect(told).toEqual(counts);
    expect(await glance(page, "Spans")).toBe(formatCount(counts.reduce((sum, { n }) => sum + n, 0)));
    await panel(page, "Timeline").scrollIntoViewIfNeeded();
    await page.waitForFunction(() => performance.getEntriesByName("venturi:timeline").length > 0);
    const canvas = panel(page, "Timeline").locator("canvas");
    await expect.poll(() => coloursOf(canvas), PATIENCE).toBeGreaterThan(5);
    await panel(page, "Timeline").getByRole("button", { name: "Table", exact: true }).click();
    await expect
      .poll(() => panel(page, "Timeline").locator(".picture-table tbody tr").count())
      .toBeGreaterThan(5);
    expect(problems).toEqual([]);
  });

  it("says that it is stale, and comes back by itself", async () => {
    const server = await serve(spans(), "--token", "a-token-of-a-test-0123456789");
    const { page, problems } = await open(server.address);

    await says(page, /^Over/);
    await server.end("SIGKILL");
    await says(page, /^Stale\. Nobody answers/);
    expect(await page.locator(".connection-details").innerText()).toMatch(/as of .* next try in \d+ s/);
    expect(await page.locator("main.is-stale").count()).toBe(1);
    await serve(spans(), "--token", "a-token-of-a-test-0123456789", "--port", String(server.port));
    await says(page, /^Over/);
    expect(await page.locator("main.is-stale").count()).toBe(0);
    expect(problems.filter(isFault)).toEqual([]);
  });

  it("says what to do when its token is not the server's any more", async () => {
    const server = await serve(spans());
    const { page, problems } = await open(server.address);

    await says(page, /^Over/);
    await server.end("SIGKILL");
    await serve(spans(), "--port", String(server.port));
    await says(page, /does not know this browser.*venturi serve/);
    expect(problems.filter(isFault)).toEqual([]);
  });

  it("does not come back to a server that has said goodbye", async () => {
    const server = await serve(spans());
    const { page } = await open(server.address);

    await says(page, /^Over/);
    await server.end("SIGTERM");
    await says(page, /^The program has ended, and the server has stopped/);
    await page.getByRole("button", { name: "Try now" }).click();
    await says(page, /^Stale|the server has stopped/);
  });

  it("says what to do in an empty folder, and shows what appears there", async () => {
    const folder = mkdtempSync(join(FOLDER, "runs-"));
    const server = await serve(folder);
    const { page, problems } = await open(server.address);

    await page.getByText("Nothing is recorded in this folder yet").waitFor();
    expect(await page.locator("main code").first().innerText()).toContain("venturi run -o");
    await startPipeline(folder);
    await panel(page, "Spans").waitFor(PATIENCE);
    await expect.poll(() => cell(page, "Spans", "classify", "Count"), PATIENCE).not.toBe("0");
    expect(problems).toEqual([]);
  });

  for (const isDark of [false, true])
    it(`axe finds nothing serious, ${isDark ? "dark" : "light"}`, async () => {
      const program = await startPipeline();
      const server = await serve(program.recording);
      const { page } = await open(server.address, { isDark, bypassCSP: true });

      await panel(page, "Steps").waitFor(PATIENCE);
      await page.addScriptTag({ content: AXE });
      expect(await serious(page, isDark), "live").toEqual([]);
      await page.keyboard.press("p");
      for (const table of await page.getByRole("button", { name: "Table", exact: true }).all())
        await table.click();
      expect(await serious(page, isDark), "stopped").toEqual([]);
      await page.keyboard.press("?");
      await page.getByRole("dialog").waitFor();
      expect(await serious(page, isDark), "help").toEqual([]);
      await page.keyboard.press("Escape");
      await page.keyboard.press("l");
      await server.end("SIGKILL");
      await says(page, /^Stale/);
      expect(await serious(page, isDark), "stale").toEqual([]);
    });

  it("fits on a telephone", async () => {
    const program = await startPipeline();
    const server = await serve(program.recording);
    const { page, problems } = await open(server.address, { width: 390, height: 844 });

    await panel(page, "Steps").waitFor(PATIENCE);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    for (const one of await page.locator("section.panel").all()) {
      const box = await one.boundingBox();
      if (box) expect(box.x + box.width).toBeLessThanOrEqual(390);
    }
    expect(problems).toEqual([]);
  });

  it("shows texts that are attacks as text", async () => {
    const server = await serve(hostileRecording());
    for (const width of [1280, 390]) {
      const { page, problems } = await open(server.address, { width });

      await panel(page, "Spans").waitFor();
      await panel(page, "Timeline").scrollIntoViewIfNeeded();
      await page.waitForFunction(() => performance.getEntriesByName("venturi:timeline").length > 0);
      expect(await page.evaluate(() => "hit" in window)).toBe(false);
      expect(
        await page.evaluate(
          () => document.querySelectorAll("img, iframe, object, embed, form, base, svg").length,
        ),
      ).toBe(0);
      expect(
        await page.evaluate(() => document.getElementById("app")!.textContent + document.title),
      ).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u0000\u001b\u2028]/);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
      expect(problems).toEqual([]);
    }
  });
});

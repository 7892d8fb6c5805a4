/* Source with numbers: those of `venturi lines`. */

import { describe, expect, it } from "vitest";
import { formatCount, formatTime } from "../../src/ui/format";
import { expectSame, type LinesAnswer } from "./answers";
import { hasChromium, hashHas, savedRows, useBrowser } from "./chromium";
import { lines } from "./samples";
import { json, report } from "./tool";

describe.skipIf(!hasChromium)("source", () => {
  const open = useBrowser();

  it("shows every line with the tool's hits and times", async () => {
    const { page, problems } = await open(report(lines()), { hash: "source" });
    const told = json<LinesAnswer>("lines", "--json", lines()).functions;
    const costliest = told.reduce((best, one) => (one.total_time > best.total_time ? one : best));
    const rows = await savedRows(page, page.getByRole("button", { name: "CSV", exact: true }));

    expect(await page.locator(".source-name").textContent()).toBe(costliest.name);
    expect(await page.locator(".source-list li").count()).toBe(told.length);
    for (const line of costliest.lines) {
      const row = rows.find((one) => Number(one.line) === line.line);
      expect(Number(row?.hits), `line ${line.line}`).toBe(line.hits);
      expectSame(row?.time_ns, line.time * 1e9, `line ${line.line}`);
      expect(row!.source).toBe(costliest.text[line.line - costliest.line]);
    }
    const hot = costliest.lines.reduce((best, one) => (one.time > best.time ? one : best));
    const shown = page.locator(".source-table tbody tr").filter({
      has: page.locator("td:first-child", { hasText: new RegExp(`^${hot.line}$`) }),
    });
    expect(await shown.locator("td").nth(1).textContent()).toBe(formatCount(hot.hits));
    expect(await shown.locator("td").nth(2).textContent()).toBe(formatTime(hot.time * 1e9));
    expect(problems).toEqual([]);
  });

  it("goes to the hottest line and to the next function by key, and shows the whole file", async () => {
    const { page, problems } = await open(report(lines()), { hash: "source" });
    const name = page.locator(".source-name");
    const first = await name.textContent();
    const rows = page.locator(".source-table tbody tr");

    await page.keyboard.press(".");
    const heat = () => page.evaluate(() => (document.activeElement as HTMLElement).dataset.heat);
    expect(await heat()).toBe("1.0000");
    await page.keyboard.press("]");
    await expect.poll(() => name.textContent()).not.toBe(first);
    await page.keyboard.press("[");
    await expect.poll(() => name.textContent()).toBe(first);
    const few = await rows.count();
    await page.getByRole("button", { name: "File", exact: true }).click();
    await hashHas(page, "source.extent=file");
    expect(await rows.count()).toBeGreaterThan(few);
    expect(problems).toEqual([]);
  });

  it("says that there is no source when it was left out", async () => {
    const { page, problems } = await open(report(lines(), "--no-source"), { hash: "source" });

    expect(await page.locator(".source-summary").textContent()).toContain("is not in the recording");
    expect(await page.locator(".source-table").textContent()).not.toContain("number // 2");
    expect(await page.content()).not.toContain("longest = max");
    expect(problems).toEqual([]);
  });
});

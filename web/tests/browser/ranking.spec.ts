/* The ranking has the rows of `venturi report` and `venturi lines`, all of them, and sorts, searches and saves them. */

import { describe, expect, it } from "vitest";
import { formatTime } from "../../src/ui/format";
import { expectSame, type LinesAnswer, type ReportAnswer, type ReportEntry } from "./answers";
import { hasChromium, hashHas, savedRows, useBrowser } from "./chromium";
import { full, fullPage, lines } from "./samples";
import { json } from "./tool";

type Row = Record<string, string>;

describe.skipIf(!hasChromium)("ranking", () => {
  const open = useBrowser();
  const csv = { name: "CSV", exact: true } as const;

  function compare(rows: Row[], told: ReportEntry[], count: "calls" | "count"): void {
    const key = (name: string, self: number) => `${name} ${Math.round(self)}`;
    const found = new Map(rows.map((row) => [key(row.name!, Number(row.self_ns)), row]));

    expect(rows.length).toBe(told.length);
    for (const entry of told) {
      const row = found.get(key(entry.name, entry.self_ns));
      expect(row, entry.name).toBeDefined();
      expect(Number(row!.count)).toBe(entry[count]);
      for (const column of ["total_ns", "min_ns", "max_ns", "p50_ns", "p90_ns", "p99_ns"] as const) {
        const wanted = entry[column];
        if (typeof wanted === "number") expectSame(row![column], wanted, `${entry.name} ${column}`);
      }
    }
  }

  it("has every function and every span with the tool's numbers", async () => {
    const { page, problems } = await open(fullPage(), { hash: "ranking" });
    const told = json<ReportAnswer>("report", "--json", "-n", "0", full());

    compare(await savedRows(page, page.getByRole("button", csv)), told.functions, "calls");
    await page.getByRole("button", { name: "span", exact: true }).click();
    await hashHas(page, "o.ranking.by=span");
    compare(await savedRows(page, page.getByRole("button", csv)), told.spans, "count");
    expect(problems).toEqual([]);
  });

  it("has every line with the tool's hits and times", async () => {
    const { page, problems } = await open(fullPage(), { hash: "ranking?o.ranking.by=line" });
    const told = json<LinesAnswer>("lines", "--json", lines());
    const rows = await savedRows(page, page.getByRole("button", csv));
    const all = told.functions.flatMap((one) => one.lines);

    expect(rows.length).toBe(all.length);
    for (const line of all) {
      const row = rows.find((one) => one.name === `lines.py:${line.line}`);
      expect(Number(row?.count), `line ${line.line}`).toBe(line.hits);
      expectSame(row?.total_ns, line.time * 1e9, `line ${line.line}`);
    }
    expect(problems).toEqual([]);
  });

  it("sorts by a column's head, by mouse and keyboard", async () => {
    const { page, problems } = await open(fullPage(), { hash: "ranking" });
    const told = json<ReportAnswer>("report", "--json", "-n", "0", full()).functions;
    const first = page.locator("[data-at='0']");
    const most = told.reduce((best, one) => (one.total_ns > best.total_ns ? one : best));

    await page.getByRole("columnheader", { name: "Total" }).getByRole("button").click();
    await hashHas(page, "total_ns down");
    await expect.poll(() => first.textContent()).toContain(most.name);
    expect(await first.textContent()).toContain(formatTime(most.total_ns));
    await page.keyboard.press("Enter");
    await hashHas(page, "total_ns up");
    await expect.poll(() => first.textContent()).not.toContain(most.name);
    expect(problems).toEqual([]);
  });

  it("is walked with arrows, chooses with Enter, and shows any number of rows", async () => {
    const { page, problems } = await open(fullPage(), { hash: "ranking" });

    await page.locator("[data-at='0']").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("[data-at='2']").getAttribute("aria-selected")).toBe("true");
    await page.keyboard.press("End");
    const last = Number(await page.getByRole("grid").getAttribute("aria-rowcount")) - 2;
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute("data-at")))
      .toBe(String(last));
    expect(await page.locator("[data-at]").count()).toBeLessThan(100);
    expect(problems).toEqual([]);
  });

  it("leaves what a search finds, and says its share", async () => {
    const { page, problems } = await open(fullPage(), { hash: "ranking" });
    const box = page.getByRole("searchbox");

    await page.keyboard.press("/");
    await page.keyboard.type("/^(descend|leaf)$/");
    await expect
      .poll(() => page.locator(".toolbar [role=status]").textContent())
      .toMatch(/^2 of \d+ match: /);
    const rows = page.locator(".table-row[data-at]");
    await box.fill("leaf");
    await expect.poll(() => rows.count()).toBe(1);
    expect(await rows.first().textContent()).toContain("leaf");
    expect(await page.locator(".toolbar [role=status]").textContent()).toMatch(/1 of \d+ match: [\d.]+ %/);
    expect(problems).toEqual([]);
  });
});

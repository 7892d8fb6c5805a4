/* The comparison has the rows of `venturi diff`, and its pictures. */

import { describe, expect, it } from "vitest";
import { expectSame, type DiffAnswer } from "./answers";
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
import { spelled } from "../../src/views/diff/words";
import { calls, callsLater, diffPage } from "./samples";
import { json, once, recordPython, venturi } from "./tool";

/* Counts its work, and uses measurable energy for it. */
const COUNTED = `
import time, venturi
def burn(seconds):
    begin = time.thread_time()
    while time.thread_time() - begin < seconds:
        sum(range(500))
burn(SECONDS)
venturi.items(ITEMS, effective=EFFECTIVE)
`;

function counted(name: string, seconds: string, items: string, effective: string): string {
  const script = COUNTED.replace("SECONDS", seconds).replace("ITEMS", items).replace("EFFECTIVE", effective);

  return recordPython(name, script, "--energy");
}

describe.skipIf(!hasChromium)("diff", () => {
  const open = useBrowser();

  it("has the tool's functions with both sides", async () => {
    const { page, problems } = await open(diffPage());
    const told = json<DiffAnswer>("diff", "--json", "--all", "-n", "0", calls(), callsLater());
    const changed = json<DiffAnswer>("diff", "--json", "-n", "0", calls(), callsLater());
    const csv = page.getByRole("button", { name: "CSV", exact: true });

    expect((await savedRows(page, csv)).length).toBe(changed.functions.length);
    await page.getByRole("button", { name: "show all" }).click();
    await hashHas(page, "diff.rows=all");
    const rows = await savedRows(page, csv);
    expect(rows.length).toBe(told.functions.length);
    for (const entry of told.functions) {
      const [base, now] = [entry.base?.self_ns ?? 0, entry.new?.self_ns ?? 0];
      const row = rows.find(
        (one) =>
          one.name === entry.name &&
          Math.abs(Number(one.base_self) - base) < 1 &&
          Math.abs(Number(one.self) - now) < 1,
      );
      expect(row, `${entry.name} ${base} ${now}`).toBeDefined();
      expectSame(row!.total, entry.new?.total_ns ?? 0, `${entry.name} total`);
      expect(Number(row!.base_calls)).toBe(entry.base?.calls ?? 0);
      expect(Number(row!.calls)).toBe(entry.new?.calls ?? 0);
    }
    expect(problems).toEqual([]);
  });

  it("names what is new and what is gone, sorts and searches", async () => {
    const { page, problems } = await open(diffPage());
    const rows = page.locator(".table-row[data-at]");

    await page.getByRole("searchbox").fill("/^(encode|write)$/");
    await expect.poll(() => rows.filter({ hasText: "calls.py" }).count()).toBeLessThanOrEqual(1);
    await expect.poll(() => rows.filter({ has: page.locator(".badge.is-gone") }).count()).toBe(1);
    expect(await rows.filter({ has: page.locator(".badge.is-new") }).count()).toBe(1);
    await page.getByRole("searchbox").fill("");
    const shades = page.locator(".cell-bar").evaluateAll((bars) => {
      const wide = bars.filter((bar) => bar.getBoundingClientRect().width > 1);
      return new Set(wide.map((bar) => getComputedStyle(bar).backgroundColor)).size;
    });
    expect(await shades).toBe(2); // shorter and longer
    await page.getByRole("columnheader", { name: "Calls now" }).getByRole("button").click();
    await hashHas(page, "diff.sort=calls down");
    expect(problems).toEqual([]);
  });

  it("draws both runs and what is gone, and says in words what it is", async () => {
    const { page, problems } = await open(diffPage(), { hash: "diff?o.diff.show=flame" });
    const drawn = page.locator("main canvas[tabindex='0']");

    await expect.poll(() => drawn.count()).toBe(2);
    for (let i = 0; i < 2; i++) await expect.poll(() => coloursOf(drawn.nth(i))).toBeGreaterThan(3);
    const svg = (await saved(page, picture(page).button("SVG"))).data.toString("utf8");
    expect(await svgElements(page, svg)).toBeGreaterThan(10);
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => page.locator("p.flame-status").first().textContent()).toMatch(/now .* before /);
    await page.locator("main").getByRole("button", { name: "table", exact: true }).click();
    expect(await page.locator(".diff-verdict").textContent()).toMatch(
      /^The new run is (slower|faster|as fast)/,
    );
    expect(problems).toEqual([]);
  });

  it("has the quantities of the terminal in its words", async () => {
    const sides = [counted("counted", "0.3", "1000", "150"), counted("counted-later", "0.6", "1200", "600")];
    const path = once("counted-diff.html", (to) => venturi("diff", ...sides, "-o", to));
    const lines = venturi("diff", ...sides).split("\n");
    const { page, problems } = await open(path);
    const shown = await page.locator(".diff-summary p").allTextContents();

    for (const label of ["CPU time an item", "Peak memory", "Energy an item", "Items", "Effective items"]) {
      const line = lines.find((one) => one.startsWith(`${label}: `));
      expect(line, label).toBeDefined();
      expect(shown).toContain(`${spelled(line!)}.`);
    }
    expect(shown.find((one) => one.startsWith("Items: "))).toBe("Items: 1000, then 1200 (+20 %).");
    expect(problems).toEqual([]);
  });

  it("compares a run with itself", async () => {
    const path = diffPage().replace("diff.html", "same.html");
    venturi("diff", calls(), calls(), "-o", path, "--force");
    const { page, problems } = await open(path);

    expect(await page.locator(".diff-verdict").textContent()).toContain("as fast");
    expect(problems).toEqual([]);
  });
});

/* What other viewers cannot show: thousands of functions, deep stacks, many roots and threads, millions of spans. */

import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { formatCount } from "../../src/ui/format";
import type { StatsAnswer } from "./answers";
import { coloursOf, hasChromium, picture, savedRows, useBrowser } from "./chromium";
import { hasMakeBig, MAKE_BIG } from "./samples";
import { json, once, recordPython, report, venturi } from "./tool";

const DEPTH = 16;

/* Chains of 16 functions, each called from the one before. The first lasts: its boxes are drawn on any machine. */
function wideScript(): string {
  const leaf = (i: number) => `sum(range(${i < DEPTH ? 5_000_000 : 200}))`;
  const calls = (i: number) => (i % DEPTH < DEPTH - 1 && i < 3979 ? `step_${i + 1}()` : leaf(i));
  const steps = Array.from({ length: 3980 }, (_, i) => `def step_${i}():\n    return ${calls(i)}\n`);

  return `${steps.join("")}for i in range(0, 3980, ${DEPTH}):\n    globals()["step_%d" % i]()\n`;
}

const ROOTS = `
import threading
def leaf():
    return sum(range(2000))
for number in range(5):
    exec("def root_%d():\\n    for _ in range(20):\\n        leaf()\\n" % number)
threads = [threading.Thread(target=globals()["root_%d" % (number % 5)], name="thread %d" % number) for number in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
`;

describe.skipIf(!hasChromium)("large", () => {
  const open = useBrowser();

  function big(name: string, count: number): string {
    return once(`${name}.vt`, (path) => void execFileSync(MAKE_BIG, [path, String(count), "4", "8"]));
  }

  for (const ending of ["vt", "prof"])
    it(`3,980 functions at depth ${DEPTH}, as .${ending}`, async () => {
      const recorded = recordPython("wide", wideScript(), "--no-resources");
      const path =
        ending === "vt"
          ? recorded
          : once("wide.prof", (out) => venturi("export", "-f", "pstats", recorded, "-o", out));
      const told = json<StatsAnswer>("stats", "--json", path).functions.filter((one) =>
        one.name.startsWith("step_"),
      );
      const { page, problems } = await open(report(path), { hash: "flame?o.flame.threads=merged" });

      expect(told.length).toBe(3980);
      await expect.poll(() => coloursOf(picture(page).canvas)).toBeGreaterThan(10);
      for (let i = 0; i < DEPTH + 2; i++) await page.keyboard.press("ArrowDown");
      await expect.poll(() => page.locator("p.flame-status").last().textContent()).toMatch(/^step_\d+ /);
      const rows = await savedRows(page, picture(page).button("CSV"));
      expect(Math.max(...rows.map((row) => Number(row.depth)))).toBeGreaterThan(DEPTH);
      await page.keyboard.press("2");
      await page.getByRole("searchbox").fill("step_");
      await expect.poll(() => page.getByRole("grid").getAttribute("aria-rowcount")).toBe("3981");
      await page.getByRole("searchbox").fill("/^step_3967$/");
      await expect.poll(() => page.getByRole("grid").getAttribute("aria-rowcount")).toBe("2");
      await page.locator("[data-at='0']").click();
      await page.keyboard.press("4");
      await expect
        .poll(() => page.locator(".sandwich-chooser select option:checked").textContent())
        .toContain("step_3967");
      expect(await page.getByRole("grid").first().textContent()).toContain("step_3966");
      expect(problems).toEqual([]);
    });

  it("five roots on eight threads: all of them are there", async () => {
    const path = report(recordPython("roots", ROOTS, "--only-mine", "--no-resources"));
    const { page, problems } = await open(path, { hash: "flame" });
    const rows = await savedRows(page, picture(page).button("CSV"));
    const names = rows.map((row) => row.name!.replace(/ · .*/, ""));

    for (let i = 0; i < 8; i++) expect(names).toContain(`thread ${i}`);
    for (let i = 0; i < 5; i++) expect(names).toContain(`root_${i}`);
    await page.getByRole("button", { name: "merge threads" }).click();
    await expect
      .poll(async () => (await savedRows(page, picture(page).button("CSV"))).map((row) => row.name))
      .not.toContain("thread 0");
    const merged = await savedRows(page, picture(page).button("CSV"));
    const roots = merged
      .filter((row) => row.name!.startsWith("root_"))
      .map((row) => [row.name, Number(row.calls)]);
    expect(roots.toSorted()).toEqual([
      ["root_0", 2],
      ["root_1", 2],
      ["root_2", 2],
      ["root_3", 1],
      ["root_4", 1],
    ]);
    await page.keyboard.press("t");
    expect(await page.getByRole("dialog").textContent()).toContain("thread 7");
    expect(problems).toEqual([]);
  });

  it.skipIf(!hasMakeBig)("a million spans: every one is in the page", async () => {
    const count = 1_000_000;
    const path = big("million", count);
    const { page, problems } = await open(report(path), { hash: "timeline" });

    await page.waitForFunction(() => performance.getEntriesByName("venturi:timeline").length > 0);
    const rows = await savedRows(page, picture(page).button("CSV"));
    expect(rows.reduce((sum, row) => sum + Number(row.spans), 0)).toBe(count);
    expect(await page.locator(".toolbar [role=status]").textContent()).toMatch(
      /too short to draw one by one/,
    );
    await page.keyboard.press("1");
    expect(await page.locator("main").innerText()).toContain(`${formatCount(count)} spans`);
    expect(await page.locator("main").innerText()).not.toContain("rectangles of several");
    expect(problems).toEqual([]);
  });

  it.skipIf(!hasMakeBig)("more than two million: the page says what it folded, sums stay", async () => {
    const count = 2_100_000;
    const path = big("millions", count);
    const { page, problems } = await open(report(path), { hash: "overview" });

    expect(await page.locator(".notes").innerText()).toMatch(
      /shorter than .* drawn in \d+ rectangles of several/,
    );
    await page.keyboard.press("2");
    const rows = await savedRows(page, page.getByRole("button", { name: "CSV", exact: true }));
    expect(rows.reduce((sum, row) => sum + Number(row.count), 0)).toBe(count);
    await page.keyboard.press("5");
    await page.waitForFunction(() => performance.getEntriesByName("venturi:timeline").length > 0);
    const drawn = await savedRows(page, picture(page).button("CSV"));
    expect(drawn.reduce((sum, row) => sum + Number(row.spans), 0)).toBe(count);
    expect(problems).toEqual([]);
  });
});

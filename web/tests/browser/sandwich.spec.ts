/* Callers and callees are those of `venturi stats --callers` and `--callees`. */

import { describe, expect, it } from "vitest";
import { formatCount, formatTime } from "../../src/ui/format";
import { expectSame, type StatsAnswer } from "./answers";
import { coloursOf, hasChromium, hashHas, savedRows, useBrowser } from "./chromium";
import { calls } from "./samples";
import { json, report } from "./tool";

function keyOf(told: StatsAnswer["functions"][number]): string {
  return `${told.qualified_name}\u0001${told.file}\u0001${told.line}`;
}

describe.skipIf(!hasChromium)("sandwich", () => {
  const open = useBrowser();

  it("shows a function's time and its callers as the tool has them", async () => {
    const told = json<StatsAnswer>("stats", "--json", calls()).functions;
    const leaf = told.find((one) => one.name === "leaf")!;
    const { page, problems } = await open(report(calls()), {
      hash: `sandwich?frame=${encodeURIComponent(keyOf(leaf))}`,
    });
    const numbers = page.locator(".sandwich-numbers");
    const callers = page.getByRole("grid").first();

    await expect.poll(() => numbers.textContent()).toContain(`self ${formatTime(leaf.tottime * 1e9)}`);
    expect(await numbers.textContent()).toContain(`total ${formatTime(leaf.cumtime * 1e9)}`);
    expect(await numbers.textContent()).toContain(`${formatCount(leaf.ncalls)} calls`);
    expect(await page.locator(".sandwich-chooser select option:checked").textContent()).toContain("leaf");
    expect(await callers.textContent()).toContain("descend");
    expect(problems).toEqual([]);
  });

  it("has the callers' times in the table that it saves", async () => {
    const told = json<StatsAnswer>("stats", "--json", calls()).functions;
    const work = told.find((one) => one.name === "descend")!;
    const { page, problems } = await open(report(calls()), {
      hash: `sandwich?frame=${encodeURIComponent(keyOf(work))}`,
    });
    const buttons = page.locator(".table-frame").getByRole("button", { name: "CSV", exact: true });
    const rows = await savedRows(page, buttons.first());
    const outside = work.callers.find((one) => one.name === "work")!;
    const row = rows.find((one) => one.name === "work");

    expect(row, JSON.stringify(rows)).toBeDefined();
    expectSame(row!.total_ns, outside.cumtime * 1e9, "total of descend within work");
    expect(problems).toEqual([]);
  });

  it("goes to a caller by a click, and draws both halves", async () => {
    const told = json<StatsAnswer>("stats", "--json", calls()).functions;
    const leaf = told.find((one) => one.name === "leaf")!;
    const { page, problems } = await open(report(calls()), {
      hash: `sandwich?frame=${encodeURIComponent(keyOf(leaf))}`,
    });
    const halves = page.locator("main canvas[tabindex='0']");

    expect(await halves.count()).toBe(2);
    for (let i = 0; i < 2; i++) await expect.poll(() => coloursOf(halves.nth(i))).toBeGreaterThan(3);
    await page.getByRole("grid").first().locator("[data-at]", { hasText: "descend" }).first().click();
    await hashHas(page, "frame=descend");
    await expect
      .poll(() => page.locator(".sandwich-chooser select option:checked").textContent())
      .toContain("descend");
    expect(problems).toEqual([]);
  });
});

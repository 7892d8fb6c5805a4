/* Energy: the sums of `venturi energy`, power over time, and the rows of its tables. */

import { describe, expect, it } from "vitest";
import type { EnergyFacts } from "../../src/model/energy";
import { formatUnit } from "../../src/ui/format";
import { coloursOf, hasChromium, hashHas, tab, useBrowser } from "./chromium";
import { calls } from "./samples";
import { json, recordPython, report } from "./tool";

interface EnergyAnswer extends EnergyFacts {
  by: string;
  rows: { name: string; self: { share_j: number } }[];
}

const SCRIPT = `
import time
def burn(seconds):
    begin = time.thread_time()
    while time.thread_time() - begin < seconds:
        sum(range(500))
def hot():
    burn(0.6)
def warm():
    burn(0.3)
hot()
time.sleep(0.3)
warm()
import venturi
venturi.items(1000, effective=150)
`;

function metered(): string {
  return recordPython("metered", SCRIPT, "--energy", "--country", "FRA", "--pue", "1.5");
}

describe.skipIf(!hasChromium)("energy", () => {
  const open = useBrowser();

  it("shows the tool's sums, power, and what it went to", async () => {
    const { page, problems } = await open(report(metered()), { hash: "energy" });
    const told = json<EnergyAnswer>("energy", "--json", metered());
    const fact = (name: string) =>
      page.locator(".facts div", { has: page.locator("dt", { hasText: name }) }).locator("dd");
    const machine = told.machines[0]!;

    expect(await fact("Machine").first().textContent()).toBe(formatUnit(machine.all.gross_j!, "J"));
    expect(await fact("Full share").first().textContent()).toBe(formatUnit(machine.all.share_j!, "J"));
    expect(await fact("CO2e").first().textContent()).toBe(formatUnit(told.co2e_g!, "g"));
    expect(await fact("CO2e").nth(1).textContent()).toContain("PUE 1.5");
    expect(await fact("Processors").nth(1).textContent()).toContain(machine.cpu!.how);
    await expect.poll(() => coloursOf(page.locator(".energy canvas").first())).toBeGreaterThan(2);
    expect(told.by).toBe("function");
    const first = page.locator(".energy-rows [role=row]").nth(1);
    await expect.poll(() => first.textContent()).toContain(told.rows[0]!.name);
    expect(await first.textContent()).toContain(formatUnit(told.rows[0]!.self.share_j, "J"));
    expect(await page.locator(".energy-notes").textContent()).toContain("what sleeps gets nothing");
    expect(await fact("… of CPU time").first().textContent()).not.toBe("–");
    expect(await fact("Items a second").nth(1).textContent()).toContain("effective");
    expect(await fact("Per 1,000 items").nth(1).textContent()).toContain("g CO2e");
    expect(problems).toEqual([]);
  });

  it("keeps the last row last, and shows the end of a path with its line", async () => {
    const { page } = await open(report(metered()), { hash: "energy" });
    const rows = page.locator(".energy-rows [role=row]");
    const last = async () => {
      await page.locator(".energy-rows .table").evaluate((table) => (table.scrollTop = table.scrollHeight)); // rows out of sight are not there
      return rows.last().textContent();
    };

    await expect.poll(last).toContain("(none open, or not seen)");
    await page.getByRole("columnheader", { name: "Self" }).getByRole("button").click();
    await expect.poll(last).toContain("(none open, or not seen)");
    expect(await page.locator(".energy-rows").textContent()).toMatch(/…[^…]*\.py:\d+/);
  });

  it("has joules and items in the overview", async () => {
    const { page, problems } = await open(report(metered()), { hash: "overview" });
    const words = page.locator("section", { has: page.getByRole("heading", { name: "Energy" }) });

    await expect.poll(() => words.textContent()).toMatch(/J \(.*\) of the machine's .* J.*1,000 items in /);
    await words.getByRole("button").first().click();
    await hashHas(page, "energy");
    expect(problems).toEqual([]);
  });

  it("shows processes when they are asked for, and the address keeps it", async () => {
    const { page, problems } = await open(report(metered()), { hash: "energy" });

    await page.getByRole("button", { name: "processes" }).click();
    await hashHas(page, "o.energy.by=process");
    await expect.poll(() => page.locator(".energy-rows").textContent()).toMatch(/python\S* \(\d+\)/);
    expect(problems).toEqual([]);
  });

  it("has no tab where nothing was recorded", async () => {
    const { page } = await open(report(calls()), { hash: "energy" });

    await tab(page, "Overview").waitFor();
    expect(await tab(page, "Energy").count()).toBe(0);
  });
});

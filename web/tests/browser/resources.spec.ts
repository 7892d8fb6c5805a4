/* Resources: the sums of `venturi report`, curves, and the processes one by one. */

import { describe, expect, it } from "vitest";
import { formatBytes, formatCount, formatTime } from "../../src/ui/format";
import type { ReportAnswer } from "./answers";
import { coloursOf, hasChromium, hashHas, useBrowser } from "./chromium";
import { calls } from "./samples";
import { json, report } from "./tool";

describe.skipIf(!hasChromium)("resources", () => {
  const open = useBrowser();

  it("shows the tool's sums, and draws what was read", async () => {
    const { page, problems } = await open(report(calls()), { hash: "resources" });
    const told = json<ReportAnswer>("report", "--json", calls()).resources[0]!;
    const fact = (name: string) => page.locator(".facts div", { hasText: name }).locator("dd").first();
    const charts = page.locator(".charts canvas");

    expect(await fact("CPU").textContent()).toBe(formatTime(told.cpu_ns));
    expect(await fact("Cores in use").textContent()).toBe(told.cores.toFixed(2));
    expect(await fact("Peak memory").textContent()).toBe(formatBytes(told.peak_bytes));
    expect(await fact("Read").textContent()).toBe(formatBytes(told.read_bytes));
    expect(await fact("Written").textContent()).toBe(formatBytes(told.written_bytes));
    expect(await fact("Processes").textContent()).toBe(formatCount(told.process_count));
    expect(await charts.count()).toBeGreaterThanOrEqual(3);
    for (let i = 0; i < (await charts.count()); i++)
      await expect.poll(() => coloursOf(charts.nth(i))).toBeGreaterThan(2);
    expect(problems).toEqual([]);
  });

  it("shows one process when it is chosen, and the address keeps it", async () => {
    const { page, problems } = await open(report(calls()), { hash: "resources" });
    const python = page.locator(".resources-table button", { hasText: "python" }).first();

    await python.click();
    await hashHas(page, "o.resources.of=0.");
    await page.reload();
    await expect
      .poll(() => page.locator(".resources-table tr.is-selected").textContent())
      .toContain("python");
    expect(problems).toEqual([]);
  });
});

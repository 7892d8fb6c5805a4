/* The overview says what `venturi report` says, and leads to what it names. */

import { describe, expect, it } from "vitest";
import { formatCount, formatDuration, formatTime } from "../../src/ui/format";
import type { ReportAnswer } from "./answers";
import { hasChromium, hashHas, useBrowser } from "./chromium";
import { full, fullPage } from "./samples";
import { json } from "./tool";

describe.skipIf(!hasChromium)("overview", () => {
  const open = useBrowser();

  it("shows what ran, the findings and the largest as the tool tells them", async () => {
    const { page, problems } = await open(fullPage());
    const told = json<ReportAnswer>("report", "--json", "-n", "0", full());
    const [longest] = told.functions;
    const functions = page.locator("section", { hasText: "Functions, by self time" }).locator("tbody tr");
    const spans = page.locator("section", { hasText: "Spans, by self time" }).locator("tbody tr");
    const heaviest = told.spans.toSorted((a, b) => b.self_ns - a.self_ns)[0]!;

    expect(await page.locator(".overview-time").textContent()).toBe(formatDuration(told.duration_ns));
    expect(await page.locator(".overview-ran").textContent()).toContain(
      `${told.process_count} processes, ${told.thread_count} threads`,
    );
    expect(await page.locator(".findings li").allInnerTexts()).toEqual(
      told.findings.map((one) => one.text + (one.confidence ? ` (${one.confidence})` : "")),
    );
    expect(await functions.first().locator("th button").textContent()).toBe(longest!.name);
    expect(await functions.first().locator("td").allTextContents()).toEqual(
      expect.arrayContaining([formatCount(longest!.calls), formatTime(longest!.self_ns)]),
    );
    expect(await spans.first().locator("th button").textContent()).toBe(heaviest.name);
    expect(await spans.first().locator("td").allTextContents()).toEqual(
      expect.arrayContaining([formatCount(heaviest.count), formatTime(heaviest.self_ns)]),
    );
    expect(await page.locator(".trust li").count()).toBeGreaterThan(2);
    expect(await page.locator(".spark canvas").count()).toBeGreaterThan(0);
    expect(problems).toEqual([]);
  });

  it("leads from a name to the view that shows it", async () => {
    const { page, problems } = await open(fullPage());
    const name = page.locator(".top th button").first();
    const text = (await name.textContent())!;

    await name.click();
    await hashHas(page, `frame=${text}`);
    await expect.poll(() => page.locator("main").getAttribute("aria-label")).not.toBe("Overview");
    expect(await page.locator(".selected").textContent()).toContain(text);
    await page.keyboard.press("1");
    await page.locator(".spark").first().click();
    await expect.poll(() => page.locator("main").getAttribute("aria-label")).toBe("Resources");
    expect(problems).toEqual([]);
  });
});

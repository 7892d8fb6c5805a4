/* For everybody and everywhere: what axe finds, light and dark, on paper, on a narrow screen. */

import { inflateSync } from "node:zlib";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { AXE, overflow, serious } from "./axe";
import { hasChromium, tab, useBrowser } from "./chromium";
import { diffPage, fullPage } from "./samples";

const VIEWS = ["Overview", "Ranking", "Flame", "Sandwich", "Timeline", "Source", "Resources"];

/* How bright each picture of a PDF is, from 0 to 255: their pixels are streams of red, green and blue. */
function imagesOf(pdf: Buffer): number[] {
  const heads = pdf.toString("latin1").matchAll(/\/Subtype \/Image\b[^]*?\/Length (\d+)[^]*?stream\r?\n/g);

  return [...heads].map((head) => {
    const pixels = inflateSync(pdf.subarray(head.index + head[0].length).subarray(0, Number(head[1])));
    return pixels.reduce((sum, value) => sum + value, 0) / pixels.length;
  });
}

function groundOf(page: Page): Promise<string> {
  return page.evaluate(() => getComputedStyle(document.body).backgroundColor);
}

describe.skipIf(!hasChromium)("access", () => {
  const open = useBrowser();

  for (const isDark of [false, true])
    it(`axe finds nothing serious in any view, ${isDark ? "dark" : "light"}`, async () => {
      const { page } = await open(fullPage(), { isDark, bypassCSP: true });

      await page.addScriptTag({ content: AXE });
      for (const view of VIEWS) {
        await tab(page, view).click();
        await page.locator(`main[aria-label="${view}"]`).waitFor();
        for (const table of await page.getByRole("button", { name: "Table", exact: true }).all())
          await table.click();
        expect(await serious(page, isDark), view).toEqual([]);
      }
      for (const key of ["?", "t"]) {
        await page.keyboard.press(key);
        await page.getByRole("dialog").waitFor();
        expect(await serious(page, isDark), key).toEqual([]);
        await page.keyboard.press("Escape");
      }
      await page.getByRole("searchbox").fill("/(/");
      expect(await serious(page, isDark), "bad search").toEqual([]);
      const diff = await open(diffPage(), { isDark, bypassCSP: true });
      await diff.page.addScriptTag({ content: AXE });
      expect(await serious(diff.page, isDark), "diff").toEqual([]);
      await diff.page.locator("main").getByRole("button", { name: "flame", exact: true }).click();
      expect(await serious(diff.page, isDark), "diff, flame").toEqual([]);
    });

  it("every picture has a table behind it", async () => {
    const { page, problems } = await open(fullPage());

    for (const view of ["Flame", "Sandwich", "Timeline"]) {
      await tab(page, view).click();
      const button = page.getByRole("button", { name: "Table", exact: true }).first();
      await button.click();
      await expect
        .poll(() => page.locator(".picture-table tbody tr").count(), { message: view })
        .toBeGreaterThan(0);
      await button.click();
    }
    expect(problems).toEqual([]);
  });

  it("goes from dark to light and back, and remembers it", async () => {
    const { page, problems } = await open(fullPage(), { isDark: true });
    const dark = await groundOf(page);

    await page.getByRole("button", { name: "Auto" }).click();
    await page.getByRole("button", { name: "Dark" }).click();
    await expect.poll(() => groundOf(page)).not.toBe(dark);
    await page.reload();
    await page.getByRole("button", { name: "Light" }).waitFor();
    expect(await groundOf(page)).not.toBe(dark);
    expect(problems).toEqual([]);
  });

  it("prints in light colours, pictures too", async () => {
    const { page, problems } = await open(fullPage(), { isDark: true, hash: "timeline" });
    const dark = await groundOf(page);

    await page.waitForFunction(() => performance.getEntriesByName("venturi:timeline").length > 0);
    for (const view of ["Timeline", "Flame", "Overview"]) {
      await tab(page, view).click();
      await page.waitForTimeout(100);
      const images = imagesOf(await page.pdf({ printBackground: true }));
      expect(images.length, view).toBeGreaterThan(0);
      for (const brightness of images) expect(brightness, view).toBeGreaterThan(150);
    }
    await page.emulateMedia({ media: "print" });
    await expect.poll(() => groundOf(page)).not.toBe(dark);
    for (const view of VIEWS) {
      await page.evaluate((name) => (location.hash = `#${name.toLowerCase()}`), view);
      await page.locator(`main[aria-label="${view}"]`).waitFor();
      const content = page
        .locator("main")
        .locator("canvas:visible, table:visible, [role=grid]:visible")
        .first();
      await expect
        .poll(async () => (await content.boundingBox())?.height ?? 0, { message: view })
        .toBeGreaterThan(100);
      expect(await overflow(page), view).toBeLessThanOrEqual(0);
    }
    expect(problems).toEqual([]);
  });

  it("fits on a narrow screen", async () => {
    const { page, problems } = await open(fullPage(), { width: 400, height: 700 });

    for (const view of VIEWS) {
      await tab(page, view).click();
      await page.locator(`main[aria-label="${view}"]`).waitFor();
      expect(await overflow(page), view).toBeLessThanOrEqual(0);
    }
    const diff = await open(diffPage(), { width: 400, height: 700 });
    expect(await overflow(diff.page)).toBeLessThanOrEqual(0);
    expect(problems).toEqual([]);
  });
});

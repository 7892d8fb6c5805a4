/* One selection for all views: chosen in one it is chosen in all, the address brings it back, the keyboard reaches everything. */

import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { hasChromium, hashHas, picture, ready, saved, savedRows, tab, useBrowser } from "./chromium";
import { calls, full, fullPage } from "./samples";
import { json, report } from "./tool";
import type { StatsAnswer } from "./answers";

const VIEWS = ["Overview", "Ranking", "Flame", "Sandwich", "Timeline", "Source", "Resources"];

function shown(page: Page): Promise<string | null> {
  return page.locator("main").getAttribute("aria-label");
}

describe.skipIf(!hasChromium)("selection", () => {
  const open = useBrowser();

  it("a function chosen in the ranking is chosen in flame, sandwich, overview and source", async () => {
    const { page, problems } = await open(fullPage(), { hash: "ranking?search=descend" });

    await page.locator("[data-at='0']").click();
    await hashHas(page, "frame=descend");
    await tab(page, "Sandwich").click();
    await expect
      .poll(() => page.locator(".sandwich-chooser select option:checked").textContent())
      .toContain("descend");
    await tab(page, "Flame").click();
    const svg = async () => (await saved(page, picture(page).button("SVG"))).data.toString("utf8");
    const chosen = await svg();
    await page.getByRole("region", { name: "Selection" }).getByRole("button", { name: "Clear" }).click();
    await expect.poll(svg).not.toBe(chosen);
    await page.keyboard.press("b");
    await expect.poll(svg).toBe(chosen);
    await tab(page, "Ranking").click();
    await expect.poll(() => page.locator("[data-at='0']").getAttribute("aria-selected")).toBe("true");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "line", exact: true }).click();
    await page.locator("[data-at]", { hasText: "lines.py" }).first().click();
    await tab(page, "Source").click();
    expect(await page.locator(".source-list [aria-current=true]").textContent()).toContain(
      (await page.locator(".source-name").textContent())!,
    );
    expect(problems).toEqual([]);
  });

  it("the address brings view, selection, search and options back", async () => {
    const { page, problems } = await open(fullPage());

    await tab(page, "Flame").click();
    await page.getByRole("button", { name: "bottom-up" }).click();
    await picture(page).canvas.focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("searchbox").fill("leaf");
    await hashHas(page, "search=leaf");
    await hashHas(page, "frame=");
    const hash = await page.evaluate(() => location.hash);
    await page.reload();
    await ready(page);
    expect(await shown(page)).toBe("Flame");
    expect(await page.getByRole("searchbox").inputValue()).toBe("leaf");
    expect(await page.getByRole("button", { name: "bottom-up" }).getAttribute("aria-pressed")).toBe("true");
    expect(await page.locator(".selected .chip").count()).toBe(1);
    expect(await page.evaluate(() => location.hash)).toBe(hash);
    await page.evaluate(() => (location.hash = "#ranking?o.ranking.by=span"));
    await expect.poll(() => shown(page)).toBe("Ranking");
    await expect.poll(() => page.locator(".selected").count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it("an address that means nothing shows the first view", async () => {
    const { page, problems } = await open(fullPage(), {
      hash: "%E0%A4%A?range=9-x&threads=1e9.-1&span=a&frame=nobody&o.flame.mode=%00&o.timeline.zoom=--",
    });

    expect(await shown(page)).toBe("Overview");
    for (const name of VIEWS) {
      await tab(page, name).click();
      await expect.poll(() => shown(page)).toBe(name);
    }
    expect(problems).toEqual([]);
  });

  it("searches in plain text and by expression, and says what is wrong with one", async () => {
    const { page, problems } = await open(fullPage());
    const note = page.locator("#search-note");
    const told = json<StatsAnswer>("stats", "--json", full()).functions;
    const names = (test: (name: string) => boolean) =>
      new Set(
        told
          .filter((one) => test(one.qualified_name))
          .map((one) => `${one.qualified_name} ${one.file} ${one.line}`),
      );
    const found = async () => Number(/\d+/.exec((await note.textContent())!)?.[0]);

    await page.keyboard.press("/");
    await page.keyboard.type("DESCEND");
    await expect.poll(found).toBe(names((name) => name.toLowerCase().includes("descend")).size);
    await page.getByRole("searchbox").fill("/^(descend|leaf)$/");
    await expect.poll(found).toBe(2);
    for (const bad of ["/(/", "/[z-a]/", "/+/", "/\\p{Nothing}/"]) {
      await page.getByRole("searchbox").fill(bad);
      await expect.poll(() => note.textContent()).toContain("not a regular expression");
      expect(await page.getByRole("searchbox").getAttribute("aria-invalid")).toBe("true");
    }
    await page.keyboard.press("Escape");
    await expect.poll(() => note.textContent()).toBe("");
    expect(problems).toEqual([]);
  });

  it("every view works without a mouse", async () => {
    const { page, problems } = await open(fullPage());

    for (const [i, name] of VIEWS.entries()) {
      await page.keyboard.press(String(i + 1));
      await expect.poll(() => shown(page)).toBe(name);
      await page.locator(".skip").focus();
      await page.keyboard.press("Enter");
      expect(await page.evaluate(() => document.activeElement?.id)).toBe("main");
      const reached = new Set<string>();
      for (let step = 0; step < 40; step++) {
        await page.keyboard.press("Tab");
        const at = await page.evaluate(() => {
          const element = document.activeElement as HTMLElement | null;
          if (!element || element === document.body) return "";
          const style = getComputedStyle(element);
          const isSeen = style.outlineStyle !== "none" || style.boxShadow !== "none";
          return `${element.tagName} ${element.textContent?.slice(0, 30)} ${isSeen ? "" : "unseen"}`;
        });
        if (at === "") break;
        reached.add(at);
        expect(at, `${name}: the focus is not seen`).not.toContain("unseen");
      }
      expect(reached.size, name).toBeGreaterThan(2);
      for (const key of [
        "ArrowDown",
        "ArrowRight",
        "ArrowUp",
        "ArrowLeft",
        "w",
        "d",
        "a",
        "s",
        "f",
        ".",
        ",",
        "0",
      ])
        await page.keyboard.press(key);
    }
    await page.keyboard.press("Escape");
    expect(problems).toEqual([]);
  });

  it("? lists the keys of the view and those everywhere", async () => {
    const { page, problems } = await open(fullPage(), { hash: "timeline" });
    const dialog = page.getByRole("dialog");

    await page.keyboard.press("?");
    await expect.poll(() => dialog.count()).toBe(1);
    const text = (await dialog.textContent())!;
    for (const part of ["Timeline", "Zoom in", "Search", "Choose threads", "Everywhere", "Which line?"])
      expect(text).toContain(part);
    await page.keyboard.press("2");
    expect(await shown(page)).toBe("Timeline");
    await page.keyboard.press("Escape");
    await expect.poll(() => dialog.count()).toBe(0);
    await page.keyboard.press("2");
    await expect.poll(() => shown(page)).toBe("Ranking");
    expect(problems).toEqual([]);
  });

  it("threads that are chosen leave only their calls", async () => {
    const { page, problems } = await open(report(calls()), { hash: "ranking" });
    const dialog = page.getByRole("dialog");
    const count = async () => {
      const rows = await savedRows(page, page.getByRole("button", { name: "CSV", exact: true }));
      return Number(rows.find((row) => row.name === "leaf")?.count);
    };
    const told = (...options: string[]) =>
      json<StatsAnswer>("stats", "--json", ...options, calls()).functions.find((one) => one.name === "leaf")!
        .ncalls;

    expect(await count()).toBe(told());
    await page.keyboard.press("t");
    await dialog
      .locator(".threads-one", { hasText: "worker 1" })
      .getByRole("button", { name: "only" })
      .click();
    await dialog.getByRole("button", { name: "Close" }).click();
    await hashHas(page, "threads=");
    expect(await page.locator(".selected").textContent()).toContain("worker 1");
    expect(await count()).toBe(told("-t", "worker 1"));
    await page.keyboard.press("Escape");
    await expect.poll(count).toBe(told());
    expect(problems).toEqual([]);
  });
});

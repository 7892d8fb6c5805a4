/* The flame graph's boxes are those of `venturi flame`, in every shape and order; zoom, pan, click and keys move through it. */

import { describe, expect, it } from "vitest";
import { expectSame, type FlameAnswer } from "./answers";
import {
  hasChromium,
  coloursOf,
  hashHas,
  picture,
  saved,
  savedRows,
  svgElements,
  useBrowser,
} from "./chromium";
import { calls } from "./samples";
import { json, report } from "./tool";

describe.skipIf(!hasChromium)("flame", () => {
  const open = useBrowser();

  it("has the paths of the tool, with its times", async () => {
    const { page, problems } = await open(report(calls()), { hash: "flame?o.flame.threads=merged" });
    const told = json<FlameAnswer>("flame", "--json", "--min", "0.01", calls());
    const rows = await savedRows(page, picture(page).button("CSV"));

    expectSame(rows[0]?.["total ns"], told.total_ns, "everything");
    expect(told.frames.length).toBeGreaterThan(8);
    // On a busy machine imports that are deeper than the picture is high take long enough to be told.
    for (const frame of told.frames.filter((one) => one.depth < 20)) {
      const same = rows.filter(
        (row) =>
          row.name === frame.name && Number(row.line) === frame.line && Number(row.depth) === frame.depth + 1,
      );
      const row = same.find((one) => Math.abs(Number(one["total ns"]) - frame.total_ns) < 1);
      expect(row, `${frame.name} at ${frame.depth}: ${frame.total_ns}`).toBeDefined();
      expectSame(row!["self ns"], frame.self_ns, frame.name);
      expect(Number(row!.calls)).toBe(frame.calls);
    }
    expect(problems).toEqual([]);
  });

  it("shows threads apart unless they are merged", async () => {
    const { page, problems } = await open(report(calls()), { hash: "flame" });
    const names = async () =>
      (await savedRows(page, picture(page).button("CSV")))
        .filter((row) => row.line === "0")
        .map((row) => row.name!.replace(/ · .*/, ""));

    expect(await names()).toEqual(expect.arrayContaining(["MainThread", "worker 0", "worker 1"]));
    await page.getByRole("button", { name: "merge threads" }).click();
    await hashHas(page, "flame.threads=merged");
    expect(await names()).not.toContain("worker 0");
    expect(problems).toEqual([]);
  });

  it("draws every shape and order, and saves each as SVG and PNG", async () => {
    const { page, problems } = await open(report(calls()), { hash: "flame" });
    for (const shape of ["icicle", "flame", "sunburst"])
      for (const order of ["left-heavy", "by appearance", "bottom-up"]) {
        await page.getByRole("button", { name: shape, exact: true }).click();
        await page.getByRole("button", { name: order, exact: true }).click();
        await expect
          .poll(() => coloursOf(picture(page).canvas), { message: `${shape} ${order}` })
          .toBeGreaterThan(10);
      }
    const svg = (await saved(page, picture(page).button("SVG"))).data.toString("utf8");
    const png = (await saved(page, picture(page).button("PNG"))).data;
    expect(await svgElements(page, svg)).toBeGreaterThan(10);
    expect(png.subarray(1, 4).toString()).toBe("PNG");
    expect(png.length).toBeGreaterThan(1000);
    expect(problems).toEqual([]);
  });

  it("zooms and pans with keys, wheel and click, and finds its way back", async () => {
    const { page, problems } = await open(report(calls()), { hash: "flame" });
    const zoom = () =>
      page.evaluate(() => new URLSearchParams(location.hash.split("?")[1]).get("o.flame.zoom"));
    const { canvas } = picture(page);
    const box = (await canvas.boundingBox())!;

    await page.keyboard.press("w");
    await expect.poll(zoom).not.toBeNull();
    const near = await zoom();
    await page.keyboard.press("d");
    await expect.poll(zoom).not.toBe(near);
    await page.keyboard.press("a");
    await expect.poll(zoom).toBe(near);
    await page.keyboard.press("s");
    await expect.poll(zoom).toBeNull();
    await page.mouse.move(box.x + 200, box.y + 30);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -300);
    await page.keyboard.up("Control");
    await expect.poll(zoom).not.toBeNull();
    await page.keyboard.press("0");
    await expect.poll(zoom).toBeNull();
    await page.mouse.click(box.x + 60, box.y + 70);
    await expect.poll(() => page.locator(".selected").count()).toBe(1);
    await expect.poll(() => page.locator(".trail button").count()).toBeGreaterThan(1);
    await page.locator(".trail button").first().click();
    await expect.poll(() => page.locator(".trail").count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it("is walked with the keyboard, which says where it is", async () => {
    const { page, problems } = await open(report(calls()), { hash: "flame" });
    const told = page.locator("p.flame-status").last();

    await page.keyboard.press("Home");
    await expect.poll(() => told.textContent()).toMatch(/100 % of everything/);
    const root = await told.textContent();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => told.textContent()).not.toBe(root);
    expect(await told.textContent()).toMatch(/self .* calls?, /);
    await page.keyboard.press("Enter");
    await hashHas(page, "frame=");
    await page.keyboard.press("b");
    await expect.poll(() => page.locator(".selected").count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it("says how much of the time a search finds", async () => {
    const { page, problems } = await open(report(calls()), { hash: "flame?search=descend" });
    const told = json<FlameAnswer>("flame", "--json", "--min", "0.001", calls());
    const outer = told.frames.filter(
      (frame) => frame.name === "descend" && told.frames[frame.parent ?? -1]?.name !== "descend",
    );
    const share = outer.reduce((sum, frame) => sum + frame.total_ns, 0) / told.total_ns;

    await expect
      .poll(() => page.locator("p.flame-status").first().textContent())
      .toContain(`${(share * 100).toFixed(1)} %`);
    expect(problems).toEqual([]);
  });
});

/* Traces: the waterfall says what `venturi trace show --json` says, is walked with the keyboard, searched, saved, and kept in the address. */

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { formatTime } from "../../src/ui/format";
import { encodeHtml, type Fixture } from "../fixture";
import { makeRequest, requestPage, SERVICES, type TraceWish } from "../requests";
import {
  coloursOf,
  hasChromium,
  hashHas,
  ready,
  saved,
  savedRows,
  svgElements,
  tab,
  useBrowser,
} from "./chromium";
import { golden, BUILD, json, once, record, report, TOP, venturi, writeWithPython } from "./tool";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const BASE = "7bd8a1b8-1f4e-4b1a-9f57-c0d0ef1b2a3c";

/* Two requests with a query each, by one service that has told its name. */
const TRACES_ONLY = `
import sys
from vtwrite import Writer
w = Writer()
w.host()
w.clock(kind=2, anchors=[(0, 0, 1800000000 * 10 ** 9, 0)])
w.process(0, pid=11, name="python3")
w.process(1, pid=12, name="python3")
w.track(0, process=0, name="main", thread=11)
w.track(1, process=1, name="main", thread=12)
w.site(1, "request", 0)
w.site(2, "query", 0)
w.site(3, "service", 3)
for track in range(2):
    base, span, inner = (bytes([number + track]) * 16 for number in (16, 32, 48))
    e = w.events(track, first=0)
    e.trace_begin(1000, 1, 1, 0, base, span, base)
    e.async_attribute(1000, 1, 3, ["engine", "api"][track])
    e.trace_begin(1100, 2, 2, 0, base, inner, span)
    e.async_end(1800, 2)
    e.async_end(3000, 1)
    e.write(last=4000)
w.close()
open(sys.argv[1], "wb").write(w.bytes())
`;

interface Told {
  duration_ns: number;
  spans: { name: string; duration_ns: number; self_ns: number }[];
}

function traced(): string {
  return record("traced", "--", join(BUILD, "tests/programs/traces"));
}

function tracePage(): string {
  return once("traced-alone.html", (path) =>
    venturi("trace", "show", "last", traced(), "--html", "--out", path),
  );
}

/* A page of requests that never were. */
function made(name: string, make: () => Fixture): string {
  return once(name, (path) =>
    writeFileSync(path, encodeHtml(make(), readFileSync(join(TOP, "web/dist/page.html"), "utf8"))),
  );
}

const small = () => made("requests.html", () => requestPage([makeRequest(60)], SERVICES));
const several = () =>
  made("several.html", () =>
    requestPage(
      [1, 2, 3].map((n): TraceWish => ({
        ...makeRequest(20 * n, n, `7bd8a1b8-1f4e-4b1a-9f57-00000000000${n}`),
        offset: n * 2e9,
      })),
      SERVICES,
    ),
  );

const rows = (page: Page): Locator => page.locator(".waterfall-body [role=row]");
const name = (row: Locator): Locator => row.locator("[role=rowheader] .cell-text");
/* Of all rows, not only of those in the document. */
const rowCount = async (page: Page): Promise<number> =>
  Number(await page.locator(".waterfall").getAttribute("aria-rowcount")) - 1;
const details = (page: Page): Locator => page.locator(".trace-details");

/* The row that has the focus. */
function focused(page: Page): Promise<string> {
  return page.evaluate(() => document.activeElement?.querySelector(".cell-text")?.textContent ?? "");
}

describe.skipIf(!hasChromium)("traces", () => {
  const open = useBrowser();

  it("shows one trace as the tool tells it, with the names, times and errors of all spans", async () => {
    const { page, problems } = await open(tracePage());
    const told = json<Told>("trace", "show", "last", traced(), "--json");
    const listed = told.spans.map((span) => [
      span.name,
      formatTime(span.duration_ns),
      formatTime(span.self_ns),
    ]);

    await page.keyboard.press("+");
    expect(await rowCount(page)).toBe(listed.length);
    const shown = await rows(page).evaluateAll((list) =>
      list.map((row) => [
        row.querySelector(".cell-text")!.textContent!,
        ...[...row.querySelectorAll("[role=gridcell]")].slice(0, 2).map((cell) => cell.textContent!),
      ]),
    );
    expect(shown.length).toBeGreaterThan(20);
    expect(shown.length).toBeLessThan(80);
    expect(shown).toEqual(listed.slice(0, shown.length));
    expect(await page.locator(".traces-title").textContent()).toContain(formatTime(told.duration_ns));
    expect(await coloursOf(page.locator(".waterfall-bars"))).toBeGreaterThan(4);
    expect(problems).toEqual([]);
  });

  it("is in the report of a recording with traces only, and findings lead to the span", async () => {
    const { page, problems } = await open(report(traced()));

    await page.locator(".findings button", { hasText: "failed in the trace" }).click();
    await expect.poll(() => page.locator("main").getAttribute("aria-label")).toBe("Traces");
    expect(await details(page).locator("h2").textContent()).toBe("fails");
    expect(await page.locator(".trace-error").textContent()).toContain('ValueError no "money"');
    const attributes = await page.locator(".trace-attributes tbody tr").allInnerTexts();
    expect(attributes.map((text) => text.split(/\s+/).slice(0, 2).join(" "))).toEqual(
      expect.arrayContaining(["amount 12.5", "large 18446744073709551615", "card 4242"]),
    );
    await page.getByRole("button", { name: "Timeline", exact: true }).last().click();
    await expect.poll(() => page.locator("main").getAttribute("aria-label")).toBe("Timeline");
    await hashHas(page, "frame=fails");
    const other = await open(report(golden("everything")));
    expect(await tab(other.page, "Traces").count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it("a report of traces only has them in the flame, and says why nothing has a share", async () => {
    const { page, problems } = await open(report(writeWithPython("traces-only.vt", TRACES_ONLY)));

    expect(await page.locator("main").textContent()).toContain("overlap: their times are no shares");
    expect(await page.locator(".top thead").textContent()).not.toContain("Share");
    await tab(page, "Ranking").click();
    await page.locator("main[aria-label=Ranking] [role=grid]").waitFor();
    expect(await page.locator("main").textContent()).toContain("overlap: their times are no shares");
    expect(await page.getByRole("columnheader", { name: "Share" }).count()).toBe(0);
    expect(await page.getByRole("group", { name: "Group by" }).count()).toBe(0);
    await tab(page, "Flame").click();
    for (const shape of ["icicle", "flame", "sunburst"]) {
      await page.getByRole("button", { name: shape, exact: true }).click();
      await expect
        .poll(() => page.locator("main canvas").first().getAttribute("aria-label"))
        .toMatch(new RegExp(`Spans of all traces as an? ${shape}`));
      await expect.poll(() => coloursOf(page.locator("main canvas").first())).toBeGreaterThan(4);
    }
    const boxes = await savedRows(page, page.locator("main .save").getByRole("button", { name: "CSV" }));
    expect(boxes.map((box) => [box["name"], box["calls"], box["total ns"]])).toEqual([
      ["everything", "0", "4000"],
      ["request", "2", "4000"],
      ["query", "2", "1400"],
    ]);
    await tab(page, "Sandwich").click();
    await page.locator(".sandwich-half").first().waitFor();
    await page.keyboard.press("t");
    await expect
      .poll(() => page.getByRole("dialog").locator("legend").allTextContents())
      .toEqual(["engine · python3 11", "api · python3 12"]);
    expect(await page.getByRole("dialog").textContent()).toContain("2 spans");
    await page.keyboard.press("Escape");
    expect(problems).toEqual([]);
  });

  it("keeps the line ends of an error and of a value, and shows them where there is one line", async () => {
    const lines = "disk is full\nreally\u0007";
    const path = made("lines.html", () =>
      requestPage(
        [
          {
            base: BASE,
            spans: [
              {
                name: "two\nlines",
                start: 0,
                duration: 100,
                flags: 2,
                error: ["OSError", lines],
                attributes: { text: lines },
              },
            ],
          },
        ],
        SERVICES,
      ),
    );
    const { page, problems } = await open(path);

    await page.keyboard.press("Enter");
    await details(page).waitFor();
    expect(await page.locator(".trace-error .lines").innerText()).toBe("disk is full\nreally\\a");
    expect(await page.locator(".trace-attributes .lines").innerText()).toBe("disk is full\nreally\\a");
    expect(await name(rows(page).first()).textContent()).toBe("two↵lines");
    expect(problems).toEqual([]);
  });

  it("names all files that it comes from, and no keys for what is not there", async () => {
    const files = ["/var/log/api.vt", "/var/log/engine.vt", "/var/log/db.vt"];
    const path = made("files.html", () => requestPage([makeRequest(20)], SERVICES, { files }));
    const { page, problems } = await open(path);
    const facts = page.locator(".footer-facts");

    expect(await facts.textContent()).toContain("api.vt and 2 more");
    expect(await facts.getAttribute("title")).toBe(files.join("\n"));
    await page.keyboard.press("?");
    const help = page.getByRole("dialog");
    await help.waitFor();
    expect(await help.textContent()).toContain("critical path");
    expect(await help.textContent()).not.toContain("Choose threads");
    const other = await open(report(golden("everything")));
    await other.page.keyboard.press("?");
    expect(await other.page.getByRole("dialog").textContent()).toContain("Choose threads");
    expect(problems).toEqual([]);
  });

  it("is called like what its first span did", async () => {
    const told = json<Told>("trace", "show", "last", traced(), "--json");
    const { page } = await open(tracePage());

    expect(await page.title()).toContain(told.spans[0]!.name);
    expect(await page.locator(".footer-facts").textContent()).toMatch(/^traced\.vt · /);
  });

  it("is walked with the keyboard, and the address keeps where one is", async () => {
    const { page, problems } = await open(small());
    const all = await rowCount(page);

    expect(await rows(page).first().getAttribute("aria-expanded")).toBe("true");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => rowCount(page)).toBe(all);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => focused(page)).toBe(await name(rows(page).nth(2)).textContent());
    await page.keyboard.press("Enter");
    await expect.poll(() => details(page).locator("h2").textContent()).toBe(await focused(page));
    const id = await details(page).locator("code", { hasText: "10000000-" }).first().textContent();
    await hashHas(page, `o.traces.span=${id}`);
    await page.keyboard.press("ArrowUp");
    await expect
      .poll(() => details(page).locator("h2").textContent())
      .toBe(await name(rows(page).nth(1)).textContent());
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("w");
    await page.keyboard.press("p");
    await hashHas(page, "o.traces.zoom=");
    await hashHas(page, "o.traces.path=off");
    await hashHas(page, `o.traces.span=${id}`);
    await page.reload();
    await ready(page);
    await expect.poll(() => details(page).locator("code", { hasText: id! }).count()).toBeGreaterThan(0);
    await page.keyboard.press("Escape");
    await expect.poll(() => details(page).count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it("goes from error to error, and opens what hides it", async () => {
    const { page, problems } = await open(small());
    const seen = new Set<string>();

    await page.keyboard.press("-");
    await expect.poll(() => rows(page).count()).toBe(1);
    expect(await rows(page).first().locator(".waterfall-count.trace-failed").textContent()).toBe("✕ 3");
    for (let i = 0; i < 3; i++) {
      await page.keyboard.press("e");
      await expect
        .poll(() =>
          page.evaluate(() => document.activeElement?.querySelector("[aria-label=failed]") !== null),
        )
        .toBe(true);
      seen.add((await page.evaluate(() => document.activeElement?.getAttribute("aria-level"))) ?? "");
    }
    expect(seen.size).toBe(3);
    await page.locator("button.trace-failed").click();
    await details(page).waitFor();
    expect(await page.locator(".trace-error").textContent()).toContain("ActionException");
    expect(problems).toEqual([]);
  });

  it("searches names and attributes, and goes from one to the next", async () => {
    const { page, problems } = await open(small());

    await page.getByRole("searchbox").fill("/^std\\.http$/");
    const note = page.locator(".traces-found");
    await expect.poll(() => note.textContent()).toMatch(/^\d+ of 60 spans found/);
    const count = Number((await note.textContent())!.split(" ")[0]);
    await page.getByRole("searchbox").press("Enter");
    const ids = new Set<string>();
    for (let i = 0; i < count; i++) {
      await expect.poll(() => focused(page)).toBe("std.http");
      ids.add((await page.evaluate(() => document.activeElement?.getAttribute("data-at"))) ?? "");
      await page.keyboard.press("Enter");
    }
    expect(ids.size).toBeGreaterThan(1);
    await page.getByRole("searchbox").fill("workflow_executions_v2");
    await expect.poll(() => note.textContent()).toMatch(/^[1-9]\d* of 60/);
    await page.getByRole("searchbox").fill("/(/");
    await expect.poll(() => note.count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it("a service is hidden by its name in the legend, or all others are", async () => {
    const { page, problems } = await open(small());
    const legend = page.getByRole("group", { name: "Services" });

    await page.keyboard.press("+");
    await legend.getByRole("button", { name: /^executor/ }).click();
    await expect.poll(() => rowCount(page)).toBe(20);
    expect(await legend.getByRole("button", { name: /^executor/ }).getAttribute("aria-pressed")).toBe(
      "false",
    );
    await hashHas(page, "o.traces.hidden=");
    await legend.getByRole("button", { name: /^executor/ }).click();
    await legend.getByRole("button", { name: /^api/ }).click({ modifiers: ["Shift"] });
    await expect.poll(() => rows(page).count()).toBe(1);
    expect(problems).toEqual([]);
  });

  it("lists several traces, and goes there and back", async () => {
    const { page, problems } = await open(several());
    const list = page.locator(".table-body [role=row]");

    expect(await list.count()).toBe(3);
    expect(await list.nth(1).innerText()).toContain("7bd8a1b8-1f4e-4b1a-9f57-000000000002");
    expect(await list.nth(1).innerText()).toContain(formatTime(1_234_567_890));
    /* Nothing has the focus yet. */
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute("data-at"))).toBe("0");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await hashHas(page, "o.traces.id=7bd8a1b8-1f4e-4b1a-9f57-000000000002");
    await expect.poll(() => page.locator(".traces-title").textContent()).toContain("40 spans");
    await page.keyboard.press("u");
    await expect.poll(() => list.count()).toBe(3);
    await page.locator("body").click({ position: { x: 600, y: 700 } });
    await page.keyboard.press("Enter");
    await hashHas(page, "o.traces.id=7bd8a1b8-1f4e-4b1a-9f57-000000000001");
    expect(problems).toEqual([]);
  });

  it("a pattern that would take forever is given up, and the page goes on", async () => {
    const path = made("slow-pattern.html", () =>
      requestPage(
        [{ base: BASE, spans: [{ name: `${"a".repeat(60)}!`, start: 0, duration: 100 }] }],
        SERVICES,
      ),
    );
    const { page, problems } = await open(path, { hash: "traces?search=%2F(a%2B)%2B%24%2F" });
    const note = page.locator("#search-note");

    for (let i = 0; i < 2; i++) {
      await expect.poll(() => note.textContent()).toBe("this pattern takes too long");
      await page.getByRole("searchbox").fill("/^a+!$/");
      await expect.poll(() => page.locator(".traces-found").textContent()).toMatch(/^1 of 1 span found/);
      await page.getByRole("searchbox").fill("/(a|a)+$/");
    }
    expect(problems).toEqual([]);
  });

  it("saves what it shows", async () => {
    const { page, problems } = await open(small());
    const button = (title: string) => page.locator(".traces-head .save").getByRole("button", { name: title });

    const shown = await rowCount(page);
    const table = await savedRows(page, button("CSV"));
    expect(table.length).toBe(shown);
    expect(table[0]!["name"]).toBe("POST /v2/executions");
    expect(table[0]!["duration ns"]).toBe("1234567890");
    const svg = (await saved(page, button("SVG"))).data.toString("utf8");
    expect(await svgElements(page, svg)).toBeGreaterThan(shown * 4);
    expect(svg).toContain("POST /v2/executions");
    const png = await saved(page, button("PNG"));
    expect(png.data.subarray(1, 4).toString("latin1")).toBe("PNG");
    expect(png.data.length).toBeGreaterThan(5000);
    expect(problems).toEqual([]);
  });

  it("the flame of a span puts spans of one name together", async () => {
    const { page, problems } = await open(small());

    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    const flame = page.locator(".trace-details-flame");
    await flame.getByRole("button", { name: "CSV", exact: true }).waitFor();
    const boxes = await savedRows(page, flame.getByRole("button", { name: "CSV", exact: true }));
    expect(boxes[0]!["name"]).toBe(await details(page).locator("h2").textContent());
    expect(Number(boxes[0]!["share"])).toBe(1);
    expect(boxes.some((box) => Number(box["spans"]) > 1)).toBe(true);
    expect(problems).toEqual([]);
  });

  it("a hundred thousand spans open and scroll with few rows in the document", async () => {
    const path = made("large-trace.html", () => requestPage([makeRequest(100_000)], SERVICES));
    const { page, problems } = await open(path);

    await page.keyboard.press("+");
    await expect.poll(() => rowCount(page)).toBe(100_000);
    await page.keyboard.press("End");
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute("aria-rowindex")))
      .toBe("100001");
    await page.locator(".waterfall").evaluate((element) => (element.scrollTop = 1_000_000));
    await expect.poll(() => page.locator(`[data-at="41670"]`).count()).toBe(1);
    expect(await rows(page).count()).toBeLessThan(80);
    expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThan(1500);
    expect(problems).toEqual([]);
  });

  it("nothing that a span says is taken for markup", async () => {
    const nasty = "</script><script>window.hit = 1; alert(1)</script>";
    const texts = [
      nasty,
      "<img src=x onerror='window.hit=1'>",
      "\u202egnp.exe",
      "a\u0000b\u001b[31m",
      "W".repeat(10_000),
      "",
    ];
    const path = made("hostile-traces.html", () =>
      requestPage(
        [
          {
            base: BASE,
            spans: texts.map((text, i) => ({
              name: text,
              process: i % 2,
              parent: i - 1,
              start: i,
              duration: 100 - i,
              flags: 2,
              error: [text, text],
              attributes: { [text || "empty"]: text },
              thread: text,
            })),
          },
        ],
        [
          { service: nasty, project: nasty, host: nasty },
          { service: "\u202eabc", host: "W".repeat(10_000) },
        ],
      ),
    );

    for (const width of [1280, 400]) {
      const { page, problems } = await open(path, { width });
      await page.keyboard.press("+");
      await page.keyboard.press("Enter");
      await details(page).waitFor();
      for (let i = 0; i < texts.length; i++) {
        await page.keyboard.press("ArrowDown");
        await page.waitForTimeout(30);
        expect(
          await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
        ).toBeLessThanOrEqual(0);
        expect(
          await page.evaluate(() => document.querySelectorAll("img, script:not([type]), svg").length),
        ).toBe(1);
        expect(await page.evaluate(() => document.getElementById("app")!.textContent)).not.toMatch(
          /[\u202e\u0000\u001b]/,
        );
      }
      await page.keyboard.press("Home");
      await expect.poll(() => details(page).locator("h2").textContent()).toContain("</script>");
      const svg = (await saved(page, page.locator(".traces-head .save").getByRole("button", { name: "SVG" })))
        .data;
      expect(await svgElements(page, svg.toString("utf8"))).toBeGreaterThan(10);
      expect(await page.evaluate(() => "hit" in window)).toBe(false);
      expect(problems).toEqual([]);
    }
  });

  for (const isDark of [false, true])
    it(`axe finds nothing serious, ${isDark ? "dark" : "light"}; it fits on a narrow screen`, async () => {
      for (const path of [small(), several()]) {
        const { page } = await open(path, { isDark, bypassCSP: true });
        await page.addScriptTag({ content: AXE });
        if (path === small()) {
          await page.keyboard.press("e");
          await page.keyboard.press("Enter");
          await details(page).waitFor();
        }
        const found = await page.evaluate(async () => {
          const axe = (
            window as unknown as {
              axe: {
                run(): Promise<{
                  violations: {
                    id: string;
                    impact: string;
                    nodes: { html: string; failureSummary: string }[];
                  }[];
                }>;
              };
            }
          ).axe;
          const { violations } = await axe.run();
          return violations
            .filter((one) => one.impact === "serious" || one.impact === "critical")
            .map((one) => `${one.id}: ${one.nodes[0]?.html.slice(0, 200)} ${one.nodes[0]?.failureSummary}`);
        });
        expect(found, path).toEqual([]);
        await page.setViewportSize({ width: 400, height: 700 });
        expect(
          await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
        ).toBeLessThanOrEqual(0);
      }
    });
});

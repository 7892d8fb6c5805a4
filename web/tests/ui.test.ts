import { describe, expect, it } from "vitest";
import { tickLabels } from "../src/ui/axis";
import { contrast, diffColour, faded, magnitudeColour, nthColour, shaded, textOn } from "../src/ui/colour";
import * as format from "../src/ui/format";
import { svgPen } from "../src/ui/pen";
import { fileName, toCsv } from "../src/ui/save";
import { columnsWithin, sortRows } from "../src/ui/table";
import { clean, cleanLines, fit, fitMiddle, place, shortPath } from "../src/ui/text";

describe("numbers", () => {
  it("times", () => {
    const texts = [0, 1, 999, 1000, 1234, 12_340, 999_600, 1_500_000, 2e9, 123e9, 0.5].map(format.formatTime);
    expect(texts).toEqual([
      "0",
      "1 ns",
      "999 ns",
      "1.00 µs",
      "1.23 µs",
      "12.3 µs",
      "1.00 ms",
      "1.50 ms",
      "2.00 s",
      "123 s",
      "0.50 ns",
    ]);
    expect(format.formatTime(NaN)).toBe("–");
    expect(format.formatDuration(125e9)).toBe("2 min 05 s");
    expect(format.formatDuration(7_380e9)).toBe("2 h 03 min");
  });

  it("counts, bytes and shares", () => {
    expect(format.formatCount(1_234_567)).toBe("1,234,567");
    expect(format.formatShort(1_234_567)).toBe("1.23 M");
    expect(format.formatBytes(1500)).toBe("1.50 kB");
    expect([0, 0.0001, 0.372, 1].map(format.formatShare)).toEqual(["0.0 %", "<0.1 %", "37.2 %", "100 %"]);
    expect(format.formatChange(-1500, format.formatTime)).toBe("−1.50 µs");
  });

  it("ticks that can be told apart", () => {
    expect(format.tickStep(1000, 10)).toBe(100);
    expect(format.tickStep(1000, 6)).toBe(200);
    expect(format.tickStep(0, 6)).toBe(1);
    const step = 250;
    const texts = [1_000_000, 1_000_250, 1_000_500].map((ns) => format.formatTick(ns, step));
    expect(new Set(texts).size).toBe(3);
    expect(format.formatTick(1.25e9, 250e6)).toBe("1.25 s");
    expect(format.formatTick(1.5e9, 500e6)).toBe("1.5 s");
  });
});

describe("text of a recording", () => {
  it("is cut in the middle where its end matters", () => {
    expect(fitMiddle("tcp://127.0.0.1:44581", 90, 10)).toBe("tcp:…4581");
    expect(fitMiddle("short", 50, 10)).toBe("short");
    expect(fitMiddle("short", 20, 10)).toBe("");
  });

  it("hides nothing and turns nothing around", () => {
    expect(clean("a\u0000b\nc\u007f\r\nd\te\u001b[1m")).toBe("a\\x00b↵c\\x7f↵d\\te\\x1b[1m");
    expect(cleanLines("a\r\n\tb\nc\u0000\u202e", 100)).toBe("a\n\tb\nc\\x00\\u202e");
    expect(cleanLines("a\nbcd", 4)).toBe("a\nb…");
    expect(clean("x\u202ey\u2066z\u200b")).toBe("x\\u202ey\\u2066z\\u200b");
    expect(clean("\ud800")).toBe("\\ud800");
    expect(clean("ordinary ünïcode 漢字 😀")).toBe("ordinary ünïcode 漢字 😀");
  });

  it("is never too long", () => {
    expect(clean("a".repeat(10_000)).length).toBe(400);
    expect(fit("abcdef", 28, 7)).toBe("abc…");
    expect(fit("abcdef", 7, 7)).toBe("");
    expect(shortPath("/very/long/path/of/file.py", 12)).toBe("…/of/file.py");
    expect(place("/a/b.py", 12)).toBe("/a/b.py:12");
    expect(place("", 12)).toBe("");
  });
});

describe("colours", () => {
  it("text can be read on every one of them", () => {
    const all = [
      ...Array.from({ length: 500 }, (_, i) => shaded(nthColour(i), `f${i}`)),
      ...Array.from({ length: 500 }, (_, i) => shaded(faded(nthColour(i)), `f${i}`)),
      ...Array.from({ length: 50 }, (_, i) => magnitudeColour(i / 49)),
      ...Array.from({ length: 50 }, (_, i) => magnitudeColour(i / 49, "viridis")),
      ...Array.from({ length: 50 }, (_, i) => diffColour(i / 25 - 1)),
      ...Array.from({ length: 9 }, (_, i) => nthColour(i)),
    ];
    for (const colour of all) expect(contrast(colour, textOn(colour))).toBeGreaterThanOrEqual(4.5);
  });

  it("the same name has the same colour", () => {
    expect(shaded(nthColour(3), "f")).toEqual(shaded(nthColour(3), "f"));
    expect(shaded(nthColour(3), "f")).not.toEqual(shaded(nthColour(3), "g"));
  });
});

describe("files", () => {
  it("CSV that no spreadsheet takes for a formula", () => {
    expect(
      toCsv(
        ["a", "b"],
        [
          ['x,"y"', 1.5],
          ["=1+1", NaN],
        ],
      ),
    ).toBe('a,b\n"x,""y""",1.5\n\'=1+1,\n');
  });

  it("names that every system takes", () => {
    expect(fileName("../../etc/passwd\u0000", "flame", "svg")).toBe("etc-passwd-flame.svg");
  });

  it("SVG in which no text is markup", () => {
    const pen = svgPen(10, 10, "<script>");
    pen.text(0, 0, '</text><script>"&', "#000");
    const svg = pen.finish();
    expect(svg).not.toContain("<script>");
    expect(svg).toContain("&lt;/text&gt;&lt;script&gt;&quot;&amp;");
  });
});

describe("tables", () => {
  it("sorts numbers and texts, unknown ones last", () => {
    const values = [3, NaN, 1, 2];
    const column = { id: "c", title: "c", width: 1, text: String, value: (row: number) => values[row]! };
    expect([...sortRows([0, 1, 2, 3], column, false)]).toEqual([2, 3, 0, 1]);
    expect([...sortRows([0, 1, 2, 3], column, true)]).toEqual([0, 3, 2, 1]);
    const names = { ...column, value: (row: number) => ["b10", "b9", "A"][row]! };
    expect([...sortRows([0, 1, 2], names, false)]).toEqual([2, 1, 0]);
  });
});

describe("columns of a table", () => {
  it("leave where there is no room, the order's never", () => {
    const make = (id: string, leaves: number) => ({
      id,
      title: id,
      width: 100,
      leaves,
      text: () => "",
      value: () => 0,
    });
    const all = [make("a", 0), make("b", 1), make("c", 2)];
    const ids = (width: number, order: string) => columnsWithin(all, width, order).map(({ id }) => id);
    expect(ids(300, "a")).toEqual(["a", "b", "c"]);
    expect(ids(299, "a")).toEqual(["a", "b"]);
    expect(ids(250, "c")).toEqual(["a", "c"]);
    expect(ids(10, "a")).toEqual(["a"]);
  });
});

describe("an axis", () => {
  it("has every label that fits: the last one on the left of its tick", () => {
    const ticks = [0, 100, 200].map((x) => ({ x, text: `${x} ms` }));
    const places = (right: number) =>
      tickLabels(ticks, 0, right).map(({ x, text, align }) => `${text} ${align} ${x}`);

    expect(places(300)).toEqual(["0 ms left 4", "100 ms left 104", "200 ms left 204"]);
    expect(places(210)).toEqual(["0 ms left 4", "100 ms left 104", "200 ms right 196"]);
    expect(tickLabels([...ticks.slice(0, 2), { x: 150, text: "150 ms" }], 0, 160).length).toBe(2);
  });
});

import { describe, expect, it } from "vitest";
import { bottomUpTree, calleesTree, callersTree } from "../src/model/bundle";
import { type Boxes, boxAt, layOut } from "../src/model/layout";
import { forestTree, type Tree } from "../src/model/tree";
import * as zoom from "../src/model/zoom";
import { type Drawn, drawn, forestOf, randomTree } from "./trees";

const MADE = drawn("main 10\n  small 10\n  big 60\n    leaf 20\n    inner 10\n  leaf 10");

/* "depth name from-to" of each box, in thousandths. */
function shown(made: Drawn, tree: Tree, boxes: Boxes): string[] {
  const at = (x: number) => Math.round(x * 1000);
  return Array.from({ length: boxes.size }, (_, box) => {
    const node = boxes.node[box]!;
    const name = node < 0 ? "…" : (made.names[tree.frame(node)] ?? "all");
    return `${boxes.depth[box]} ${name} ${at(boxes.from[box]!)}-${at(boxes.to[box]!)}`;
  }).sort();
}

function all(tree: Tree, pixels = 1000, window = zoom.WHOLE) {
  return layOut(tree, { window, pixels, firstRow: 0, lastRow: 1e6 });
}

describe("layout", () => {
  it("is in order of appearance, or the widest first", () => {
    const forest = forestOf(MADE);
    const byTime = forestTree(forest, "time", "time");
    expect(shown(MADE, byTime, all(byTime))).toEqual([
      "0 all 0-1000",
      "1 main 0-1000",
      "2 big 83-833",
      "2 leaf 833-917",
      "2 small 0-83",
      "3 inner 250-333",
      "3 leaf 83-250",
    ]);
    const heavy = forestTree(forest, "time", "heavy");
    expect(shown(MADE, heavy, all(heavy)).filter((line) => line.startsWith("2"))).toEqual([
      "2 big 0-750",
      "2 leaf 833-917",
      "2 small 750-833",
    ]);
    expect(heavy.children(1).length).toBe(3);
    expect([...forest.child]).toEqual([1, 2, 3, 6, 4, 5]);
  });

  it("can go by the number of calls", () => {
    const made = drawn("main 1\n  often 1x8\n  seldom 1x1");
    const tree = forestTree(forestOf(made), "count", "time");
    expect(shown(made, tree, all(tree))).toEqual([
      "0 all 0-1000",
      "1 main 0-1000",
      "2 often 0-800",
      "2 seldom 800-900",
    ]);
  });

  it("never lets children grow out of their parent", () => {
    const rows = { ...drawn("a 1\n  b 5\n  c 5").rows, total: [8, 5, 5] };
    const tree = forestTree(forestOf({ rows, names: ["a", "b", "c"] }), "time", "time");
    const boxes = all(tree);
    expect(Math.max(...boxes.to.subarray(0, boxes.size))).toBe(1);
    expect(tree.total(1)).toBe(8);
  });

  it("leaves out what is narrower than half a pixel, and shows runs of it as one", () => {
    const made = drawn(`main 0\n  big 1000\n${"  tiny 1\n".repeat(20)}`);
    const tree = forestTree(forestOf(made, { isMerged: false }), "time", "time");
    const boxes = all(tree, 100);
    expect(boxes.hidden).toBe(20);
    expect(shown(made, tree, boxes)).toEqual([
      "0 all 0-1000",
      "1 main 0-1000",
      "2 big 0-980",
      "2 … 980-1000",
    ]);
    expect(boxes.above[boxAt(boxes, 0.99, 2)]).toBe(1);
    expect(all(tree, 100, { from: 0.9815, to: 1 }).size).toBe(2 + 19);
  });

  it("shows only rows and parts that can be seen", () => {
    const tree = forestTree(forestOf(MADE), "time", "time");
    const boxes = layOut(tree, { window: { from: 0.9, to: 1 }, pixels: 100, firstRow: 2, lastRow: 2 });
    expect(shown(MADE, tree, boxes)).toEqual(["2 leaf 833-917"]);
    expect(boxes.deepest).toBe(2);
  });

  it("of a tree that grows stops when it is late, says so, and goes on from there", () => {
    const tree = bottomUpTree(forestOf(MADE), "time");
    const options = { window: zoom.WHOLE, pixels: 100, firstRow: 0, lastRow: 9 };
    const once = () => {
      let calls = 0;
      return layOut(tree, { ...options, isLate: () => ++calls > 1 });
    };
    const rounds = [];
    do rounds.push(once());
    while (rounds.at(-1)!.isPartial && rounds.length < 50);
    expect(rounds.length).toBeGreaterThan(2);
    expect(rounds[0]!.size).toBeLessThan(rounds.at(-1)!.size);
    expect(rounds.at(-1)!.size).toBe(all(bottomUpTree(forestOf(MADE), "time"), 100).size);
  });

  it("does not let a tree grow below the last row", () => {
    const tree = bottomUpTree(forestOf(MADE), "time");
    const boxes = layOut(tree, { window: zoom.WHOLE, pixels: 100, firstRow: 0, lastRow: 1 });
    expect(Array.from(tree.children(0)).some((child) => tree.isGrown!(child))).toBe(false);
    expect([boxes.deepest, boxes.isPartial]).toEqual([2, false]);
  });

  it("of nothing is nothing", () => {
    expect(all(forestTree(forestOf(drawn("")), "time", "time")).size).toBe(0);
    expect(all(bottomUpTree(forestOf(drawn("")), "time")).size).toBe(0);
  });

  it("finds nodes again, and the way to a window", () => {
    const tree = forestTree(forestOf(MADE), "time", "heavy");
    const boxes = all(tree);
    for (let box = 0; box < boxes.size; box++) {
      const extent = zoom.extentOf(tree, boxes.node[box]!);
      expect(extent.from).toBeCloseTo(boxes.from[box]!, 12);
      expect(extent.to).toBeCloseTo(boxes.to[box]!, 12);
    }
    const leaf = boxes.node[boxAt(boxes, 0.1, 3)]!;
    expect(zoom.trailOf(tree, zoom.extentOf(tree, leaf)).map((node) => MADE.names[tree.frame(node)])).toEqual(
      [undefined, "main", "big", "leaf"],
    );
    expect(zoom.trailOf(tree, zoom.WHOLE)).toEqual([0, 1]);
  });
});

describe("window", () => {
  it("zooms around a place and stays inside", () => {
    expect(zoom.zoomWindow(zoom.WHOLE, 0.5, 0.25)).toEqual({ from: 0.125, to: 0.625 });
    expect(zoom.zoomWindow({ from: 0.5, to: 1 }, 4, 0.75)).toEqual(zoom.WHOLE);
    expect(zoom.panWindow({ from: 0.75, to: 1 }, 0.5)).toEqual({ from: 0.75, to: 1 });
    expect(zoom.panWindow({ from: 0.5, to: 0.75 }, -0.5)).toEqual({ from: 0.375, to: 0.625 });
  });
});

describe("zoom", () => {
  it("goes into the address and comes back", () => {
    const tree = forestTree(forestOf(MADE), "time", "heavy");
    for (const node of [0, 1, 3, 5]) {
      const there = zoom.zoomTo(tree, node);
      const back = zoom.readZoom(zoom.writeZoom(there));
      expect(zoom.zoomTrail(tree, back).at(-1)).toBe(node);
    }
    expect(zoom.writeZoom(zoom.NO_ZOOM)).toBe("");
  });

  it("takes what cannot be for none", () => {
    for (const text of ["", "1", "0.5~0.2~1", "0~2~0", "0~1~-1", "a~b~c", "0~1~1e999", "NaN~1~0"])
      expect(zoom.readZoom(text)).toEqual(zoom.NO_ZOOM);
  });
});

describe("bundles", () => {
  const made = drawn("main 1\n  a 2\n    leaf 4\n  b 8\n    leaf 16\n      leaf 32");
  const forest = forestOf(made);
  const frame = (name: string) => made.names.indexOf(name);
  const below = (tree: Tree, node: number) =>
    Array.from(tree.children(node), (child) => `${made.names[tree.frame(child)]} ${tree.total(child)}`);

  it("bottom-up: own time by function, then by who called", () => {
    const tree = bottomUpTree(forest, "time");
    expect(below(tree, 0)).toEqual(["leaf 52", "b 8", "a 2", "main 1"]);
    const leaf = tree.children(0)[0]!;
    expect(below(tree, leaf)).toEqual(["leaf 32", "b 16", "a 4"]);
    expect(below(tree, tree.children(leaf)[0]!)).toEqual(["b 32"]);
    expect(tree.width(0)).toBe(63);
  });

  it("callers: of outermost calls, so that nothing counts twice", () => {
    const tree = callersTree(forest, frame("leaf"), "time");
    expect([tree.frame(0), tree.total(0), tree.count(0)]).toEqual([frame("leaf"), 52, 2]);
    expect(below(tree, 0)).toEqual(["b 48", "a 4"]);
  });

  it("callees: over all places of the function", () => {
    const tree = calleesTree(forest, frame("leaf"), "time");
    expect([tree.total(0), tree.self(0)]).toEqual([52, 20]);
    expect(below(tree, 0)).toEqual(["leaf 32"]);
  });

  it("goes through one caller once, however many ways lead to it", () => {
    const many = drawn("main 0\n  mid 0\n    x 1\n    y 0\n      x 2");
    const tree = bottomUpTree(forestOf(many), "time");
    const x = tree.children(0)[0]!;
    const ways = Array.from(
      tree.children(x),
      (child) => `${many.names[tree.frame(child)]} ${tree.total(child)}`,
    );
    expect(ways).toEqual(["y 2", "mid 1"]);
  });
});

describe("large trees", () => {
  const rows = randomTree(1_000_000, 3980, 8);
  const made = { rows, names: Array.from({ length: 3980 }, (_, i) => `f${i}`) };

  it("of a million nodes give at most as many boxes as can be seen", { timeout: 120_000 }, () => {
    const forest = forestOf(made, { isMerged: false });
    expect(forest.size).toBe(1_000_000 + 8 + 1);
    for (const tree of [
      forestTree(forest, "time", "time"),
      forestTree(forest, "time", "heavy"),
      bottomUpTree(forest, "time"),
    ]) {
      const boxes = all(tree, 1200);
      expect(boxes.size).toBeGreaterThan(400);
      expect(boxes.size).toBeLessThan(1200 * 2 * (boxes.deepest + 1));
    }
  });
});

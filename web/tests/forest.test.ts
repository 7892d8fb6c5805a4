import { describe, expect, it } from "vitest";
import { type Forest, walk } from "../src/model/forest";
import { neighboursOf, outermost, sumByFrame, sumMarked } from "../src/model/sums";
import { type Drawn, drawn, forestOf, nameOf, randomTree } from "./trees";

/* The tree as lines: name, total, own time, calls. */
function text(made: Drawn, forest: Forest): string[] {
  const lines: string[] = [];
  let depth = 0;
  walk(
    forest,
    (node) => {
      const name = nameOf(made, forest, forest.frame[node]!);
      lines.push(
        `${"  ".repeat(depth++)}${name} ${forest.total[node]} ${forest.self[node]} ${forest.count[node]}`,
      );
    },
    () => depth--,
  );
  return lines;
}

const TWO_THREADS = drawn(`
main 1 #0
  load 4
  work 5
main 2 #1
  work 3x2
    load 1
`);

describe("forest", () => {
  it("merges equal paths of threads", () => {
    expect(text(TWO_THREADS, forestOf(TWO_THREADS))).toEqual([
      "all 16 0 0",
      "  main 16 3 2",
      "    load 4 4 1",
      "    work 9 8 3",
      "      load 1 1 1",
    ]);
  });

  it("keeps threads apart, each below a root of its own", () => {
    expect(text(TWO_THREADS, forestOf(TWO_THREADS, { isMerged: false }))).toEqual([
      "all 16 0 0",
      "  thread 0 10 0 0",
      "    main 10 1 1",
      "      load 4 4 1",
      "      work 5 5 1",
      "  thread 1 6 0 0",
      "    main 6 2 1",
      "      work 4 3 2",
      "        load 1 1 1",
    ]);
  });

  it("puts threads below their process where there are several", () => {
    const made = drawn("a 1 #0\na 2 #1\na 4 #2");
    const place = (track: number) => ({
      process: track === 2 ? 1 : 0,
      processLabel: track === 2 ? "child" : "parent",
      threadLabel: `t${track}`,
    });
    expect(text(made, forestOf(made, { isMerged: false, place }))).toEqual([
      "all 7 0 0",
      "  parent 3 0 0",
      "    t0 1 0 0",
      "      a 1 1 1",
      "    t1 2 0 0",
      "      a 2 2 1",
      "  child 4 0 0",
      "    a 4 4 1",
    ]);
  });

  it("leaves out tracks that are not chosen", () => {
    const forest = forestOf(TWO_THREADS, { isMerged: false, tracks: new Set([1]) });
    expect(text(TWO_THREADS, forest)[0]).toBe("all 6 0 0");
    expect(forest.size).toBe(4);
  });

  it("shows all of five roots and eight threads", () => {
    const roots = ["a", "b", "c", "d", "e"];
    const threads = [0, 1, 2, 3, 4, 5, 6, 7];
    const made = drawn(threads.flatMap((track) => roots.map((name) => `${name} 1 #${track}`)).join("\n"));
    const apart = text(made, forestOf(made, { isMerged: false }));
    for (const track of threads) expect(apart).toContain(`  thread ${track} 5 0 0`);
    expect(apart.length).toBe(1 + 8 + 8 * 5);
    expect(text(made, forestOf(made))).toEqual(["all 40 0 0", ...roots.map((name) => `  ${name} 8 8 8`)]);
  });

  it("folds direct recursion", () => {
    const made = drawn("fib 1\n  fib 2\n    fib 4\n      leaf 8\n  leaf 16");
    expect(text(made, forestOf(made, { isFolded: true }))).toEqual([
      "all 31 0 0",
      "  fib 31 7 3",
      "    leaf 24 24 2",
    ]);
  });

  it("folds recursion through others, and keeps every function's own time", () => {
    const made = drawn("a 1\n  b 2\n    a 4\n      b 8\n        c 16");
    const folded = forestOf(made, { isFolded: true });
    expect(text(made, folded)).toEqual(["all 31 0 0", "  a 31 5 2", "    b 26 10 2", "      c 16 16 1"]);
    expect([...sumByFrame(folded).self]).toEqual([...sumByFrame(forestOf(made)).self]);
  });

  it("takes parents that are not there, and times that are none, as nothing", () => {
    const rows = drawn("a 1\n  b 2").rows;
    const broken = { ...rows, parent: [7, 9], total: [NaN, -5], self: [Infinity, 2] };
    const forest = forestOf({ rows: broken, names: ["a", "b"] });
    expect(text({ rows: broken, names: ["a", "b"] }, forest)).toEqual([
      "all 0 0 0",
      "  a 0 0 1",
      "  b 0 2 1",
    ]);
  });

  it("survives a depth of a hundred thousand", () => {
    const depth = 100_000;
    const rows = {
      parent: Uint32Array.from({ length: depth }, (_, i) => i),
      frame: (row: number) => row % 3,
      track: () => 0,
      count: new Uint32Array(depth).fill(1),
      total: Float64Array.from({ length: depth }, (_, i) => depth - i),
      self: new Float64Array(depth).fill(1),
      length: depth,
    };
    const made = { rows, names: ["a", "b", "c"] };
    expect([...sumByFrame(forestOf(made)).total]).toEqual([depth, depth - 1, depth - 2]);
    expect(forestOf(made, { isFolded: true }).size).toBe(4);
  });
});

describe("sums", () => {
  const made = drawn("main 1\n  walk 2\n    walk 4\n      stat 8\n  stat 16\n  walk 32");
  const forest = forestOf(made);
  const frame = (name: string) => made.names.indexOf(name);

  it("count time within the same function once", () => {
    const sums = sumByFrame(forest);
    expect(sums.total[frame("walk")]).toBe(2 + 4 + 8 + 32);
    expect(sums.self[frame("walk")]).toBe(2 + 4 + 32);
    expect(sums.count[frame("walk")]).toBe(3);
    expect([...outermost(forest)].filter((is) => is === 0).length).toBe(1);
  });

  it("add up what a search found, once", () => {
    const marked = new Uint8Array(made.names.length);
    marked[frame("walk")] = 1;
    marked[frame("stat")] = 1;
    expect(sumMarked(forest, marked)).toEqual({ total: 62, nodes: 4 });
  });

  it("know who called, and whom", () => {
    expect(neighboursOf(forest, frame("walk"))).toEqual({
      total: 46,
      self: 38,
      count: 3,
      callers: [
        { frame: frame("main"), count: 2, total: 46 },
        { frame: frame("walk"), count: 1, total: 12 },
      ],
      callees: [
        { frame: frame("walk"), count: 1, total: 12 },
        { frame: frame("stat"), count: 1, total: 8 },
      ],
    });
  });

  it("count a pair within itself once", () => {
    const pair = drawn("a 1\n  b 1\n    a 1\n      b 1");
    const { callers, total } = neighboursOf(forestOf(pair), 1);
    expect(callers).toEqual([{ frame: 0, count: 2, total: 3 }]);
    expect(total).toBe(3);
  });

  it("of functions' own time make the whole, merged or not", () => {
    const rows = randomTree(20_000, 300, 4);
    const random = { rows, names: Array.from({ length: 300 }, (_, i) => `f${i}`) };
    const sum = (values: Float64Array) => values.reduce((a, b) => a + b, 0);
    const [apart, merged] = [forestOf(random, { isMerged: false }), forestOf(random)];
    const folded = forestOf(random, { isFolded: true });
    for (const each of [apart, merged, folded]) expect(sum(sumByFrame(each).self)).toBe(each.total[0]);
    expect(sumByFrame(merged).total).toEqual(sumByFrame(apart).total);
    expect(merged.size).toBeLessThan(apart.size);
    expect(folded.size).toBeLessThan(merged.size);
  });
});

import { describe, expect, it, vi } from "vitest";
import { readAddress, writeAddress } from "../src/state/hash";
import { tryExpression } from "../src/data/trial";
import type { Question, Questions, StoppableWorker } from "../src/data/work";
import { isTried, matcher, matcherOf, verdict } from "../src/state/search";
import { search } from "../src/state/selection";
import { LONGEST_TRIAL, tryExpressions } from "../src/state/trial";
import { NOTHING, frameKey } from "../src/state/selection";

describe("the address", () => {
  const full = {
    view: "timeline",
    selection: {
      range: { from: 12, to: 3_000_000_000_000 },
      tracks: [0, 7],
      frames: [frameKey("a<b>&?#", "/x y/ü.py", 3), frameKey("", "", 0)],
      span: { track: 1, depth: 2, start: 99 },
    },
    search: "/a|b?c=#/",
    options: { "flame.mode": "left heavy", zoom: "1-2" },
  };

  it("comes back as it was", () => {
    expect(readAddress(writeAddress(full), "overview")).toEqual(full);
    expect(writeAddress({ view: "x", selection: NOTHING, search: "", options: { a: "" } })).toBe("#x");
  });

  it("takes nothing from nonsense", () => {
    for (const text of [
      "",
      "#",
      "#%",
      "#?range=5-2&threads=a.b&span=1.x.3",
      "#?range=&threads=&span=",
      "#?range=1e400-3",
    ])
      expect(readAddress(text, "overview")).toEqual({
        view: "overview",
        selection: NOTHING,
        search: "",
        options: {},
      });
  });
});

describe("search", () => {
  it("plain text whatever the case", () => {
    expect(matcherOf("Par").test("read_parser")).toBe(true);
    expect(matcherOf("a.c").test("abc")).toBe(false);
  });

  it("regular expressions between slashes, also while they are typed", () => {
    expect(matcherOf("/^re.d/").test("READ_x")).toBe(true);
    expect(matcherOf("/^re.d/c").test("READ_x")).toBe(false);
    expect(matcherOf("/x$").test("read_x")).toBe(true);
  });

  it("says what is wrong and matches nothing", () => {
    const bad = matcherOf("/(/");
    expect(bad.error).toBeTruthy();
    expect(bad.isActive).toBe(false);
    expect(bad.test("(")).toBe(false);
    expect(matcherOf("  ").isActive).toBe(false);
    expect(matcherOf("/").error).toBeNull();
  });
});

describe("expressions that are tried out first", () => {
  interface Asked {
    source: string;
    texts: readonly string[] | null;
    isStopped: boolean;
    answer(): void;
  }
  const asked: Asked[] = [];
  const start = (): StoppableWorker => {
    const mine: Asked[] = [];
    return {
      ask<Q extends Question>(_: Q, ask: Questions[Q]["ask"]) {
        const { source, texts } = ask as Questions["try"]["ask"];
        return new Promise<Questions[Q]["reply"]>((resolve) => {
          const one = { source, texts, isStopped: false, answer: () => resolve(null as never) };
          mine.push(one);
          asked.push(one);
        });
      },
      stop: () => mine.forEach((one) => (one.isStopped = true)),
    };
  };
  const answered = async (one: Asked | undefined) => {
    one?.answer();
    await vi.advanceTimersByTimeAsync(0);
  };

  it("are used when they ended, given up when they do not; the last one typed counts", async () => {
    vi.useFakeTimers();
    tryExpressions(["read", "write"], start);
    search.value = "plain";
    expect(matcher.value.isActive).toBe(true);
    expect(asked.length).toBe(0);

    search.value = "/^re/";
    expect(matcher.value).toMatchObject({ isActive: false, isPending: true, error: null });
    search.value = "/^rea/";
    search.value = "/^read/";
    await answered(asked[0]);
    expect(asked.map(({ source, texts }) => [source, texts])).toEqual([
      ["^re", ["read", "write"]],
      ["^read", null],
    ]);
    expect(matcher.value.isPending).toBe(true);
    await answered(asked[1]);
    expect(matcher.value.isActive).toBe(true);
    expect(matcher.value.test("READ")).toBe(true);

    search.value = "/(a+)+$/";
    await vi.advanceTimersByTimeAsync(LONGEST_TRIAL - 1);
    expect(matcher.value.isPending).toBe(true);
    await vi.advanceTimersByTimeAsync(1);
    expect(matcher.value).toMatchObject({ isActive: false, error: "this pattern takes too long" });
    expect(asked[2]!.isStopped).toBe(true);
    search.value = "/b/";
    expect(asked[3]!.texts).not.toBeNull();
    await answered(asked[3]);
    expect(matcher.value.test("abc")).toBe(true);
    search.value = "";
    isTried.value = false;
    verdict.value = null;
    vi.useRealTimers();
  });

  it("meet every text, every line, and what nearly matches", () => {
    const met: string[] = [];
    const test = RegExp.prototype.test;
    RegExp.prototype.test = function (text: string) {
      met.push(text);
      return test.call(this, text);
    };
    try {
      tryExpression("x", "iu", ["name", "def f():\n  pass"]);
    } finally {
      RegExp.prototype.test = test;
    }
    expect(met).toEqual(expect.arrayContaining(["name", "name:0", "def f():", "  pass", "pass"]));
  });
});

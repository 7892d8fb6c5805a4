import { describe, expect, it } from "vitest";
import { readAddress, writeAddress } from "../src/state/hash";
import { matcherOf } from "../src/state/search";
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

/* What the dashboard shows, and when it changes: events, stopping, another server. */

import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { makeState, START_MS, tasksEvent } from "./dashboard-fixture";
import type { State } from "../src/dashboard/data/types";

type Module = typeof import("../src/dashboard/state");

let page: Module;
const frames: (() => void)[] = [];

/* As a browser would, once the events are in. */
function nextFrame(): void {
  for (const run of frames.splice(0)) run();
}

function tell(seconds: number, more: Partial<State> = {}): void {
  page.takeEvent(
    "state",
    JSON.stringify(makeState({ seq: seconds * 10, now_ms: START_MS + seconds * 1000, ...more })),
  );
  nextFrame();
}

beforeAll(() => {
  vi.stubGlobal("requestAnimationFrame", (run: () => void) => frames.push(run));
});

beforeEach(async () => {
  vi.resetModules();
  frames.length = 0;
  page = await import("../src/dashboard/state");
});

describe("state of the dashboard", () => {
  it("shows the newest, once a frame", () => {
    page.takeEvent("state", JSON.stringify(makeState({ seq: 1 })));
    page.takeEvent("state", JSON.stringify(makeState({ seq: 2, title: "later" })));
    expect(page.shown.value).toBeNull();
    expect(frames.length).toBe(1);
    nextFrame();
    expect(page.shown.value?.title).toBe("later");
  });

  it("shows the last minute, but nothing before the beginning; what is over whole", () => {
    tell(10);
    expect(page.range.value).toEqual({ from: 0, to: 10e9 });
    tell(100);
    expect(page.range.value).toEqual({ from: 40e9, to: 100e9 });
    tell(200, { is_growing: false, last_ms: START_MS + 150_000 });
    expect(page.range.value).toEqual({ from: 0, to: 150e9 });
    page.chooseWindow("10");
    expect(page.range.value).toEqual({ from: 140e9, to: 150e9 });
  });

  it("goes on collecting while the picture is stopped", () => {
    tell(10);
    page.pause();
    const at = page.range.value;
    tell(20, { title: "meanwhile" });
    page.takeEvent("tasks", JSON.stringify(tasksEvent([[1, 0, 12_000, 13_000]])));
    nextFrame();
    expect(page.range.value).toEqual(at);
    expect(page.shown.value?.title).toBe("pipeline.py");
    expect(page.history.times.length).toBe(2);
    expect(page.stream.tasks.length).toBe(1);
    page.resume();
    expect(page.shown.value?.title).toBe("meanwhile");
    expect(page.range.value.to).toBe(20e9);
  });

  it("looks at a piece that is not too small to be seen", () => {
    tell(10);
    page.look({ from: 5e9, to: 5e9 });
    expect(page.isPaused.value).toBe(true);
    expect(page.range.value.to).toBeGreaterThan(page.range.value.from);
  });

  it("begins anew with another server", () => {
    tell(100);
    page.takeEvent("tasks", JSON.stringify(tasksEvent([[7, 0, 0, 1]])));
    tell(0.5, { title: "another" });
    expect(page.stream.tasks).toEqual([]);
    expect(page.history.times.length).toBe(1);
    expect(page.shown.value?.title).toBe("another");
  });

  it("begins anew with another recording of the same name, and asks for what was before", () => {
    tell(100);
    page.takeEvent("tasks", JSON.stringify(tasksEvent([[7, 0, 0, 1]])));
    const state = makeState({
      seq: 1001,
      replaced: 1,
      start_ms: START_MS + 100_000,
      now_ms: START_MS + 101_000,
    });
    expect(page.takeEvent("state", JSON.stringify(state))).toBe(true);
    expect(page.takeEvent("tasks", JSON.stringify(tasksEvent([[1, 0, 100_000, 100_500]])))).toBe(false);
    nextFrame();
    expect(page.takeEvent("state", JSON.stringify({ ...state, seq: 1002 }))).toBe(false);
    expect(page.stream.tasks.length).toBe(1);
    expect(page.range.value.to).toBeLessThan(10e9);
  });

  it("says so when it does not understand, and keeps what it has", () => {
    tell(10);
    for (const text of ["", "null", "[]", '{"seq":1}', '{"seq":11,"now_ms":1,"spans":7}', "<html>"]) {
      page.takeEvent("state", text);
      expect(page.isUnreadable.value, text).toBe(true);
    }
    nextFrame();
    expect(page.shown.value?.title).toBe("pipeline.py");
    tell(11);
    expect(page.isUnreadable.value).toBe(false);
  });

  it("steps through the windows in order", () => {
    tell(10);
    page.stepWindow(-1);
    expect(page.windowChoice.value).toBe("30");
    page.stepWindow(-1);
    page.stepWindow(-1);
    expect(page.windowChoice.value).toBe("10");
    for (let i = 0; i < 20; i++) page.stepWindow(1);
    expect(page.windowChoice.value).toBe("all");
  });
});

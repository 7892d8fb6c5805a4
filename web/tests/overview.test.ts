import { describe, expect, it } from "vitest";
import { curves } from "../src/views/overview/readings";
import { allSpans, topFunctions, topSpans } from "../src/views/overview/top";
import { nothingHere, trustFacts } from "../src/views/overview/trust";
import { emptyRecording, encodePage, makeTexts } from "./fixture";
import { openPage } from "./open";
import { makeProgram } from "./program";

const levelOf = (label: string, change: object) =>
  trustFacts({ ...emptyRecording(), ...change }).find((fact) => fact.label === label)!;

describe("trust", () => {
  const loss = {
    reason: "buffers full",
    events: 50,
    is_lower_bound: true,
    is_wanted: false,
    process: -1,
    track: -1,
    begin_ns: 0,
    end_ns: 1,
  };

  it("counts what was lost, not what was left out on purpose", () => {
    expect(levelOf("Losses", {}).level).toBe("good");
    expect(levelOf("Losses", { losses: [{ ...loss, is_wanted: true }] }).level).toBe("good");
    expect(levelOf("Losses", { events: 100_000, losses: [loss] })).toMatchObject({
      level: "notice",
      value: "at least 50 events",
    });
    expect(levelOf("Losses", { events: 50, lost_events: 50 }).level).toBe("bad");
  });

  it("says when the recording was cut off or is damaged", () => {
    expect(levelOf("File", {}).value).toBe("whole");
    expect(levelOf("File", { is_closed: false }).value).toBe("cut off");
    expect(levelOf("File", { damage: [{ what: "checksum", begin: 0, end: 1 }] }).value).toBe("damaged");
  });

  it("says that samples are estimates, and that overhead is not known", () => {
    const mode = { functions: "sampled", timeline: false, lines: false, resources_hz: 0 };
    expect(levelOf("Recorded", { mode }).detail).toContain("estimates");
    expect(levelOf("Overhead", {}).value).toBe("not known");
  });
});

describe("what matters most", () => {
  it("is the five with the most own time", async () => {
    const data = await openPage(makeProgram(3000));
    const functions = topFunctions(data);
    expect(functions.length).toBe(5);
    functions.reduce((a, b) => (expect(a.ns).toBeGreaterThanOrEqual(b.ns), b));
    expect(functions[0]!.ns).toBe(Math.max(...data.tables["functions"]!.columns["self"]!));
    expect(topSpans(data, allSpans(data)).length).toBe(5);
    expect(nothingHere(data)).toBeNull();
    expect(curves(data).map((curve) => curve.title)).toEqual(["CPU", "Memory", "Read", "Written"]);
  });

  it("is nothing in an empty recording, which says so", async () => {
    const data = await openPage(encodePage(emptyRecording(), makeTexts(), []));
    expect(topFunctions(data)).toEqual([]);
    expect(topSpans(data, allSpans(data))).toEqual([]);
    expect(curves(data)).toEqual([]);
    expect(nothingHere(data)).toContain("empty");
  });
});

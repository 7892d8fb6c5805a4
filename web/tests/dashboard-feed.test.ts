/* The connection of the dashboard: what it does when a server breaks off, refuses, falls silent, or ends. */

import { describe, expect, it } from "vitest";
import { sentenceOf } from "../src/dashboard/connection";
import { backoff, type Link, makeFeed, SILENT_MS, type StreamLike } from "../src/dashboard/data/feed";
import { makeState } from "./dashboard-fixture";

class FakeStream implements StreamLike {
  listeners = new Map<string, (event: { data?: string }) => void>();
  isClosed = false;

  addEventListener(type: string, listener: (event: { data?: string }) => void): void {
    this.listeners.set(type, listener);
  }
  close(): void {
    this.isClosed = true;
  }
  say(type: string, data = "{}"): void {
    this.listeners.get(type)?.({ data });
  }
}

/* A feed with a clock that the test moves. */
function makeTrial(status: () => number) {
  const streams: FakeStream[] = [];
  const links: Link[] = [];
  const events: string[] = [];
  let timers: { at: number; run: () => void }[] = [];
  let now = 0;
  let connects = 0;
  const feed = makeFeed(
    {
      open: () => (streams.push(new FakeStream()), streams.at(-1)!),
      probe: () => (status() ? Promise.resolve(status()) : Promise.reject(new Error("no network"))),
      now: () => now,
      later: (run, ms) => {
        const timer = { at: now + ms, run };
        timers.push(timer);
        return timer;
      },
      cancel: (timer) => (timers = timers.filter((one) => one !== timer)),
      random: () => 1,
    },
    {
      onEvent: (kind, data) => events.push(`${kind} ${data}`),
      onLink: (link) => links.push(link),
      onConnect: () => connects++,
    },
  );
  const pass = async (ms: number) => {
    now += ms;
    for (const timer of timers.filter((one) => one.at <= now)) {
      timers = timers.filter((one) => one !== timer);
      timer.run();
    }
    await Promise.resolve();
  };
  const settle = async () => {
    for (let i = 0; i < 5; i++) await Promise.resolve();
  };

  return {
    feed,
    streams,
    links,
    events,
    pass,
    settle,
    last: () => links.at(-1)!,
    stream: () => streams.at(-1)!,
    connects: () => connects,
  };
}

describe("feed", () => {
  it("is live from the first event on, and hands on what is said", () => {
    const trial = makeTrial(() => 200);

    trial.feed.connect();
    expect(trial.last().state).toBe("connecting");
    trial.stream().say("state", "1");
    trial.stream().say("tasks", "2");
    expect(trial.last().state).toBe("live");
    expect(trial.events).toEqual(["state 1", "tasks 2"]);
    expect(trial.connects()).toBe(1);
  });

  it("waits longer after each try in vain, and not after one that worked", async () => {
    const trial = makeTrial(() => 0);
    const waits: number[] = [];

    trial.feed.connect();
    for (let i = 0; i < 9; i++) {
      trial.stream().say("error");
      await trial.settle();
      expect(trial.last().state).toBe("waiting");
      const wait = trial.last().retryAt - waits.reduce((sum, one) => sum + one, 0);
      waits.push(wait);
      await trial.pass(wait);
      expect(trial.last().state).toBe("connecting");
    }
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000]);
    trial.stream().say("state");
    trial.stream().say("error");
    await trial.settle();
    expect(trial.last()).toMatchObject({ state: "waiting", tries: 1 });
    expect(trial.streams.filter((stream) => !stream.isClosed)).toEqual([]);
  });

  it("says why: refused, too many readers, nobody there", async () => {
    for (const [status, state, why] of [
      [401, "refused", /does not know/],
      [403, "refused", /does not know/],
      [429, "waiting", /as many readers/],
      [503, "waiting", /not ready/],
      [500, "waiting", /500/],
      [0, "waiting", /Nobody answers/],
    ] as const) {
      const trial = makeTrial(() => status);
      trial.feed.connect();
      trial.stream().say("error");
      await trial.settle();
      expect(trial.last().state, String(status)).toBe(state);
      expect(trial.last().why).toMatch(why);
    }
  });

  it("does not trust a connection on which nothing is said", async () => {
    const trial = makeTrial(() => 200);

    trial.feed.connect();
    trial.stream().say("state");
    await trial.pass(SILENT_MS - 1);
    expect(trial.last().state).toBe("live");
    trial.stream().say("state");
    await trial.pass(SILENT_MS - 1);
    expect(trial.last().state).toBe("live");
    await trial.pass(1);
    expect(trial.last().state).toBe("waiting");
    expect(trial.last().why).toMatch(/said nothing for 15 seconds/);
    expect(trial.stream().isClosed).toBe(true);
  });

  it("ends when the server says so, until the reader wants it again", async () => {
    const trial = makeTrial(() => 200);

    trial.feed.connect();
    trial.stream().say("state");
    trial.stream().say("end");
    expect(trial.last().state).toBe("ended");
    await trial.pass(3_600_000);
    expect(trial.streams.length).toBe(1);
    trial.feed.connect();
    expect(trial.streams.length).toBe(2);
  });

  it("hears nothing of connections that it has left", async () => {
    const trial = makeTrial(() => 200);

    trial.feed.connect();
    const first = trial.stream();
    trial.feed.connect();
    first.say("state", "old");
    first.say("error");
    await trial.settle();
    expect(trial.events).toEqual([]);
    expect(trial.last().state).toBe("connecting");
    trial.feed.rest();
    await trial.pass(3_600_000);
    expect(trial.streams.length).toBe(2);
  });

  it("spreads its tries by chance, but never beyond half", () => {
    for (let tries = 1; tries < 40; tries++) {
      expect(backoff(tries, 0)).toBeGreaterThanOrEqual(backoff(tries, 1) / 2);
      expect(backoff(tries, 1)).toBeLessThanOrEqual(30_000);
    }
  });
});

describe("what is said about the connection", () => {
  const link = (state: Link["state"], more: Partial<Link> = {}): Link => ({
    state,
    why: "",
    tries: 0,
    retryAt: 0,
    ...more,
  });

  it("tells live from over, stopped and stale", () => {
    const state = makeState();

    expect(sentenceOf(link("live"), state, false)).toEqual({ tone: "good", text: "Live" });
    expect(sentenceOf(link("live"), makeState({ is_growing: false }), false).text).toMatch(/^Over/);
    expect(sentenceOf(link("live"), state, true).text).toMatch(/^Stopped/);
    expect(sentenceOf(link("waiting", { why: "Nobody answers." }), state, false)).toEqual({
      tone: "bad",
      text: "Stale. Nobody answers. What is shown here is the last that came.",
    });
    expect(sentenceOf(link("ended"), state, true).tone).toBe("bad");
    expect(
      sentenceOf(link("ended"), makeState({ is_growing: false, path: "/a/run.vt" }), false),
    ).toMatchObject({
      tone: "calm",
      text: expect.stringMatching(/^The program has ended.*`venturi serve \/a\/run.vt`/),
    });
    expect(sentenceOf(link("connecting"), null, false).tone).toBe("calm");
    expect(sentenceOf(link("refused", { why: "No." }), null, false).text).toMatch(
      /address that `venturi serve` printed/,
    );
  });

  it("says that a cluster does not answer", () => {
    const cluster = { address: "tcp://h:1", version: "", is_connected: false, error: "connection refused" };

    expect(sentenceOf(link("live"), makeState({ kind: "dask", cluster }), false)).toEqual({
      tone: "bad",
      text: "The cluster does not answer: connection refused.",
    });
  });
});

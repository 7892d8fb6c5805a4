/* The connection to the server: one stream of events, opened again when it breaks, later and later, and never by everybody at once. What
 * it needs of the browser is handed in, so that tests have a clock of their own. Nothing here knows what the events say. */

export type LinkState = "connecting" | "live" | "waiting" | "refused" | "ended";

export interface Link {
  state: LinkState;
  why: string; // it does not work, in a sentence
  tries: number; // in vain, since it last worked
  retryAt: number; // of waiting: on the clock of Parts
}

export interface Parts {
  open(): StreamLike;
  probe(): Promise<number>; // the status that the server answers with; 0: nobody answers
  now(): number; // ms
  later(run: () => void, ms: number): unknown;
  cancel(timer: unknown): void;
  random(): number;
}

export interface StreamLike {
  addEventListener(type: string, listener: (event: { data?: string }) => void): void;
  close(): void;
}

export interface Handlers {
  onEvent(kind: "state" | "tasks", data: string): void;
  onLink(link: Link): void;
  onConnect(): void; // from here on events follow each other without a gap
}

/* The server says something every 10 s at least. */
export const SILENT_MS = 15_000;
const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/* Twice as long after each try, half of it by chance. */
export function backoff(tries: number, random: number): number {
  const most = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(16, Math.max(0, tries - 1)));

  return most * (0.5 + random / 2);
}

function whyOf(status: number): string {
  if (status === 0) return "Nobody answers: the server has stopped, or cannot be reached.";
  if (status === 429) return "The server has as many readers as it takes.";
  if (status === 503) return "The server is not ready yet.";
  if (status >= 400) return `The server answered with status ${status}.`;
  return "The connection broke.";
}

export interface Feed {
  connect(): void; // now, whatever was planned
  rest(): void; // until connect()
}

export function makeFeed(parts: Parts, handlers: Handlers): Feed {
  let stream: StreamLike | null = null;
  let timer: unknown = null;
  let tries = 0;
  let lastWhy = "";
  let turn = 0; // answers of earlier connections mean nothing

  const tell = (state: LinkState, why = "", retryAt = 0) => handlers.onLink({ state, why, tries, retryAt });
  const drop = () => {
    turn++;
    stream?.close();
    stream = null;
    parts.cancel(timer);
  };
  const wait = (why: string) => {
    const ms = backoff(++tries, parts.random());
    timer = parts.later(connect, ms);
    lastWhy = why;
    tell("waiting", why, parts.now() + ms);
  };
  const fail = async () => {
    drop();
    const mine = turn;
    const status = await parts.probe().catch(() => 0);
    if (mine !== turn) return;
    if (status === 401 || status === 403) tell("refused", "The server does not know this browser.");
    else wait(whyOf(status));
  };
  const listen = () => {
    parts.cancel(timer);
    timer = parts.later(() => {
      drop();
      wait(`The server has said nothing for ${SILENT_MS / 1000} seconds.`);
    }, SILENT_MS);
  };

  function connect(): void {
    drop();
    const mine = turn;
    let isFirst = true;
    const hear = (kind: "state" | "tasks") => (event: { data?: string }) => {
      if (mine !== turn) return;
      listen();
      if (isFirst) {
        isFirst = false;
        tries = 0;
        handlers.onConnect();
        tell("live");
      }
      handlers.onEvent(kind, event.data ?? "");
    };

    tell("connecting", tries ? lastWhy : "");
    listen();
    stream = parts.open();
    stream.addEventListener("state", hear("state"));
    stream.addEventListener("tasks", hear("tasks"));
    stream.addEventListener("end", () => {
      if (mine !== turn) return;
      drop();
      tell("ended");
    });
    stream.addEventListener("error", () => {
      if (mine === turn) void fail();
    });
  }

  return { connect, rest: drop };
}

/* Those of a browser. */
export function browserParts(): Parts {
  return {
    open: () => new EventSource("api/events") as StreamLike,
    probe: async () => (await fetch("api/state", { method: "HEAD", cache: "no-store" })).status,
    now: () => performance.now(),
    later: (run, ms) => setTimeout(run, ms),
    cancel: (timer) => clearTimeout(timer as number | undefined),
    random: Math.random,
  };
}

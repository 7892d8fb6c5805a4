/* The frame of the dashboard: what is watched, whether it is live, which piece of time is shown, the panels, and what is not there. */

import { useEffect, useRef, useState } from "preact/hooks";
import { EVERYWHERE, onKeyDown, useKeys } from "../state/keys";
import { matcher } from "../state/search";
import { search } from "../state/selection";
import { say, status } from "../state/status";
import { chooseTheme, themeChoice } from "../state/theme";
import { formatMoment } from "../ui/format";
import { Help } from "../ui/help";
import { Button, Choice, Empty } from "../ui/parts";
import { plainSentence, Sentence } from "../ui/sentence";
import { clean } from "../ui/text";
import type { State } from "./data/types";
import { Connection } from "./connection";
import type { Panel } from "./panel";
import { PANELS } from "./panels";
import { useFunctions } from "./panels/functions";
import { isBare, whatToDo } from "./start";
import {
  chooseWindow,
  frozen,
  isPaused,
  isStale,
  pause,
  range,
  resume,
  shown,
  stepWindow,
  WINDOW_LIST,
  windowChoice,
} from "./state";
import { Summary } from "./summary";
import { useLiveTime } from "./time";

const MOST_NUMBERS = 9; // keys that lead to panels
const THEMES = { system: "dark", dark: "light", light: "system" } as const;

export function App({ connect }: { connect(): void }) {
  const state = shown.value;
  const [isHelp, showHelp] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const there = state && !isBare(state) ? PANELS.filter((panel) => panel.missing(state) === null) : [];
  const isReady = state !== null;

  useEffect(() => {
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
  useEffect(() => {
    document.title = state ? `${clean(state.title || state.target, 60)} – Venturi` : "Venturi";
  }, [state?.title, state?.target]);
  useEffect(() => {
    if (isReady) requestAnimationFrame(() => performance.mark("venturi:ready"));
  }, [isReady]);
  useFunctions(isReady);
  usePageKeys(there, input, () => showHelp(true));
  return (
    <>
      <a class="skip" href="#main" onClick={skipToMain}>
        Skip to the panels
      </a>
      <Header state={state} input={input} onHelp={() => showHelp(true)} />
      <Connection connect={connect} />
      <main
        id="main"
        class={`view dashboard${isStale.value ? " is-stale" : ""}`}
        tabIndex={-1}
        aria-label="Status"
      >
        {!state ? null : isBare(state) ? (
          <Empty>
            <Sentence text={whatToDo(state)} />
          </Empty>
        ) : (
          <Body state={state} there={there} />
        )}
      </main>
      <Footer state={state} />
      {isHelp && <Help what="Panels" views={there.slice(0, MOST_NUMBERS)} onClose={() => showHelp(false)} />}
    </>
  );
}

/* The address after # is ours: the link must not change it. */
function skipToMain(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function goTo(panel: Panel): void {
  const element = document.getElementById(`panel-${panel.id}`);

  element?.scrollIntoView({ block: "start" });
  element?.focus({ preventScroll: true });
}

function usePageKeys(there: Panel[], input: { current: HTMLInputElement | null }, help: () => void): void {
  const time = useLiveTime({ range: range.value, gutter: 0, width: 1000, height: 0 });
  const isTime = (key: string) => ["w", "s", "a", "d"].includes(key);

  useKeys(EVERYWHERE, [
    {
      keys: ["p", " "],
      title: "Stop the picture, or go on",
      run: () => (isPaused.peek() ? resume() : pause()),
    },
    { keys: ["l"], title: "Back to now", run: resume },
    { keys: ["["], title: "A shorter window", run: () => stepWindow(-1) },
    { keys: ["]"], title: "A longer window", run: () => stepWindow(1) },
    ...time.keys.filter((action) => action.keys.some(isTime)),
    { keys: ["/"], title: "Search: text, or /regular expression/", run: () => input.current?.focus() },
    {
      keys: ["Escape"],
      title: "Clear the search, then back to now",
      run: () => {
        say("");
        if (search.peek()) search.value = "";
        else if (isPaused.peek()) resume();
      },
    },
    { keys: ["?"], title: "This help", run: help },
    ...there
      .slice(0, MOST_NUMBERS)
      .map((panel, i) => ({ keys: [String(i + 1)], title: "", run: () => goTo(panel) })),
  ]);
}

/* A spool has many recordings, and the page is of one. */
function reportTitle(state: State): string {
  const count = state.recordings.length;
  const name = clean(state.recordings[count - 1]!.name, 80);

  if (count === 1) return "Everything that was recorded, as one page";
  return `The newest of ${count} recordings, ${name}, as one page; venturi merge makes one of all`;
}

function Header(props: { state: State | null; input: { current: HTMLInputElement | null }; onHelp(): void }) {
  const { state } = props;
  const last = state ? state.recordings.length - 1 : -1;

  return (
    <header class="header">
      <h1 title={state ? clean(state.command) : undefined}>
        {state ? clean(state.title || state.target, 40) : "Venturi"}
      </h1>
      <Choice
        label="How much time is shown"
        options={WINDOW_LIST}
        value={frozen.value ? ("" as never) : windowChoice.value}
        onChange={chooseWindow}
      />
      <Button
        onClick={() => (isPaused.value ? resume() : pause())}
        isPressed={isPaused.value}
        title="Stop the picture; what happens meanwhile is not lost (p)"
      >
        {isPaused.value ? "Go on" : "Pause"}
      </Button>
      <span class="gap" />
      <SearchBox input={props.input} />
      {last >= 0 && (
        <a class="button" href={`report?recording=${last}`} title={reportTitle(state!)}>
          Report
        </a>
      )}
      <Button onClick={() => chooseTheme(THEMES[themeChoice.value])} title="Light, dark, or as the system">
        <span class="is-wide">Theme: </span>
        {{ system: "auto", dark: "dark", light: "light" }[themeChoice.value]}
      </Button>
      <Button onClick={props.onHelp} title="Keys and panels (?)">
        ?
      </Button>
    </header>
  );
}

function SearchBox({ input }: { input: { current: HTMLInputElement | null } }) {
  const { error } = matcher.value;

  return (
    <div class="search" role="search">
      <input
        ref={input}
        type="search"
        aria-label="Search names"
        placeholder="Search  /"
        value={search.value}
        spellcheck={false}
        aria-invalid={error !== null}
        aria-describedby="search-note"
        onInput={(event) => (search.value = event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") search.value = "";
          if (event.key === "Escape" || event.key === "Enter") event.currentTarget.blur();
        }}
      />
      <span id="search-note" class={error ? "search-note is-error" : "search-note"} role="status">
        {error ?? ""}
      </span>
    </div>
  );
}

function Body({ state, there }: { state: State; there: Panel[] }) {
  /* A cluster has none of what programs record. */
  const absent =
    state.kind === "dask"
      ? []
      : PANELS.map((panel) => [panel.title, panel.missing(state)] as const).filter(([, why]) => why);

  return (
    <>
      <Summary state={state} />
      <div class="panels">
        {there.map((panel, i) => {
          const Shown = panel.component;
          return (
            <section
              key={panel.id}
              id={`panel-${panel.id}`}
              class={`panel panel-${panel.width}`}
              aria-labelledby={`title-${panel.id}`}
              tabIndex={-1}
            >
              <h2
                id={`title-${panel.id}`}
                title={`${plainSentence(panel.question)}${i < MOST_NUMBERS ? ` (${i + 1})` : ""}`}
              >
                {panel.title}
              </h2>
              <Shown state={state} />
            </section>
          );
        })}
      </div>
      {absent.length > 0 && (
        <section class="absent" aria-labelledby="title-absent">
          <h2 id="title-absent">Not here</h2>
          <dl>
            {absent.map(([title, why]) => (
              <div key={title}>
                <dt>{title}</dt>
                <dd>
                  <Sentence text={why!} />
                </dd>
              </div>
            ))}
          </dl>
        </section>
      )}
    </>
  );
}

function Footer({ state }: { state: State | null }) {
  const facts = state
    ? [
        state.path || state.target,
        state.command,
        state.start_ms ? `since ${formatMoment(state.start_ms)}` : "",
        `venturi ${state.venturi}`,
      ]
    : [];

  return (
    <footer class="footer">
      <span class="footer-facts" title={state ? clean(state.path, 200) : undefined}>
        {facts
          .filter(Boolean)
          .map((fact) => clean(fact, 100))
          .join(" · ")}
      </span>
      <span role="status" class="status">
        {status.value}
      </span>
    </footer>
  );
}

/* The frame around the views: title, tabs, search, what is selected, help, and the line that says what happened. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { PageData } from "../data/types";
import { chooseBack, chooseNothing, isEmpty, showView } from "../state/choose";
import { EVERYWHERE, onKeyDown, runKey, useKeys } from "../state/keys";
import { matcher, whenKnown } from "../state/search";
import { search, selection, view } from "../state/selection";
import { say, status } from "../state/status";
import { chooseTheme, themeChoice } from "../state/theme";
import { frames } from "../model/frames";
import { VIEWS } from "../views";
import type { View, ViewProps } from "../views/view";
import { formatCount, formatDuration, formatMoment } from "./format";
import { Help } from "./help";
import { Button, Empty } from "./parts";
import { SelectionBar } from "./selected";
import { plainSentence, Sentence } from "./sentence";
import { clean, lastPart } from "./text";
import { Threads } from "./threads";

/* The views of this page: a comparison and a page of traces have one, which is called like them. */
export function viewsOf(data: PageData): View[] {
  const { kind } = data.directory;

  if (kind !== "report") return VIEWS.filter((one) => one.id === kind);
  return VIEWS.filter((one) => one.id !== "diff" && (one.isOffered?.(data) ?? true));
}

/* A sentence in place of the whole page. */
export function Problem({ text }: { text: string }) {
  return (
    <main class="problem">
      <div role="alert">
        <h1>This page cannot show its recording</h1>
        <p>{clean(text)}</p>
      </div>
    </main>
  );
}

export function App({ data, worker }: ViewProps) {
  const views = viewsOf(data);
  const current = views.find((one) => one.id === view.value) ?? views[0]!;
  const [dialog, setDialog] = useState<"help" | "threads" | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const missing = current.missing(data);
  const Shown = current.component;

  useEffect(() => {
    document.title = `${clean(data.directory.title, 80)} – ${current.title} – Venturi`;
  }, [current]);
  useEffect(() => void requestAnimationFrame(() => performance.mark("venturi:ready")), []);
  useEffect(() => {
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
  useKeys(EVERYWHERE, [
    { keys: ["/"], title: "Search: text, or /regular expression/", run: () => input.current?.focus() },
    ...(data.recording.tracks.length > 0
      ? [{ keys: ["t"], title: "Choose threads", run: () => setDialog("threads") }]
      : []),
    { keys: ["b"], title: "Back to the selection before", run: chooseBack },
    { keys: ["Escape"], title: "Clear the search, then the selection", run: clear },
    { keys: ["c"], title: "Copy the selected name", run: copyName },
    { keys: ["?"], title: "This help", run: () => setDialog("help") },
    ...views.map((one, i) => ({ keys: [String(i + 1)], title: "", run: () => showView(one.id) })),
  ]);
  return (
    <>
      <a class="skip" href="#main" onClick={skipToMain}>
        Skip to the view
      </a>
      <Header data={data} views={views} current={current} input={input} openDialog={setDialog} />
      <SelectionBar data={data} />
      <main id="main" class={`view view-${current.id}`} tabIndex={-1} aria-label={current.title}>
        {missing === null ? (
          <Shown key={current.id} data={data} worker={worker} />
        ) : (
          <Empty>
            <Sentence text={missing} />
          </Empty>
        )}
      </main>
      <Footer data={data} />
      {dialog === "help" && <Help views={views} onClose={() => setDialog(null)} />}
      {dialog === "threads" && <Threads data={data} onClose={() => setDialog(null)} />}
    </>
  );
}

/* The address after # is ours: the link must not change it. */
function skipToMain(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function clear(): void {
  say("");
  if (search.peek()) search.value = "";
  else if (!isEmpty(selection.peek())) chooseNothing();
}

/* Views that do not walk through what is found themselves have a list, whose first is meant. */
function goToMatch(): void {
  whenKnown(() => {
    if (!matcher.peek().isActive || runKey("Enter")) return;
    const first = document.querySelector<HTMLElement>("#main .is-match, #main [data-at='0']");

    first?.focus();
    first?.scrollIntoView({ block: "nearest" });
  });
}

function copyName(): void {
  const name = selection
    .peek()
    .frames.map((key) => key.split("\u0001")[0])
    .join("\n");

  if (!name) return say("Nothing is selected: there is no name to copy.");
  navigator.clipboard?.writeText(name).then(
    () => say(`Copied: ${clean(name, 80)}`),
    () => say("This browser does not let the page copy."),
  );
}

function Header(props: {
  data: PageData;
  views: View[];
  current: View;
  input: { current: HTMLInputElement | null };
  openDialog(dialog: "help" | "threads"): void;
}) {
  const { data, views, current } = props;
  const next = { system: "dark", dark: "light", light: "system" } as const;

  return (
    <header class="header">
      <h1 title={clean(data.recording.command)}>{clean(data.directory.title, 40)}</h1>
      <nav aria-label="Views">
        {views.map((one, i) => (
          <button
            key={one.id}
            type="button"
            class={one.missing(data) === null ? "" : "is-missing"}
            aria-current={one === current ? "page" : undefined}
            title={`${plainSentence(one.missing(data) ?? one.question)} (${i + 1})`}
            onClick={() => showView(one.id)}
          >
            {one.title}
          </button>
        ))}
      </nav>
      <span class="gap" />
      <SearchBox data={data} input={props.input} />
      {data.recording.tracks.length > 0 && (
        <Button onClick={() => props.openDialog("threads")} title="Choose threads (t)">
          Threads
        </Button>
      )}
      <Button onClick={() => chooseTheme(next[themeChoice.value])} title="Light, dark, or as the system">
        Theme: {{ system: "auto", dark: "dark", light: "light" }[themeChoice.value]}
      </Button>
      <Button onClick={() => props.openDialog("help")} title="Keys and views (?)">
        ?
      </Button>
    </header>
  );
}

function SearchBox({ data, input }: { data: PageData; input: { current: HTMLInputElement | null } }) {
  const now = matcher.value;
  const found = useMemo(
    () =>
      now.isActive ? frames(data).list.reduce((sum, frame) => sum + (now.test(frame.name) ? 1 : 0), 0) : 0,
    [now, data],
  );
  const note = now.error
    ? now.error
    : now.isActive && frames(data).list.length > 0
      ? `${formatCount(found)} ${found === 1 ? "name" : "names"}`
      : "";

  return (
    <div class="search" role="search">
      <input
        ref={input}
        type="search"
        aria-label="Search names"
        placeholder="Search  /"
        value={search.value}
        spellcheck={false}
        aria-invalid={now.error !== null}
        aria-describedby="search-note"
        onInput={(event) => (search.value = event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            search.value = "";
            event.currentTarget.blur();
          } else if (event.key === "Enter") {
            event.preventDefault();
            event.currentTarget.blur();
            goToMatch();
          }
        }}
      />
      <span id="search-note" class={now.error ? "search-note is-error" : "search-note"} role="status">
        {note}
      </span>
    </div>
  );
}

function Footer({ data }: { data: PageData }) {
  const { recording, directory } = data;
  const files = directory.files ?? [recording.file];
  const parts = [
    lastPart(files[0] ?? "") + (files.length > 1 ? ` and ${formatCount(files.length - 1)} more` : ""),
    recording.command,
    formatMoment(recording.start_unix_ms),
    formatDuration(recording.duration_ns),
    directory.tool,
  ];

  return (
    <footer class="footer">
      <span class="footer-facts" title={files.map((file) => clean(file, 200)).join("\n")}>
        {parts
          .filter((part) => part && part !== "–" && part !== "0")
          .map((part) => clean(part, 100))
          .join(" · ")}
      </span>
      <span role="status" class="status">
        {status.value}
      </span>
    </footer>
  );
}

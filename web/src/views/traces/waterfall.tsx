/* One trace: what it is, its services, its spans as a tree with bars on one axis, and the details of the chosen one. */

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { column, type PageData } from "../../data/types";
import {
  FAILED,
  findSpan,
  type Service,
  spanId,
  spansOf,
  traceBase,
  traceTables,
  type TraceSpans,
} from "../../model/traces";
import {
  countMarked,
  matchSpans,
  nextMarked,
  openAtFirst,
  openLevels,
  reveal,
  rowOf,
  shownSpans,
  visibleSpans,
} from "../../model/waterfall";
import { readZoom, type Window, writeZoom } from "../../model/zoom";
import { useKeys } from "../../state/keys";
import { option, setOption, textOption } from "../../state/options";
import { matcher } from "../../state/search";
import { search, selection } from "../../state/selection";
import { say } from "../../state/status";
import { formatCount, formatShare } from "../../ui/format";
import { useSize } from "../../ui/use";
import { HIDDEN, hiddenServices, PATH, showTrace, SPAN, ZOOM } from "./address";
import { Details } from "./details";
import { ROW, type Scene } from "./draw";
import { Grid } from "./grid";
import { Head } from "./head";
import { waterfallKeys, windowOf } from "./keys";
import { Legend, servicesIn } from "./legend";

const PATHS = ["on", "off"] as const;

/* A search for an id looks at ids as well: making their text for nothing takes long. */
const IS_ID = /^[0-9a-f-]{8,36}$/i;

/* What the search and the page's selection mean here. */
function useMeant(data: PageData, spans: TraceSpans, services: Service[], trace: number) {
  const now = matcher.value;
  const { frames, range } = selection.value;
  const hiddenText = textOption(HIDDEN);
  const matches = useMemo(() => {
    if (!now.isActive) return null;
    const idOf = IS_ID.test(search.value.trim()) ? (row: number) => spanId(data, row) : null;
    return matchSpans(
      data,
      spans,
      services.map((service) => service.name),
      idOf,
      now,
    );
  }, [data, spans, now]);
  const names = useMemo(() => new Set(frames.map((key) => key.split("\u0001")[0])), [frames]);
  const hidden = useMemo(hiddenServices, [hiddenText]);
  const shown = useMemo(() => {
    const offset = column(data, "traces", "offset")[trace] ?? 0;
    return shownSpans(spans, hidden, range && { from: range.from - offset, to: range.to - offset });
  }, [spans, hidden, range]);

  return {
    matches,
    matchesBefore: useMemo(
      () => matches && countMarked(spans.size, (span) => matches[span] === 1),
      [spans, matches],
    ),
    isChosen: (span: number) => names.size > 0 && names.has(data.strings[spans.name[span]!]),
    hidden,
    shown,
  };
}

/* Which rows there are, which of them has the focus, and how far they are scrolled. */
function useRows(spans: TraceSpans, shown: Uint8Array | null, start: number, hasDetails: boolean) {
  const [open, setOpen] = useState(() => reveal(spans, openAtFirst(spans), start));
  const [cursor, setCursor] = useState(start);
  const [top, setTop] = useState(0);
  const [frame, size] = useSize<HTMLDivElement>();
  const wanted = useRef<"focus" | "show" | null>(start > 0 ? "show" : null);
  const rows = useMemo(() => visibleSpans(spans, open, shown), [spans, open, shown]);
  const at = Math.max(0, rowOf(rows, cursor));
  const inSight = Math.max(1, Math.floor((size.height - ROW) / ROW) - 1);

  /* Details take room away from the row that they are about. */
  useLayoutEffect(() => {
    if (hasDetails) wanted.current ??= "show";
  }, [hasDetails, size.height]);
  /* At once: a focus that comes after the next key would undo its step. */
  useLayoutEffect(() => {
    const element = frame.current;
    if (!wanted.current || !element || element.clientHeight === 0) return;
    const y = at * ROW;
    if (y < element.scrollTop) element.scrollTop = y;
    else if (y + 2 * ROW + 8 > element.scrollTop + element.clientHeight)
      element.scrollTop = y + 2 * ROW + 8 - element.clientHeight + (wanted.current === "show" ? 4 * ROW : 0);
    if (element.scrollTop !== top) return setTop(element.scrollTop);
    if (wanted.current === "focus")
      element.querySelector<HTMLElement>(`[data-at="${at}"]`)?.focus({ preventScroll: true });
    wanted.current = null;
  });
  return {
    open,
    setOpen,
    rows,
    at,
    top,
    setTop,
    frame,
    size,
    inSight,
    setCursor,
    /* The span, with all that is above it open. */
    goTo(span: number, how: "focus" | "show" = "focus") {
      wanted.current = how;
      setOpen((last) => reveal(spans, last, span));
      setCursor(span);
    },
  };
}

export function Waterfall({ data, trace }: { data: PageData; trace: number }) {
  const { services } = traceTables(data);
  const spans = useMemo(() => spansOf(data, trace), [data, trace]);
  const selected = useMemo(() => findSpan(data, spans, textOption(SPAN)), [spans, textOption(SPAN)]);
  const meant = useMeant(data, spans, services, trace);
  const table = useRows(spans, meant.shown, Math.max(0, selected), selected >= 0);
  const { rows, at, open } = table;
  const zoomText = textOption(ZOOM);
  const window = useMemo(() => readZoom(zoomText).window, [zoomText]);
  const hasPath = option(PATH, PATHS) === "on";
  const [time, setTime] = useState({ left: 0, width: 0 });
  const errorsBefore = useMemo(
    () => countMarked(spans.size, (span) => (spans.flags[span]! & FAILED) !== 0),
    [spans],
  );
  const scene: Scene = useMemo(
    () => ({ strings: data.strings, spans, services, rows, window, hasPath, matches: meant.matches }),
    [data, spans, rows, window, hasPath, meant.matches],
  );
  const list = useMemo(() => servicesIn(spans, services), [spans]);
  const hasList = (data.tables["traces"]?.rows ?? 0) > 1;

  const choose = (span: number) => setOption(SPAN, span < 0 ? "" : spanId(data, spans.first + span));
  const setWindow = (next: Window) => setOption(ZOOM, writeZoom({ window: next, depth: 0 }));
  const go = (span: number) => {
    table.goTo(span);
    if (selected >= 0) choose(span);
  };
  const toggle = (span: number) => table.setOpen((last) => last.map((is, i) => (i === span ? 1 - is : is)));
  const setPath = () => setOption(PATH, hasPath ? "off" : "on", "on");
  const showError = (direction: 1 | -1 = 1) => {
    const next = nextMarked(errorsBefore, rows[at] ?? 0, direction);
    if (next < 0) return say("No span failed.");
    table.goTo(next);
    choose(next);
  };
  const setOpened = (how: "one" | "all" | "none") => {
    if (how === "one") toggle(rows[at]!);
    else table.setOpen(how === "all" ? new Uint8Array(spans.size).fill(1) : openLevels(spans, 1));
  };

  /* The address, or a finding, may name another span. */
  useEffect(() => {
    if (selected >= 0 && selected !== rows[at]) table.goTo(selected, "show");
  }, [selected]);
  useKeys(
    "In the waterfall",
    waterfallKeys({
      spans,
      open,
      rows,
      at,
      page: table.inSight,
      window,
      errorsBefore,
      matchesBefore: meant.matchesBefore,
      hasDetails: selected >= 0,
      onRow: (row) => rows.length && go(rows[Math.max(0, Math.min(rows.length - 1, row))]!),
      onGo: go,
      onOpen: setOpened,
      onDetails: (isOpen) => choose(isOpen ? (rows[at] ?? -1) : -1),
      onZoom: setWindow,
      onPath: setPath,
      onList: hasList ? () => showTrace(data, null) : null,
    }),
  );
  return (
    <>
      <Head
        data={data}
        trace={trace}
        scene={scene}
        hasList={hasList}
        hasPath={hasPath}
        time={time}
        inSight={{ first: Math.floor(table.top / ROW), count: table.inSight + 1 }}
        onPath={setPath}
        onOpen={setOpened}
        onError={showError}
      />
      <Legend list={list} services={services} hidden={meant.hidden} />
      {meant.matches && <Found before={meant.matchesBefore!} />}
      <Grid
        data={data}
        scene={scene}
        label={`Spans of trace ${traceBase(data, trace)}`}
        open={open}
        at={at}
        selected={selected}
        frame={table.frame}
        size={table.size}
        top={table.top}
        isChosen={meant.isChosen}
        errorsBefore={errorsBefore}
        matchesBefore={meant.matchesBefore}
        onScroll={table.setTop}
        onFocus={(row) => table.setCursor(rows[row]!)}
        onChoose={(span) => {
          table.setCursor(span);
          choose(span === selected ? -1 : span);
        }}
        onToggle={toggle}
        onZoom={setWindow}
        onTimeSize={(size, left) => setTime({ left, width: size.width })}
      />
      {selected >= 0 && (
        <Details
          data={data}
          trace={trace}
          spans={spans}
          services={services}
          span={selected}
          onGo={go}
          onZoom={() => setWindow(windowOf(spans, selected))}
          onClose={() => choose(-1)}
        />
      )}
    </>
  );
}

function Found({ before }: { before: Uint32Array }) {
  const size = before.length - 1;
  const found = before[size]!;

  return (
    <p class="flame-status traces-found" role="status">
      {formatCount(found)} of {formatCount(size)} {size === 1 ? "span" : "spans"} found (
      {formatShare(found / (size || 1))}){found > 0 && ": Enter goes to the next"}
    </p>
  );
}

/* The timeline: processes, threads, async lanes and counters over one axis of time. */

import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { PageData } from "../../data/types";
import type { Range, WindowReply } from "../../data/work";
import { frames, framesOfKeys } from "../../model/frames";
import { setOption, textOption } from "../../state/options";
import { matcher } from "../../state/search";
import { selection } from "../../state/selection";
import { colours } from "../../state/theme";
import { Canvas } from "../../ui/canvas";
import type { CanvasPointer } from "../../ui/canvas";
import { formatDuration, formatTime } from "../../ui/format";
import { Button, Gap, Toolbar } from "../../ui/parts";
import { clean } from "../../ui/text";
import type { Size } from "../../ui/use";
import { useReply } from "../../ui/use";
import type { View, ViewProps } from "../view";
import { asyncWindow, makeAsyncs } from "./asyncs";
import { Drawer } from "./drawer";
import { drawTimeline, makeInks } from "./draw";
import { extentOf } from "./extent";
import { Minimap } from "./minimap";
import { makeRows } from "./rows";
import type { Row } from "./rows";
import { hitAt } from "./scene";
import type { Hit, Scene } from "./scene";
import { seriesOf } from "./series";
import type { Series } from "../../ui/time/curve";
import { gutterOf } from "../../ui/time/frame";
import { useTime } from "../../ui/time/pointer";
import "./timeline.css";
import { foldedText, HoverText, MatchSum, tableOf } from "./words";
import { useActions } from "./actions";
import { readZoom, withMargin, writeZoom } from "../../ui/time/zoom";

/* Spans narrower than this many pixels are drawn folded. */
const FINEST = 2;
const MINIMAP_PIXELS = 400;
const DEEPEST = 1000;

function hasTable(data: PageData, name: string): boolean {
  return data.directory.tables.some((table) => table.name === name && table.rows > 0);
}

/* How deep each track goes: what the whole run shows, and until that is there what the recording says. */
function depthsOf(data: PageData, reply: WindowReply | undefined): number[] {
  const depths = data.recording.tracks.map((track) => (reply ? 0 : Math.min(track.deepest, DEEPEST)));

  for (let i = 0; reply && i < reply.track.length; i++)
    depths[reply.track[i]!] = Math.max(depths[reply.track[i]!] ?? 0, reply.depth[i]! + 1);
  return depths;
}

function numbersOf(text: string): Set<number> {
  return new Set(text.split(".").filter(Boolean).map(Number));
}

/* Everything that does not change while the picture is panned. */
function useStill(data: PageData, map: WindowReply | undefined) {
  const now = selection.value;
  const all = frames(data);
  const folded = textOption("timeline.folded");
  const opened = textOption("timeline.opened");
  const rows = useMemo(
    () =>
      makeRows(data, {
        tracks: now.tracks,
        depths: depthsOf(data, map),
        folded: numbersOf(folded),
        opened: numbersOf(opened),
      }),
    [data, map, now.tracks, folded, opened],
  );
  const asyncs = useMemo(() => makeAsyncs(data), [data]);
  const series = useMemo(() => new Map<string, Series>(), [data]);
  const chosen = useMemo(() => framesOfKeys(all, now.frames), [all, now.frames]);
  const search = matcher.value;
  const matches = useMemo(
    () =>
      Uint8Array.from(all.list.slice(all.siteBase), (frame) =>
        search.isActive && search.test(frame.name) ? 1 : 0,
      ),
    [all, search],
  );
  const theme = colours.value;
  const inks = useMemo(() => makeInks({ frames: all, data }, theme), [all, data, theme]);
  const ofRow = (row: Row) => {
    const key = `${row.process} ${row.site}`;
    const found = series.get(key) ?? seriesOf(data, row.process, row.site);
    series.set(key, found);
    return found;
  };

  return { all, rows, asyncs, chosen, matches, inks, ofRow };
}

function Timeline({ data, worker }: ViewProps) {
  const whole = useMemo(() => extentOf(data), [data]);
  const hasSpans = hasTable(data, "spans");
  const range = readZoom(textOption("timeline.zoom"), whole);
  const setRange = (next: Range) => setOption("timeline.zoom", writeZoom(next, whole));
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [scroll, setScroll] = useState(0);
  const hover = useSignal<{ hit: Hit; x: number; y: number } | null>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const gutter = gutterOf(size.width);
  const wholeReply = useReply(
    worker,
    "window",
    hasSpans ? { range: whole, pixels: MINIMAP_PIXELS, tracks: null } : null,
  );
  const map = wholeReply.reply;
  const still = useStill(data, map);
  const { rows, all } = still;
  const margin = withMargin(range, whole);
  const inSight = rows.list.filter(
    (row) => row.track >= 0 && row.y + row.height > scroll && row.y < scroll + size.height,
  );
  const pixels = Math.ceil(
    (((size.width - gutter) / FINEST) * (margin.to - margin.from)) / (range.to - range.from),
  );
  const isAsked = hasSpans && size.width > gutter;
  const { reply } = useReply(
    worker,
    "window",
    isAsked ? { range: margin, pixels, tracks: inSight.map((row) => row.track) } : null,
  );
  const now = selection.value;
  const { span } = now;
  const pinned = useReply(
    worker,
    "at",
    span ? { track: span.track, depth: span.depth, time: span.start } : null,
  ).reply;
  const scene: Scene = {
    data,
    frames: all,
    rows,
    asyncs: still.asyncs,
    reply,
    range,
    scroll,
    gutter,
    width: size.width,
    height: size.height,
    seriesOf: still.ofRow,
    isChosen: (site) => still.chosen.has(all.siteBase + site),
    isMatch: (site) => still.matches[site] === 1,
    hasChosen: still.chosen.size > 0,
  };
  const time = useTime({
    frame: scene,
    whole,
    setRange,
    scrollBy: (pixels) => scrollTo(scroll + pixels),
  });
  const actions = useActions({
    scene,
    worker,
    whole,
    setRange,
    time,
    matches: still.matches,
    scrollTo,
    pinned: span ? (pinned ?? null) : null,
  });

  useEffect(() => {
    if (reply) performance.mark("venturi:timeline");
  }, [reply]);

  function scrollTo(top: number): void {
    if (scroller.current) scroller.current.scrollTop = top;
  }
  const asyncsOf = (row: Row) =>
    asyncWindow(still.asyncs, row.process, row.lanes, range, size.width - gutter);
  const onPointer = (pointer: CanvasPointer) => {
    const hit = hitAt(scene, pointer.x, pointer.y, asyncsOf);

    time.onPointer(pointer);
    if (pointer.kind === "leave") hover.value = null;
    if (pointer.kind === "move")
      hover.value = hit && !pointer.isDragged ? { hit, x: pointer.x, y: pointer.y } : null;
    if (pointer.kind === "click" && hit) actions.click(hit, pointer.x < gutter, pointer.isControl);
    if (pointer.kind === "double" && hit) actions.open(hit);
  };
  const shown = time.drag ? { ...now, range: time.drag } : now;

  return (
    <div class="timeline">
      <Toolbar>
        <span>
          {formatTime(range.from)} to {formatTime(range.to)}{" "}
          <span class="muted">({formatDuration(range.to - range.from)})</span>
        </span>
        <span class="muted" role="status">
          {hasSpans && !map && !wholeReply.error ? "Reading spans…" : foldedText(reply)}
        </span>
        {wholeReply.error && (
          <span class="timeline-problem">The spans cannot be shown: {clean(wholeReply.error)}</span>
        )}
        <Gap />
        <MatchSum data={data} matches={still.matches} tracks={now.tracks} />
        <span class="buttons">
          <Button onClick={time.zoomIn} title="Nearer (w)">
            +
          </Button>
          <Button onClick={time.zoomOut} title="Further (s)">
            −
          </Button>
          <Button onClick={time.fit} title="The whole run (0)">
            Fit
          </Button>
        </span>
      </Toolbar>
      <div class="timeline-map">
        <Minimap data={data} reply={map} whole={whole} range={range} gutter={gutter} onRange={setRange} />
      </div>
      <div class="timeline-body">
        <Canvas
          name="timeline"
          title={data.directory.title}
          label={`Timeline from ${formatTime(range.from)} to ${formatTime(range.to)}: ${rows.ofTrack.size} threads`}
          cursor="default"
          onPointer={onPointer}
          onSize={setSize}
          table={() => tableOf(scene, asyncsOf)}
          draw={(pen, _size, theme) => drawTimeline(pen, scene, theme, still.inks, shown)}
        >
          <HoverText hover={hover} scene={scene} />
        </Canvas>
        <div
          class="timeline-scroll"
          ref={scroller}
          role="region"
          aria-label="Scroll the rows"
          tabIndex={0}
          onScroll={(event) => setScroll(event.currentTarget.scrollTop)}
        >
          <div style={{ height: `${rows.height + 48}px` }} />
        </div>
      </div>
      {span && pinned && (
        <Drawer
          data={data}
          span={pinned}
          onZoom={actions.focus}
          onRange={actions.toRange}
          onNext={actions.nextSame}
          onClose={actions.unpin}
        />
      )}
    </div>
  );
}

export const timeline: View = {
  id: "timeline",
  title: "Timeline",
  question: "When did it run, and what ran at the same time?",
  missing: (data) =>
    ["spans", "async", "counters", "marks", "errors"].some((name) => hasTable(data, name))
      ? null
      : hasTable(data, "tasks")
        ? "There is no timeline in this recording: it has no spans, counters or marks. When its tasks ran is under Tasks."
        : "There is no timeline in this recording: it has no spans, counters or marks. Functions are counted, not recorded one by one, unless the program is recorded with `venturi run --timeline`; spans come from trace points in the program.",
  component: Timeline,
};

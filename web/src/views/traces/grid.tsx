/* The rows of a waterfall: a tree of spans with its bars. Only rows in sight are in the document; the bars of all of them are one canvas. */

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { RefObject } from "preact";
import { CRITICAL, detailOf, FAILED, ORPHAN, UNFINISHED } from "../../model/traces";
import type { PageData } from "../../data/types";
import type { Window } from "../../model/zoom";
import { colours } from "../../state/theme";
import { paint } from "../../ui/canvas";
import { css } from "../../ui/colour";
import { formatCount, formatTime } from "../../ui/format";
import { clean } from "../../ui/text";
import { type Size, useSize } from "../../ui/use";
import { useDrag, useWheel } from "./pointer";
import { AXIS, drawAxis, drawBars, INDENT, MOST_INDENTS, ROW, type Scene } from "./draw";

const EXTRA = 8;

export interface GridProps {
  data: PageData;
  scene: Scene;
  label: string;
  open: Uint8Array;
  at: number; // row with the focus
  selected: number; // span; -1: none
  frame: RefObject<HTMLDivElement | null>;
  size: Size; // of the frame
  top: number; // how far it is scrolled
  isChosen(span: number): boolean; // the page's selection means it
  errorsBefore: Uint32Array;
  matchesBefore: Uint32Array | null;
  onScroll(top: number): void;
  onFocus(row: number): void;
  onChoose(span: number): void;
  onToggle(span: number): void;
  onZoom(window: Window): void;
  onTimeSize(size: Size, left: number): void;
}

/* The rows that are drawn: those in sight and a few around them. */
export function rowsDrawn(count: number, top: number, height: number): { first: number; last: number } {
  const first = Math.max(0, Math.floor(top / ROW) - EXTRA);

  return { first, last: Math.max(first, Math.min(count, Math.ceil((top + (height || 600)) / ROW) + EXTRA)) };
}

export function Grid(props: GridProps) {
  const { scene, frame, size } = props;
  const { rows } = scene;
  const [time, timeSize] = useSize<HTMLDivElement>();
  const axis = useRef<HTMLCanvasElement>(null);
  const bars = useRef<HTMLCanvasElement>(null);
  const { first, last } = rowsDrawn(rows.length, props.top, size.height);
  const left = time.current?.offsetLeft ?? 0;
  const theme = colours.value;

  useEffect(() => {
    if (timeSize.width > 0) props.onTimeSize(timeSize, time.current?.offsetLeft ?? 0);
  }, [timeSize.width, left]);
  const paintAll = () => {
    const { width } = timeSize;
    const now = colours.peek();
    paint(axis.current, { width, height: AXIS }, { draw: (pen) => drawAxis(pen, scene, width, now) }, now);
    paint(
      bars.current,
      { width, height: (last - first) * ROW },
      { draw: (pen) => drawBars(pen, scene, first, last, width, now) },
      now,
    );
  };
  useLayoutEffect(paintAll, [scene, first, last, timeSize.width, theme]);
  useEffect(() => {
    /* The paper does not wait for the next render; the theme is the printer's by now. */
    addEventListener("beforeprint", paintAll);
    return () => removeEventListener("beforeprint", paintAll);
  });
  useWheel(frame, time, scene.window, props.onZoom);
  useDrag(axis, scene.window, props.onZoom);

  const list = [];
  for (let row = first; row < last; row++) list.push(<Row key={row} row={row} grid={props} />);
  return (
    <div
      class="waterfall"
      role="treegrid"
      aria-label={props.label}
      aria-rowcount={rows.length + 1}
      aria-colcount={4}
      ref={frame}
      onScroll={(event) => props.onScroll(event.currentTarget.scrollTop)}
    >
      <div role="rowgroup" class="waterfall-head">
        <div role="row" class="waterfall-row" aria-rowindex={1}>
          <div role="columnheader">Span</div>
          <div role="columnheader" class="is-number">
            Duration
          </div>
          <div role="columnheader" class="is-number waterfall-self" title="Without the time of its children">
            Self
          </div>
          <div role="columnheader" class="waterfall-time" aria-label="Time" ref={time}>
            <canvas ref={axis} aria-hidden="true" title="Drag to zoom; w and s zoom, a and d move" />
          </div>
        </div>
      </div>
      <div role="rowgroup" class="waterfall-body" style={{ height: `${rows.length * ROW}px` }}>
        <canvas
          ref={bars}
          aria-hidden="true"
          class="waterfall-bars"
          style={{ top: `${first * ROW}px`, left: `${left}px` }}
        />
        {list}
      </div>
      {rows.length === 0 && <p class="empty">Every span is hidden: choose a service, or clear the time.</p>}
    </div>
  );
}

function Row({ row, grid }: { row: number; grid: GridProps }) {
  const { scene, selected } = grid;
  const { spans } = scene;
  const span = scene.rows[row]!;
  const flags = spans.flags[span]!;
  const isMatch = scene.matches?.[span] === 1;
  const hasChildren = spans.end[span]! > span + 1;
  const isPath = scene.hasPath && (flags & CRITICAL) !== 0;
  const names = [
    "waterfall-row",
    span === selected && "is-selected",
    grid.isChosen(span) && "is-chosen",
    isMatch && "is-match",
    scene.matches && !isMatch && "is-other",
    isPath && "is-path",
  ];

  return (
    <div
      role="row"
      data-at={row}
      aria-rowindex={row + 2}
      aria-level={spans.depth[span]! + 1}
      aria-expanded={hasChildren ? grid.open[span] === 1 : undefined}
      aria-selected={span === selected}
      tabIndex={row === grid.at ? 0 : -1}
      class={names.filter(Boolean).join(" ")}
      style={{ top: `${row * ROW}px` }}
      onFocus={() => grid.onFocus(row)}
      onClick={() => grid.onChoose(span)}
      onDblClick={() => hasChildren && grid.onToggle(span)}
    >
      <NameCell span={span} grid={grid} />
      <div role="gridcell" class="is-number">
        {formatTime(spans.length[span]!)}
      </div>
      <div role="gridcell" class="is-number waterfall-self">
        {formatTime(spans.self[span]!)}
      </div>
      <div role="gridcell" aria-label={`begins at ${formatTime(spans.start[span]!)}`} />
    </div>
  );
}

function NameCell({ span, grid }: { span: number; grid: GridProps }) {
  const { scene } = grid;
  const { spans, services, strings } = scene;
  const depth = spans.depth[span]!;
  const service = services[spans.service[span]!];
  const parent = spans.parent[span]!;
  const hasChildren = spans.end[span]! > span + 1;
  const name = clean(strings[spans.name[span]!] ?? "") || "(no name)";
  const detail = clean(detailOf(grid.data, spans.first + span), 200);
  /* Where the work enters another service. */
  const isEntry = parent < 0 || spans.service[parent] !== spans.service[span];

  return (
    <div
      role="rowheader"
      class="waterfall-name"
      title={[name, detail, clean(service?.name ?? "", 80)].filter(Boolean).join(" – ")}
    >
      <span
        class="waterfall-indent"
        aria-hidden="true"
        ref={(element) => element?.style.setProperty("width", `${Math.min(depth, MOST_INDENTS) * INDENT}px`)}
      />
      {depth > MOST_INDENTS && <span class="muted">+{depth - MOST_INDENTS}</span>}
      <span
        class={hasChildren ? "waterfall-twist" : "waterfall-twist is-leaf"}
        aria-hidden="true"
        onClick={(event) => {
          if (!hasChildren) return;
          event.stopPropagation();
          grid.onToggle(span);
        }}
      >
        {hasChildren ? (grid.open[span] ? "▾" : "▸") : ""}
      </span>
      <span
        class="swatch"
        aria-hidden="true"
        ref={(element) => element?.style.setProperty("background", service ? css(service.colour) : "")}
      />
      <Marks span={span} grid={grid} />
      <span class="cell-text">{name}</span>
      {detail && <span class="waterfall-more">{detail}</span>}
      {isEntry && service?.name && (
        <span class="waterfall-more waterfall-service">{clean(service.name, 40)}</span>
      )}
    </div>
  );
}

const MARKS: [number, string, string, string][] = [
  [FAILED, "✕", "failed", "trace-failed"],
  [UNFINISHED, "…", "has not ended", "muted"],
  [ORPHAN, "?", "its parent is not in these files", "muted"],
];

/* What is wrong with the span, and what a closed one has inside. */
function Marks({ span, grid }: { span: number; grid: GridProps }) {
  const { spans } = grid.scene;
  const end = spans.end[span]!;
  const isClosed = end > span + 1 && !grid.open[span];
  const inside = (before: Uint32Array | null) => (before && isClosed ? before[end]! - before[span + 1]! : 0);
  const errors = inside(grid.errorsBefore);
  const found = inside(grid.matchesBefore);

  return (
    <>
      {MARKS.map(
        ([flag, sign, text, name]) =>
          (spans.flags[span]! & flag) !== 0 && (
            <span key={flag} class={`waterfall-mark ${name}`} role="img" aria-label={text} title={text}>
              {sign}
            </span>
          ),
      )}
      {isClosed && (
        <span class="waterfall-count" title={`${formatCount(end - span - 1)} spans inside`}>
          {formatCount(end - span - 1)}
        </span>
      )}
      {errors > 0 && (
        <span class="waterfall-count trace-failed" title={`${formatCount(errors)} failed inside`}>
          ✕ {formatCount(errors)}
        </span>
      )}
      {found > 0 && (
        <span class="waterfall-count is-found" title={`${formatCount(found)} inside match`}>
          {formatCount(found)} found
        </span>
      )}
    </>
  );
}

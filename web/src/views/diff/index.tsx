/* What changed from one run to another: a table of differences, the new run's flame graph coloured by them, and a lane of paths that are gone. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { column, type PageData } from "../../data/types";
import { change, diffRows, type DiffRow, diffTrees, MEASURES, signOf } from "../../model/diff";
import type { Forest } from "../../model/forest";
import { forestTree } from "../../model/tree";
import { NO_ZOOM, readZoom, writeZoom, type Zoom } from "../../model/zoom";
import { chooseFrame } from "../../state/choose";
import { option, setOption, textOption } from "../../state/options";
import { matcher } from "../../state/search";
import { selection } from "../../state/selection";
import { css, diffColour } from "../../ui/colour";
import { frameText } from "../../ui/flame/describe";
import { Flame } from "../../ui/flame/flame";
import type { Look } from "../../ui/flame/look";
import { Button, Choice, Gap, Toolbar } from "../../ui/parts";
import { clean } from "../../ui/text";
import type { View, ViewProps } from "../view";
import { DiffTable } from "./table";
import { changeText, sideText, spelled, summary } from "./words";
import "./diff.css";

const SHOWN = ["table", "flame"] as const;
const ROWS = ["changed", "all"] as const;
const COLUMNS = [
  "name",
  "file",
  "base total ns",
  "total ns",
  "base self ns",
  "self ns",
  "base calls",
  "calls",
];

function DiffView({ data }: ViewProps) {
  const rows = useMemo(() => diffRows(data), [data]);
  const shown = option("diff.show", SHOWN);
  const measure = option("diff.as", MEASURES);
  const hasAll = option("diff.rows", ROWS) === "all";
  const notes = data.directory.notes;
  const quantities = notes.filter((note) => note.kind === "quantity");
  const noise = notes.filter((note) => note.kind === "noise");
  const doubts = notes.filter((note) => !quantities.includes(note) && !noise.includes(note));
  const hasPaths = (data.tables.diff_calls?.rows ?? 0) > 0;

  return (
    <>
      <div class="diff-summary">
        {summary(data, rows).map((line, i) => (
          <p key={i} class={i === 0 ? "diff-verdict" : ""}>
            {line}
          </p>
        ))}
        {quantities.map((note, i) => (
          <p key={i}>{spelled(clean(note.text))}</p>
        ))}
        {doubts.map((note, i) => (
          <p key={i} class="diff-doubt">
            <span aria-hidden="true">⚠ </span>
            {clean(note.text)}
          </p>
        ))}
        {noise.map((note, i) => (
          <p key={i} class="muted">
            {clean(note.text)}
          </p>
        ))}
      </div>
      <Toolbar>
        {hasPaths && (
          <Choice
            label="Shown as"
            options={SHOWN.map((value) => ({ value, title: value }))}
            value={shown}
            onChange={(value) => setOption("diff.show", value, SHOWN[0])}
          />
        )}
        {(shown === "table" || !hasPaths) && (
          <Choice
            label="Times"
            options={[
              { value: "absolute", title: "absolute" },
              { value: "call", title: "per call", hint: "Times divided by the calls of their side" },
              { value: "share", title: "percent", hint: "Of all self time of their side" },
            ]}
            value={measure}
            onChange={(value) => setOption("diff.as", value, MEASURES[0])}
          />
        )}
        {(shown === "table" || !hasPaths) && (
          <Button
            isPressed={hasAll}
            title="Also what is called as often as before and whose time changed by less than 0.1 % of the run"
            onClick={() => setOption("diff.rows", hasAll ? "changed" : "all", ROWS[0])}
          >
            show all
          </Button>
        )}
        <Gap />
        {shown === "flame" && hasPaths && <Legend />}
      </Toolbar>
      {shown === "flame" && hasPaths ? (
        <DiffFlames data={data} rows={rows} />
      ) : (
        <DiffTable data={data} rows={rows} measure={measure} hasAll={hasAll} />
      )}
    </>
  );
}

function Legend() {
  const entries = [
    { text: "▼ gone or much shorter", at: -1 },
    { text: "= as before", at: 0 },
    { text: "▲ new or much longer", at: 1 },
  ];

  return (
    <ul class="flame-legend" aria-label="Colours">
      {entries.map(({ text, at }) => (
        <li key={text}>
          <span class="swatch" aria-hidden="true" style={{ background: css(diffColour(at)) }} />
          {text}
        </li>
      ))}
    </ul>
  );
}

/* The new run on top; below it, as wide as they were, the paths that only the base had. */
function DiffFlames({ data, rows }: { data: PageData; rows: DiffRow[] }) {
  const trees = useMemo(() => diffTrees(data, rows.length), [data, rows]);
  const zoomText = textOption("diff.zoom");
  const zoom = useMemo(() => readZoom(zoomText), [zoomText]);
  const [goneZoom, setGoneZoom] = useState<Zoom>(NO_ZOOM);
  const hasGone = trees.gone.size > 1;

  useEffect(() => setGoneZoom(NO_ZOOM), [trees]);
  return (
    <>
      <DiffFlame
        {...{ data, rows, forest: trees.now, zoom }}
        name="diff"
        label="The new run; colours say what changed"
        rowOf={(node) => node - 1}
        onZoom={(next) => setOption("diff.zoom", writeZoom(next))}
      />
      {hasGone && (
        <DiffFlame
          {...{ data, rows, forest: trees.gone, zoom: goneZoom }}
          name="diff-gone"
          label="Paths that only the base had"
          height={160}
          rowOf={(node) => (node > 0 ? trees.goneRow[node]! : -1)}
          onZoom={setGoneZoom}
        />
      )}
    </>
  );
}

interface DiffFlameProps {
  data: PageData;
  rows: DiffRow[];
  forest: Forest;
  name: string;
  label: string;
  height?: number;
  zoom: Zoom;
  rowOf(node: number): number; // of diff_calls; -1: the root
  onZoom(zoom: Zoom): void;
}

function DiffFlame(props: DiffFlameProps) {
  const { data, rows, forest, rowOf } = props;
  const tree = useMemo(() => forestTree(forest, "time", "heavy"), [forest]);
  const of = (name: string) => column(data, "diff_calls", name);
  const sides = (node: number) => {
    const row = rowOf(node);
    const side = (prefix: string) => ({
      self: of(`${prefix}self`)[row] ?? 0,
      total: of(`${prefix}total`)[row] ?? 0,
      calls: of(`${prefix}calls`)[row] ?? 0,
    });
    return { base: side("base_"), now: side("") };
  };
  const frameAt = (node: number) => rows[tree.frame(node)]?.frame;
  const list = useMemo(() => rows.map((row) => row.frame), [rows]);
  const { isActive, test } = matcher.value;
  const isMatch = (node: number) => {
    const frame = frameAt(node);
    return frame !== undefined && (test(frame.name) || test(frame.file));
  };
  const look: Look = {
    text: (node) => frameText(list, forest, tree.frame(node)),
    colour(node) {
      const { base, now } = sides(node);
      return diffColour(change(base.total, now.total));
    },
    isPlain: (node) => node === 0,
    sign(node) {
      const { base, now } = sides(node);
      const sign = signOf(base.total, now.total);
      return node === 0 || sign === "=" ? "" : `${sign} `;
    },
    isMatch: isActive ? isMatch : null,
    isChosen: (node) => selection.value.frames.includes(frameAt(node)?.key ?? ""),
  };
  const describe = (node: number) => {
    const { base, now } = sides(node);
    if (node === 0) return [look.text(0)];
    return [
      look.text(node),
      changeText(base.total, now.total),
      `now ${sideText(now)}`,
      `before ${sideText(base)}`,
    ];
  };
  const cells = (node: number) => {
    const { base, now } = sides(node);
    const times = [base.total, now.total, base.self, now.self, base.calls, now.calls];
    return [look.text(node), clean(frameAt(node)?.file ?? ""), ...times];
  };

  return (
    <Flame
      name={props.name}
      title={data.directory.title}
      label={props.label}
      tree={tree}
      look={look}
      shape="rows"
      isUpward={false}
      isMain={props.height === undefined}
      height={props.height}
      zoom={props.zoom}
      onZoom={props.onZoom}
      onChoose={(node, isAdded) => {
        const frame = frameAt(node);
        if (frame) chooseFrame(frame.key, isAdded);
      }}
      describe={describe}
      columns={COLUMNS}
      cells={cells}
    />
  );
}

export const diff: View = {
  id: "diff",
  title: "Diff",
  question: "What changed from one run to the other?",
  missing: (data) =>
    data.directory.kind === "diff"
      ? null
      : "This page shows one recording: `venturi diff A B -o page.html` compares two.",
  component: DiffView,
};

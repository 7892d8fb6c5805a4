/* Which path took the time: one tree as flame graph, icicle or sunburst; in the order of appearance, the heaviest first, or from the callees
 * to their callers. */

import { useMemo } from "preact/hooks";
import type { PageData } from "../../data/types";
import { bottomUpTree } from "../../model/bundle";
import { frames, framesOfKeys, matchFrames } from "../../model/frames";
import { type Kind, kindsOf, whyNoPaths } from "../../model/source";
import { sumMarked } from "../../model/sums";
import { forestTree } from "../../model/tree";
import { readZoom, writeZoom } from "../../model/zoom";
import { chooseFrame } from "../../state/choose";
import { option, setOption, textOption } from "../../state/options";
import { matcher } from "../../state/search";
import { selection } from "../../state/selection";
import { CELL_COLUMNS, cellsOf, describeNode, frameText } from "../../ui/flame/describe";
import { Flame } from "../../ui/flame/flame";
import type { Look } from "../../ui/flame/look";
import { useForest } from "../../ui/flame/use-forest";
import { formatShare } from "../../ui/format";
import { About, Choice, Empty, Gap, Toolbar, WholeRun } from "../../ui/parts";
import type { View, ViewProps } from "../view";
import { COLOURINGS, colourOf, Legend, legendOf } from "./colours";

const MODES = ["heavy", "time", "up"] as const;
const SHAPES = ["icicle", "flame", "sunburst"] as const;
const WEIGHTS = ["time", "count"] as const;
const THREADS = ["apart", "merged"] as const;
const LABELS: Record<Kind, string> = { functions: "Calls", spans: "Spans", traces: "Spans of all traces" };
const RECURSION = ["as is", "folded"] as const;

function set(name: string, value: string, usual: string): void {
  setOption(`flame.${name}`, value, usual);
  if (name !== "shape" && name !== "colour") setOption("flame.zoom", "");
}

function FlameView({ data, worker }: ViewProps) {
  const kind = option<Kind>("flame.of", kindsOf(data));
  const mode = option("flame.mode", MODES);
  const shape = option("flame.shape", SHAPES);
  const weight = option("flame.width", WEIGHTS);
  const coloring = option("flame.colour", COLOURINGS);
  const isMerged = option("flame.threads", THREADS) === "merged";
  const isFolded = option("flame.recursion", RECURSION) === "folded";
  const zoomText = textOption("flame.zoom");
  const all = frames(data);
  const { forest, isWholeRun, isPending, isAbout, error } = useForest(data, worker, {
    kind,
    isMerged,
    isFolded,
  });
  const tree = useMemo(
    () => (mode === "up" ? bottomUpTree(forest, weight) : forestTree(forest, weight, mode)),
    [forest, mode, weight],
  );
  const found = useMemo(() => matchFrames(all, matcher.value), [all, matcher.value]);
  const sum = useMemo(() => (matcher.value.isActive ? sumMarked(forest, found) : null), [forest, found]);
  const chosen = useMemo(() => framesOfKeys(all, selection.value.frames), [all, selection.value.frames]);
  const colour = useMemo(() => colourOf(coloring, data, tree), [coloring, data, tree]);
  const legend = useMemo(() => legendOf(coloring, data, forest), [coloring, data, forest]);
  const zoom = useMemo(() => readZoom(zoomText), [zoomText]);
  const words = {
    list: all.list,
    forest,
    tree,
    weight,
    isBottomUp: mode === "up",
    what: mode === "up" ? "self" : "total",
  };
  const look: Look = {
    text: (node) => frameText(all.list, forest, tree.frame(node)),
    colour,
    isPlain: (node) => tree.frame(node) >= forest.frameCount,
    isMatch: matcher.value.isActive ? (node) => found[tree.frame(node)] === 1 : null,
    isChosen: (node) => chosen.has(tree.frame(node)),
  };
  const choose = (node: number, isAdded: boolean) => {
    const frame = all.list[tree.frame(node)];
    if (frame) chooseFrame(frame.key, isAdded);
  };

  if (error) return <Empty>{error}</Empty>;
  return (
    <>
      <Controls data={data} />
      {sum && (
        <p class="flame-status" role="status">
          {sum.nodes.toLocaleString("en-US")} places match: {formatShare(sum.total / (forest.total[0] || 1))}{" "}
          of the time, what they call included
        </p>
      )}
      {forest.size <= 1 && !isPending && (
        <Empty>The selection leaves nothing here: clear the range or the threads.</Empty>
      )}
      <Flame
        name={shape}
        title={data.directory.title}
        label={`${LABELS[kind]} as ${shape === "icicle" ? "an icicle" : `a ${shape}`} graph`}
        tree={tree}
        look={look}
        shape={shape === "sunburst" ? "rings" : "rows"}
        isUpward={shape === "flame"}
        isMain={true}
        zoom={zoom}
        onZoom={(next) => setOption("flame.zoom", writeZoom(next))}
        onChoose={choose}
        describe={(node) => describeNode(words, node)}
        columns={CELL_COLUMNS}
        cells={(node) => cellsOf(words, node)}
      />
      <div class="flame-foot">
        <Legend coloring={coloring} entries={legend} />
        <Gap />
        {isWholeRun && <WholeRun />}
        {isAbout && <About />}
        {isPending && <span class="muted">counting…</span>}
      </div>
    </>
  );
}

/* Spans with names of their own, not calls one by one: those go by module. */
function hasSpans(data: PageData): boolean {
  return frames(data).list.some((frame) => frame.language === "span");
}

function Controls({ data }: { data: PageData }) {
  const kinds = kindsOf(data);
  const kind = option<Kind>("flame.of", kinds);

  return (
    <Toolbar>
      {kinds.length > 1 && (
        <Choice
          label="What is shown"
          options={kinds.map((value) => ({ value, title: value }))}
          value={kind}
          onChange={(value) => set("of", value, kinds[0]!)}
        />
      )}
      <Choice
        label="Order"
        options={[
          { value: "heavy", title: "left-heavy", hint: "Callees by their time, the longest on the left" },
          {
            value: "time",
            title: "by appearance",
            hint: "Callees in the order in which they first appeared",
          },
          { value: "up", title: "bottom-up", hint: "Functions by their self time, then who called them" },
        ]}
        value={option("flame.mode", MODES)}
        onChange={(value) => set("mode", value, MODES[0])}
      />
      <Choice
        label="Shape"
        options={SHAPES.map((value) => ({ value, title: value }))}
        value={option("flame.shape", SHAPES)}
        onChange={(value) => set("shape", value, SHAPES[0])}
      />
      <Choice
        label="Width"
        options={[
          { value: "time", title: "time", hint: "As wide as the time within" },
          { value: "count", title: "calls", hint: "As wide as the calls of it and below it" },
        ]}
        value={option("flame.width", WEIGHTS)}
        onChange={(value) => set("width", value, WEIGHTS[0])}
      />
      <Choice
        label="Colour"
        options={[
          { value: "module", title: kind !== "functions" && hasSpans(data) ? "name" : "module" },
          { value: "language", title: "language" },
          { value: "self", title: "self share", hint: "How much of a node's time is not in what it called" },
        ]}
        value={option("flame.colour", COLOURINGS)}
        onChange={(value) => set("colour", value, COLOURINGS[0])}
      />
      {kind !== "traces" && (
        <Toggle
          name="threads"
          values={THREADS}
          title="merge threads"
          hint="One tree for all threads and processes"
        />
      )}
      <Toggle
        name="recursion"
        values={RECURSION}
        title="fold recursion"
        hint="A function called within itself joins its outermost call"
      />
    </Toolbar>
  );
}

function Toggle(props: { name: string; values: readonly [string, string]; title: string; hint: string }) {
  const [usual, other] = props.values;
  const isOn = option(`flame.${props.name}`, props.values) === other;

  return (
    <button
      type="button"
      class="button"
      title={props.hint}
      aria-pressed={isOn}
      onClick={() => set(props.name, isOn ? usual : other, usual)}
    >
      {props.title}
    </button>
  );
}

export const flame: View = {
  id: "flame",
  title: "Flame",
  question: "Which path took the time?",
  missing: whyNoPaths,
  component: FlameView,
};

/* Who calls a function, and what does it call: callers above, callees below, and beside them the direct ones in numbers. */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { PageData } from "../../data/types";
import { calleesTree, callersTree } from "../../model/bundle";
import type { Forest } from "../../model/forest";
import { type Frames, frames, framesOfKeys, matchFrames, placeOf } from "../../model/frames";
import { palette } from "../../model/palette";
import { asyncSites } from "../../model/overlap";
import { type Kind, kindsOf, whyNoPaths } from "../../model/source";
import { type FrameSums, type Neighbour, neighboursOf, sumByFrame } from "../../model/sums";
import type { Tree } from "../../model/tree";
import { NO_ZOOM, type Zoom } from "../../model/zoom";
import { chooseFrame } from "../../state/choose";
import { matcher } from "../../state/search";
import { selection } from "../../state/selection";
import { CELL_COLUMNS, cellsOf, describeNode, frameText } from "../../ui/flame/describe";
import { Flame } from "../../ui/flame/flame";
import type { Look } from "../../ui/flame/look";
import { useForest } from "../../ui/flame/use-forest";
import { formatCount, formatShare, formatTime } from "../../ui/format";
import { About, Empty, Gap, Toolbar, WholeRun } from "../../ui/parts";
import { clean } from "../../ui/text";
import type { View, ViewProps } from "../view";
import { Neighbours } from "./neighbours";
import "./sandwich.css";

const MOST_LISTED = 300;

/* The chosen frame that has time, of functions rather than of spans; without one the function with the most self time. */
function kindOf(data: PageData, all: Frames): Kind {
  const kinds = kindsOf(data);
  const chosen = [...framesOfKeys(all, selection.value.frames)];
  const isFunction = chosen.some((frame) => frame < all.functions);
  const wanted: Kind[] = chosen.length === 0 || isFunction ? ["functions"] : spanKinds(data, chosen, all);
  return wanted.find((kind) => kinds.includes(kind)) ?? kinds[0]!;
}

/* Spans that are async are in traces only. */
function spanKinds(data: PageData, chosen: number[], all: Frames): Kind[] {
  const isAsync = asyncSites(data);
  return chosen.every((frame) => isAsync[frame - all.siteBase] === 1)
    ? ["traces", "spans"]
    : ["spans", "traces"];
}

function frameOf(all: Frames, sums: FrameSums): number {
  for (const frame of framesOfKeys(all, selection.value.frames)) if (sums.total[frame]! > 0) return frame;
  let most = -1;
  sums.self.forEach((self, frame) => {
    if (sums.total[frame]! > 0 && (most < 0 || self > sums.self[most]!)) most = frame;
  });
  return most;
}

function SandwichView({ data, worker }: ViewProps) {
  const all = frames(data);
  const kind = kindOf(data, all);
  const { forest, isWholeRun, isAbout, error } = useForest(data, worker, {
    kind,
    isMerged: false,
    isFolded: false,
  });
  const sums = useMemo(() => sumByFrame(forest), [forest]);
  const frame = frameOf(all, sums);
  const around = useMemo(() => (frame < 0 ? null : neighboursOf(forest, frame)), [forest, frame]);
  const up = useMemo(() => (frame < 0 ? null : callersTree(forest, frame, "time")), [forest, frame]);
  const down = useMemo(() => (frame < 0 ? null : calleesTree(forest, frame, "time")), [forest, frame]);

  if (error) return <Empty>{error}</Empty>;
  if (!around || !up || !down)
    return <Empty>The selection leaves no calls: clear the range or the threads.</Empty>;
  const whole = forest.total[0] || 1;
  const nameOf = (index: number) => frameText(all.list, forest, index);
  const choose = (index: number) => {
    const chosen = all.list[index];
    if (chosen) chooseFrame(chosen.key);
  };
  const callers = asPeople(around.callers, forest);
  const common = { data, all, forest, frame };
  return (
    <>
      <Toolbar>
        <Chooser all={all} sums={sums} frame={frame} onChoose={choose} />
        <span class="sandwich-numbers">
          total <b>{formatTime(around.total)}</b> ({formatShare(around.total / whole)}), self{" "}
          <b>{formatTime(around.self)}</b>, <b>{formatCount(around.count)}</b>{" "}
          {around.count === 1 ? "call" : "calls"}
        </span>
        <span class="muted">{clean(placeOf(all.list[frame]!))}</span>
        <Gap />
        {isWholeRun && <WholeRun />}
        {isAbout && <About />}
      </Toolbar>
      <div class="sandwich">
        <div class="sandwich-half">
          <Half
            {...common}
            tree={up}
            name="callers"
            label={`Callers of ${nameOf(frame)}`}
            isUpward={true}
            onChoose={choose}
          />
          <Neighbours
            data={data}
            title="Called by"
            list={callers}
            whole={around.total}
            frame={frame}
            nameOf={nameOf}
            onChoose={choose}
          />
        </div>
        <div class="sandwich-half">
          <Half
            {...common}
            tree={down}
            name="callees"
            label={`What ${nameOf(frame)} calls`}
            isUpward={false}
            onChoose={choose}
          />
          <Neighbours
            data={data}
            title="Calls"
            list={around.callees}
            whole={around.total}
            frame={frame}
            nameOf={nameOf}
            onChoose={choose}
          />
        </div>
      </div>
    </>
  );
}

/* A process or thread that starts a function is no caller: all of them are one row, "nobody". */
function asPeople(list: Neighbour[], forest: Forest): Neighbour[] {
  const calls = list.filter(({ frame }) => frame < forest.frameCount);
  const starts = list.filter(({ frame }) => frame >= forest.frameCount);
  if (starts.length === 0) return calls;
  const sum = (of: (one: Neighbour) => number) => starts.reduce((total, one) => total + of(one), 0);
  return [...calls, { frame: -1, count: sum((one) => one.count), total: sum((one) => one.total) }];
}

function Chooser(props: { all: Frames; sums: FrameSums; frame: number; onChoose(frame: number): void }) {
  const { all, sums, frame } = props;
  const listed = useMemo(() => {
    const used = all.list.map((_, index) => index).filter((index) => sums.total[index]! > 0);
    return used.sort((a, b) => sums.total[b]! - sums.total[a]!).slice(0, MOST_LISTED);
  }, [all, sums]);
  const options = listed.includes(frame) ? listed : [frame, ...listed];

  return (
    <label class="sandwich-chooser">
      <span class="muted">Function</span>
      <select value={String(frame)} onChange={(event) => props.onChoose(Number(event.currentTarget.value))}>
        {options.map((index) => (
          <option key={index} value={String(index)}>
            {clean(all.list[index]!.name, 60)} {clean(placeOf(all.list[index]!), 40)}
          </option>
        ))}
      </select>
    </label>
  );
}

interface HalfProps {
  data: PageData;
  all: Frames;
  forest: Forest;
  frame: number;
  tree: Tree;
  name: string;
  label: string;
  isUpward: boolean;
  onChoose(frame: number): void;
}

function Half(props: HalfProps) {
  const { all, forest, tree } = props;
  const [zoom, setZoom] = useState<Zoom>(NO_ZOOM);
  const found = useMemo(() => matchFrames(all, matcher.value), [all, matcher.value]);
  const words = {
    list: all.list,
    forest,
    tree,
    weight: "time" as const,
    isBottomUp: props.isUpward,
    what: props.isUpward ? `time in ${frameText(all.list, forest, props.frame)}` : "total",
  };
  const look: Look = {
    text: (node) => frameText(all.list, forest, tree.frame(node)),
    colour: (node) => palette(props.data).colourOf(tree.frame(node)),
    isPlain: (node) => tree.frame(node) >= forest.frameCount,
    isMatch: matcher.value.isActive ? (node) => found[tree.frame(node)] === 1 : null,
    isChosen: (node) => node === 0,
  };
  useEffect(() => setZoom(NO_ZOOM), [tree]);

  return (
    <Flame
      name={props.name}
      title={props.data.directory.title}
      label={props.label}
      tree={tree}
      look={look}
      shape="rows"
      isUpward={props.isUpward}
      isMain={false}
      zoom={zoom}
      onZoom={setZoom}
      onChoose={(node) => props.onChoose(tree.frame(node))}
      describe={(node) => describeNode(words, node)}
      columns={CELL_COLUMNS}
      cells={(node) => cellsOf(words, node)}
    />
  );
}

export const sandwich: View = {
  id: "sandwich",
  title: "Sandwich",
  question: "Who calls this function, and what does it call?",
  missing: whyNoPaths,
  component: SandwichView,
};

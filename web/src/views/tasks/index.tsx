/* Task graphs: which task ran when and on which worker, what it waited for, and what takes the run so long. */

import { useMemo, useRef, useState } from "preact/hooks";
import { column, type PageData } from "../../data/types";
import type { Range } from "../../data/work";
import { longestRun, nameRows, pathSteps } from "../../model/task-sums";
import { makeStream, streamLanes } from "../../model/task-stream";
import { taskKey, taskName, tasksOf } from "../../model/tasks";
import { showView } from "../../state/choose";
import { setOption, textOption } from "../../state/options";
import { type Matcher, matcher } from "../../state/search";
import { selection } from "../../state/selection";
import { colours } from "../../state/theme";
import { formatCount, formatShare } from "../../ui/format";
import { Button, Choice, Empty, Gap, Toolbar } from "../../ui/parts";
import { AXIS, gutterOf } from "../../ui/time/frame";
import { useTime } from "../../ui/time/pointer";
import { readZoom, writeZoom } from "../../ui/time/zoom";
import { useSize } from "../../ui/use";
import type { View, ViewProps } from "../view";
import { useActions } from "./actions";
import {
  extentOf,
  hasCurves,
  panelShown,
  type PanelName,
  runShown,
  showCurves,
  showPanel,
  showRun,
  taskShown,
  ZOOM,
} from "./address";
import { Curves } from "./curves";
import { makeInks } from "./draw";
import { Problems, RunChooser, Summary } from "./head";
import { chosenNames, Legend } from "./legend";
import { Names } from "./names";
import { Path } from "./path";
import type { Scene } from "./scene";
import { StreamPicture } from "./stream";
import { Task } from "./task";
import "./tasks.css";
import { Workers } from "./workers";

const LEAST_HEIGHT = 120;
const STREAM_PART = 0.38; // of the view, at most
const STREAM_PART_CURVES = 0.28; // with curves below

const PANEL_TITLES: { value: PanelName; title: string; hint: string }[] = [
  { value: "names", title: "Names", hint: "Figures by name (n)" },
  { value: "path", title: "Critical path", hint: "The chain of tasks that takes the longest (p)" },
  { value: "workers", title: "Workers", hint: "What they did, and why they were idle (i)" },
  { value: "task", title: "Task", hint: "The selected task, and what it has to do with others (o)" },
];

/* By key or name; one byte a task. */
function matchTasks(data: PageData, search: Matcher): Uint8Array | null {
  const tasks = tasksOf(data);

  if (!search.isActive) return null;
  const names = tasks.names.map((name) => search.test(name.text));
  return Uint8Array.from({ length: tasks.size }, (_, i) =>
    names[tasks.name[i]!] || search.test(taskKey(data, i)) ? 1 : 0,
  );
}

/* Everything that does not change while the picture is moved. */
function useStill(data: PageData, run: number) {
  const tasks = tasksOf(data);
  const search = matcher.value;
  const theme = colours.value;
  const { range, frames } = selection.value;
  const stream = useMemo(() => makeStream(tasks, run), [tasks, run]);
  const matches = useMemo(() => matchTasks(data, search), [data, search]);
  const lanes = useMemo(() => streamLanes(tasks, stream, matches), [tasks, stream, matches]);
  const pathRun = run < 0 ? longestRun(tasks.runs) : tasks.runs[run];
  const steps = useMemo(() => (pathRun ? pathSteps(tasks, pathRun) : []), [tasks, pathRun]);
  const isChosen = useMemo(() => {
    const names = chosenNames();
    return names && ((task: number) => names.has(taskName(tasks, task)));
  }, [tasks, frames]);

  return {
    tasks,
    stream,
    matches,
    lanes,
    pathRun,
    steps,
    isChosen,
    path: useMemo(() => steps.map((step) => step.task), [steps]),
    whole: useMemo(() => extentOf(data, run), [data, run]),
    inkOf: useMemo(() => makeInks(tasks, theme), [tasks, theme]),
    names: useMemo(() => nameRows(data, run, range), [data, run, range]),
    allNames: useMemo(() => nameRows(data, run, null), [data, run]),
  };
}

function TasksView(props: ViewProps) {
  if (tasksOf(props.data).size === 0)
    return <Empty>Task graphs ran, but none of their tasks was recorded.</Empty>;
  return <Graphs {...props} />;
}

function Graphs({ data }: ViewProps) {
  const tasks = tasksOf(data);
  const run = runShown(tasks);
  const still = useStill(data, run);
  const { stream, whole, matches } = still;
  const selected = taskShown(tasks, run);
  const panel = panelShown();
  const [frame, view] = useSize<HTMLDivElement>();
  const [width, setWidth] = useState(0);
  const [scroll, setScroll] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);
  const range = readZoom(textOption(ZOOM), whole);
  const setRange = (next: Range) => setOption(ZOOM, writeZoom(next, whole));
  const scrollTo = (top: number) => {
    if (scroller.current) scroller.current.scrollTop = top;
  };
  const most = Math.max(
    LEAST_HEIGHT,
    Math.round(view.height * (hasCurves() ? STREAM_PART_CURVES : STREAM_PART)),
  );
  const scene: Scene = {
    data,
    tasks,
    stream,
    lanes: still.lanes,
    range,
    scroll,
    selected,
    isPath: panel === "path",
    isChosen: still.isChosen,
    inkOf: still.inkOf,
    gutter: gutterOf(width),
    width,
    height: Math.min(most, stream.height + AXIS),
  };
  const time = useTime({ frame: scene, whole, setRange, scrollBy: (by) => scrollTo(scroll + by) });
  const actions = useActions({ scene, whole, matches, time, setRange, scrollTo });
  const failed = still.allNames.reduce((sum, row) => sum + row.failed, 0);

  return (
    <div class="tasks" ref={frame}>
      <Toolbar>
        <RunChooser tasks={tasks} run={run} />
        <Summary data={data} run={run} rows={stream.rows.filter((row) => row.workers.length).length} />
        <Problems data={data} run={run} />
        <Gap />
        <Found data={data} matches={matches} run={run} />
        <span class="buttons">
          <Button isPressed={hasCurves()} onClick={() => showCurves(!hasCurves())} title="Curves below (u)">
            Curves
          </Button>
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
      <Legend data={data} rows={still.allNames} failed={failed} onFailed={() => actions.nextFailed()} />
      <StreamPicture
        scene={scene}
        path={still.path}
        whole={whole}
        time={time}
        actions={actions}
        scroller={scroller}
        setRange={setRange}
        onScroll={setScroll}
        onSize={(size) => setWidth(size.width)}
      />
      {hasCurves() && <Curves data={data} run={run} frame={scene} whole={whole} time={time} />}
      <section class="tasks-panel" aria-label="Figures">
        <Toolbar>
          <Choice label="Below the stream" options={PANEL_TITLES} value={panel} onChange={showPanel} />
          {panel === "names" && selection.value.range && (
            <span class="muted">tasks that begin in the selected time</span>
          )}
        </Toolbar>
        {panel === "names" && <Names data={data} rows={still.names} />}
        {panel === "path" && still.pathRun && (
          <Path
            data={data}
            run={still.pathRun}
            steps={still.steps}
            isOneOfMany={run < 0}
            selected={selected}
            onShow={actions.show}
          />
        )}
        {panel === "workers" && <Workers data={data} list={stream.rows} />}
        {panel === "task" && <Task data={data} task={selected} actions={actions} />}
      </section>
    </div>
  );
}

/* How many tasks the search has found, and how much of the time they are. */
function Found({ data, matches, run }: { data: PageData; matches: Uint8Array | null; run: number }) {
  const tasks = tasksOf(data);
  let count = 0;
  let found = 0;
  let all = 0;

  if (!matches) return null;
  for (let i = 0; i < tasks.size; i++) {
    if (run >= 0 && tasks.run[i] !== run) continue;
    const length = tasks.end[i]! - tasks.start[i]! || 0;
    all += length;
    if (!matches[i]) continue;
    count++;
    found += length;
  }
  return (
    <span class="timeline-found" role="status" title="Of the time in tasks. Enter: the next one">
      {formatCount(count)} {count === 1 ? "task" : "tasks"} found
      {all > 0 && `: ${formatShare(found / all)}`}
    </span>
  );
}

/* For findings of other views: a row of task_runs. */
export function goToRun(data: PageData, run: number): void {
  showRun(column(data, "task_runs", "begin").length > 1 ? run : -1);
  showView(tasks.id);
}

export const tasks: View = {
  id: "tasks",
  title: "Tasks",
  question: "Which task ran when and where, and what did it wait for?",
  missing: (data) =>
    data.tables["task_runs"]?.rows
      ? null
      : "No task graph ran: tasks come from venturi-graph, `venturi.dask.get` and `venturi.dask.record`.",
  isOffered: (data) => (data.tables["task_runs"]?.rows ?? 0) > 0,
  component: TasksView,
};

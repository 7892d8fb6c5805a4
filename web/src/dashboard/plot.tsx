/* One plot of values of the past and of now. All plots and pictures show the same piece of time and have one crosshair; a drag stops them
 * at a piece of it. */

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { colours } from "../state/theme";
import { axisLook, fromZero, Legend, seriesLook } from "../ui/plot";
import { useSize } from "../ui/use";
import { clockStep, clockText, S } from "./data/clock";
import { isMoving, lastOf, type SeriesName } from "./data/history";
import { drawn, history, look, origin, range } from "./state";
import { known } from "./words";

export interface PlotCurve {
  name: SeriesName;
  title: string;
  isDashed?: boolean;
  isFilled?: boolean;
}

export interface PlotProps {
  heading: string;
  curves: PlotCurve[];
  format(value: number): string;
}

const HEIGHT = 120;
const LEFT = 82; /* of the values … */
const RIGHT = 12; /* … and nothing */
const HALF_LABEL = 32; /* of "12:34:56.7" */
const sync = uPlot.sync("venturi");

/* Seconds since 1970: what uPlot counts in. */
const secondsOf = (time: number) => origin() / 1000 + time / S;

function dataOf(curves: PlotCurve[]): uPlot.AlignedData {
  return [history.times.map((ms) => ms / 1000), ...curves.map((curve) => history.series[curve.name])];
}

function optionsOf(props: PlotProps, width: number): uPlot.Options {
  const axis = axisLook(colours.value);

  return {
    width,
    height: HEIGHT,
    padding: [8, RIGHT, 0, 0],
    legend: { show: false },
    cursor: { sync: { key: sync.key }, drag: { x: true, y: false, setScale: false } },
    scales: { x: { time: false, auto: false }, y: { range: fromZero } },
    axes: [
      {
        ...axis,
        size: 28,
        splits: (_self, _axis, min, max) => ticksOf(min, max, width),
        values: (self, ticks) =>
          ticks.map((at) =>
            isCut(at, self.scales.x!.min!, self.scales.x!.max!, width)
              ? ""
              : clockText(at * 1000, (ticks[1]! - ticks[0]! || 1) * S),
          ),
      },
      {
        ...axis,
        size: LEFT,
        space: 24,
        values: (_self, ticks) => ticks.map((at) => props.format(at)),
      },
    ],
    series: [{}, ...props.curves.map((curve, i) => seriesLook(curve, i, false))],
    hooks: {
      setSelect: [
        (self) => {
          if (self.select.width < 4) return;
          const at = (x: number) => (self.posToVal(x, "x") - origin() / 1000) * S;
          const piece = { from: at(self.select.left), to: at(self.select.left + self.select.width) };
          self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          look({ from: Math.max(0, piece.from), to: piece.to });
        },
      ],
    },
  };
}

/* Whether a time below the right end of the axis would be cut by the edge of the picture. */
export function isCut(at: number, min: number, max: number, width: number): boolean {
  const pixels = ((max - at) / (max - min)) * (width - LEFT - RIGHT);

  return pixels + RIGHT < HALF_LABEL;
}

/* At whole times of the reader's clock. */
function ticksOf(min: number, max: number, width: number): number[] {
  const step = clockStep((max - min) * S, Math.max(2, (width - LEFT - RIGHT) / 90)) / S;
  const zone = new Date(min * 1000).getTimezoneOffset() * 60;
  const list: number[] = [];

  for (let n = Math.ceil((min - zone) / step); n * step + zone <= max && list.length < 100; n++)
    list.push(n * step + zone);
  return list;
}

export function Plot(props: PlotProps) {
  const [frame, size] = useSize<HTMLDivElement>();
  const plot = useRef<uPlot | null>(null);
  const theme = colours.value;
  const key = props.curves.map((curve) => curve.name).join();
  const now = props.curves.map((curve) => known(lastOf(history, curve.name), props.format));

  useEffect(() => {
    if (!frame.current || size.width <= 0) return;
    const made = new uPlot(optionsOf(props, size.width), dataOf(props.curves), frame.current);
    plot.current = made;
    return () => {
      made.destroy();
      plot.current = null;
    };
  }, [key, size.width, theme]);
  useEffect(() => {
    const { from, to } = range.value;
    if (!plot.current) return;
    plot.current.batch(() => {
      plot.current!.setData(dataOf(props.curves), false);
      plot.current!.setScale("x", { min: secondsOf(from), max: secondsOf(to) });
    });
  }, [drawn.value, range.value, key, size.width, theme]);
  return (
    <div class="chart" role="group" aria-label={props.heading}>
      <div class="chart-head">
        <h3>{props.heading}</h3>
        <Legend curves={props.curves} valueOf={(i) => <strong>{now[i]}</strong>} />
      </div>
      <div
        class="chart-frame"
        ref={frame}
        role="img"
        aria-label={`${props.heading}: ${props.curves.map((curve, i) => `${curve.title} ${now[i]}`).join(", ")}`}
      />
    </div>
  );
}

/* Those of which something is known; those that may be nothing all the time only once they are not. */
export function curvesOf(list: (PlotCurve & { isRare?: boolean })[]): PlotCurve[] {
  return list.filter((curve) =>
    curve.isRare ? isMoving(history, curve.name) : history.series[curve.name].some((value) => value !== null),
  );
}

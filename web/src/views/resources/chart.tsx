/* One plot of curves over time: uPlot on the screen, the same curves as SVG and CSV. A drag selects a range of time for all views. */

import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { chooseRange } from "../../state/choose";
import { selection } from "../../state/selection";
import { colours } from "../../state/theme";
import { nthColour } from "../../ui/colour";
import { formatTick, tickStep } from "../../ui/format";
import { Button } from "../../ui/parts";
import { svgPen } from "../../ui/pen";
import { axisLook, colourOf, type Curve, fromZero, Legend, POWERS, seriesLook } from "../../ui/plot";
import { fileName, saveCanvas, saveText, toCsv } from "../../ui/save";
import { useSize } from "../../ui/use";

export interface ChartProps {
  name: string; // in file names
  title: string; // of the recording, in file names
  heading: string;
  seconds: number[];
  curves: Curve[];
  format(value: number): string;
  extent: [number, number]; // seconds
  isBytes?: boolean; // ticks at powers of two
}

const HEIGHT = 150;
const MOST_ROWS = 200;
const NS = 1e9;
const sync = uPlot.sync("venturi");

export function Chart(props: ChartProps) {
  const [frame, size] = useSize<HTMLDivElement>();
  const plot = useRef<uPlot | null>(null);
  const [isTable, showTable] = useState(false);
  const theme = colours.value;
  const range = selection.value.range;

  useEffect(() => {
    if (!frame.current || size.width <= 0) return;
    const made = new uPlot(optionsOf(props, size.width, theme), dataOf(props), frame.current);
    plot.current = made;
    return () => {
      made.destroy();
      plot.current = null;
    };
  }, [props.seconds, props.curves, size.width, theme]);
  useEffect(() => {
    const [min, max] = range ? [range.from / NS, range.to / NS] : props.extent;
    plot.current?.setScale("x", { min, max });
  });
  return (
    <section class="chart" aria-label={props.heading}>
      <div class="chart-head">
        <h3>{props.heading}</h3>
        <Legend curves={props.curves} />
        <div class="save" role="group" aria-label={`Save or read: ${props.heading}`}>
          <Button title="Save as SVG" onClick={() => saveSvg(props, size.width)}>
            SVG
          </Button>
          <Button title="Save as PNG" onClick={() => savePng(props, plot.current)}>
            PNG
          </Button>
          <Button
            title="Save the readings as CSV"
            onClick={() => saveText(fileName(props.title, props.name, "csv"), "text/csv", csvOf(props))}
          >
            CSV
          </Button>
          <Button
            title="Show the readings as a table"
            isPressed={isTable}
            onClick={() => showTable(!isTable)}
          >
            Table
          </Button>
        </div>
      </div>
      <div class="chart-frame" ref={frame} role="img" aria-label={describe(props)} />
      {isTable && <Readings {...props} />}
    </section>
  );
}

function dataOf(props: ChartProps): uPlot.AlignedData {
  return [props.seconds, ...props.curves.map((curve) => curve.values)];
}

function optionsOf(props: ChartProps, width: number, theme: typeof colours.value): uPlot.Options {
  const axis = axisLook(theme);

  return {
    width,
    height: HEIGHT,
    padding: [8, 32, 0, 0], // half of a tick's text may stand beyond the last tick
    legend: { show: false },
    cursor: { sync: { key: sync.key }, drag: { x: true, y: false, setScale: false } },
    scales: { x: { time: false }, y: { range: fromZero } },
    axes: [
      {
        ...axis,
        size: 32,
        values: (_self, ticks) => ticks.map((at) => formatTick(at * NS, stepOf(ticks) * NS)),
      },
      {
        ...axis,
        size: 80,
        space: 28,
        ...(props.isBytes ? { incrs: POWERS } : {}),
        values: (_self, ticks) => ticks.map((at) => props.format(at)),
      },
    ],
    series: [{}, ...props.curves.map((curve, i) => seriesLook(curve, i, props.seconds.length < 3))],
    hooks: {
      setSelect: [
        (self) => {
          if (self.select.width < 4) return;
          const from = self.posToVal(self.select.left, "x") * NS;
          const to = self.posToVal(self.select.left + self.select.width, "x") * NS;
          self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          chooseRange({ from: Math.max(0, from), to });
        },
      ],
    },
  };
}

function stepOf(ticks: number[]): number {
  return ticks.length > 1 ? ticks[1]! - ticks[0]! : 1;
}

function peakOf(values: (number | null)[]): number {
  return values.reduce<number>((most, value) => (value !== null && value > most ? value : most), 0);
}

function describe(props: ChartProps): string {
  const peaks = props.curves.map((curve) => `${curve.title} at most ${props.format(peakOf(curve.values))}`);

  return `${props.heading}: ${peaks.join(", ")}`;
}

function csvOf(props: ChartProps): string {
  return toCsv(
    ["seconds", ...props.curves.map((curve) => curve.title)],
    props.seconds.map((at, i) => [at, ...props.curves.map((curve) => curve.values[i] ?? "")]),
  );
}

function savePng(props: ChartProps, plot: uPlot | null): void {
  const canvas = plot?.root.querySelector("canvas");

  if (canvas) saveCanvas(fileName(props.title, props.name, "png"), canvas);
}

function saveSvg(props: ChartProps, width: number): void {
  const theme = colours.value;
  const pen = svgPen(width, HEIGHT, describe(props));
  const [left, bottom] = [76, 24];
  const [from, to] = props.extent;
  const top = Math.max(...props.curves.map((curve) => peakOf(curve.values))) * 1.1 || 1;
  const x = (at: number) => left + ((at - from) / (to - from || 1)) * (width - left - 8);
  const y = (value: number) => HEIGHT - bottom - (value / top) * (HEIGHT - bottom - 8);
  const step = tickStep(to - from, 6);

  pen.rect(0, 0, width, HEIGHT, theme.surface);
  for (const value of [0, top / 2, top / 1.1])
    pen.text(left - 6, y(value), props.format(value), theme.muted, { align: "right" });
  for (let at = Math.ceil(from / step) * step; at <= to; at += step)
    pen.text(x(at), HEIGHT - 10, formatTick(at * NS, step * NS), theme.muted, { align: "center" });
  props.curves.forEach((curve, i) => {
    let points: number[] = [];
    const flush = () => {
      if (points.length > 2) pen.line(points, nthColour(colourOf(i)), 1.5);
      points = [];
    };
    curve.values.forEach((value, at) =>
      value === null ? flush() : points.push(x(props.seconds[at]!), y(value)),
    );
    flush();
  });
  saveText(fileName(props.title, props.name, "svg"), "image/svg+xml", pen.finish());
}

function Readings(props: ChartProps) {
  const left = props.seconds.length - MOST_ROWS;

  return (
    <div class="picture-table" tabIndex={0} role="region" aria-label={`Table: ${props.heading}`}>
      <table>
        <caption>{props.heading}</caption>
        <thead>
          <tr>
            <th scope="col">Seconds</th>
            {props.curves.map((curve) => (
              <th key={curve.title} scope="col">
                {curve.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.seconds.slice(0, MOST_ROWS).map((at, i) => (
            <tr key={i}>
              <td>{at.toFixed(3)}</td>
              {props.curves.map((curve) => (
                <td key={curve.title}>{curve.values[i] === null ? "–" : props.format(curve.values[i]!)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {left > 0 && <p class="muted">and {left} more: save them as CSV</p>}
    </div>
  );
}

/* What plots of curves look alike in: uPlot's options that do not depend on where the values come from, and the names of the curves. */

import type { ComponentChildren } from "preact";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Colours } from "../state/theme";
import { css, nthColour } from "./colour";
import "./plot.css";

export interface Curve {
  title: string;
  values: (number | null)[];
  isFilled?: boolean;
  isDashed?: boolean;
}

/* Ticks of bytes. */
export const POWERS = Array.from({ length: 50 }, (_, power) => 2 ** power);

/* The strong blue first, then orange. */
export function colourOf(curve: number): number {
  return [4, 5, 2, 3][curve % 4]!;
}

export function Legend(props: {
  curves: readonly Pick<Curve, "title" | "isDashed">[];
  valueOf?(curve: number): ComponentChildren;
}) {
  return (
    <ul class="chart-legend">
      {props.curves.map((curve, i) => (
        <li key={curve.title}>
          <span
            class={curve.isDashed ? "chart-key is-dashed" : "chart-key"}
            aria-hidden="true"
            ref={(element) => element?.style.setProperty("border-color", css(nthColour(colourOf(i))))}
          />
          {curve.title} {props.valueOf?.(i)}
        </li>
      ))}
    </ul>
  );
}

export function axisLook(theme: Colours): uPlot.Axis {
  return {
    stroke: theme.muted,
    grid: { stroke: theme.line, width: 1 },
    ticks: { stroke: theme.line, width: 1 },
  };
}

export const fromZero: uPlot.Range.Function = (_self, _min, max) => [0, max > 0 ? max * 1.1 : 1];

export function seriesLook(curve: Omit<Curve, "values">, i: number, hasPoints: boolean): uPlot.Series {
  const colour = css(nthColour(colourOf(i)));

  return {
    label: curve.title,
    stroke: colour,
    width: 1.5,
    points: { show: hasPoints },
    ...(curve.isFilled ? { fill: colour.replace("rgb", "rgba").replace(")", ",0.18)") } : {}),
    ...(curve.isDashed ? { dash: [4, 3] } : {}),
  };
}

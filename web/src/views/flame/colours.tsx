/* What the colours of a flame graph say, and the legend for it. */

import type { Forest } from "../../model/forest";
import type { Frame } from "../../model/frames";
import type { Tree } from "../../model/tree";
import { categoryColour, css, frameColour, magnitudeColour, type Rgb } from "../../ui/colour";
import { clean } from "../../ui/text";

export const COLOURINGS = ["module", "language", "self"] as const;
export type Colouring = (typeof COLOURINGS)[number];

export function colourOf(coloring: Colouring, list: readonly Frame[], tree: Tree): (node: number) => Rgb {
  const known: Rgb[] = []; // by frame
  return (node) => {
    const index = tree.frame(node);
    const frame = list[index];
    if (!frame) return [128, 128, 128];
    if (coloring === "self") return magnitudeColour(tree.self(node) / Math.max(tree.total(node), 1e-9));
    if (coloring === "language") return (known[index] ??= categoryColour(frame.language));
    return (known[index] ??= frameColour(frame.module, frame.name));
  };
}

const LANGUAGES: Record<string, string> = {
  python: "Python",
  builtin: "built-in",
  c: "C",
  span: "spans",
  "": "unknown",
};

export interface LegendEntry {
  text: string;
  colour: Rgb;
}

const MOST_NAMES = 2;

/* Modules or languages by their own time, the largest first. */
export function legendOf(coloring: Colouring, list: readonly Frame[], forest: Forest): LegendEntry[] {
  if (coloring === "self")
    return [0, 0.25, 0.5, 0.75, 1].map((share) => ({
      text: `${share * 100} %`,
      colour: magnitudeColour(share),
    }));
  const times = new Map<string, number>();
  for (let node = 1; node < forest.size; node++) {
    const frame = list[forest.frame[node]!];
    const group = frame && (coloring === "language" ? frame.language : frame.module);
    if (group !== undefined) times.set(group, (times.get(group) ?? 0) + forest.self[node]!);
  }
  const groups = [...times].sort((a, b) => b[1] - a[1]).map(([group]) => group);
  return joinedByColour(
    groups.map((group) => ({
      text: coloring === "language" ? (LANGUAGES[group] ?? group) : group,
      colour: categoryColour(group),
    })),
  );
}

/* There are fewer colours than modules: those that share one share an entry, which names the first few. */
function joinedByColour(entries: LegendEntry[]): LegendEntry[] {
  const joined = new Map<Rgb, string[]>();
  for (const { text, colour } of entries) joined.set(colour, [...(joined.get(colour) ?? []), text]);
  return [...joined].map(([colour, texts]) => ({
    text:
      texts.slice(0, MOST_NAMES).join(", ") +
      (texts.length > MOST_NAMES ? `, +${texts.length - MOST_NAMES}` : ""),
    colour,
  }));
}

export function Legend({ coloring, entries }: { coloring: Colouring; entries: LegendEntry[] }) {
  return (
    <ul class="flame-legend" aria-label="Colours">
      {coloring === "self" && <li>own share of the time:</li>}
      {entries.map(({ text, colour }) => (
        <li key={text}>
          <span class="swatch" aria-hidden="true" style={{ background: css(colour) }} />
          {clean(text, 60)}
        </li>
      ))}
    </ul>
  );
}

/* What the colours of a flame graph say, and the legend for it. */

import type { Forest } from "../../model/forest";
import type { PageData } from "../../data/types";
import { frames } from "../../model/frames";
import { type Group, palette } from "../../model/palette";
import type { Tree } from "../../model/tree";
import { categoryColour, css, faded, magnitudeColour, type Rgb } from "../../ui/colour";
import { clean } from "../../ui/text";

export const COLOURINGS = ["module", "language", "self"] as const;
export type Colouring = (typeof COLOURINGS)[number];

export function colourOf(coloring: Colouring, data: PageData, tree: Tree): (node: number) => Rgb {
  const { list } = frames(data);
  const { colourOf: ofFrame } = palette(data);
  const known: Rgb[] = []; // by frame

  return (node) => {
    const index = tree.frame(node);
    const frame = list[index];
    if (!frame) return [128, 128, 128];
    if (coloring === "self") return magnitudeColour(tree.self(node) / Math.max(tree.total(node), 1e-9));
    if (coloring === "language") return (known[index] ??= categoryColour(frame.language));
    return (known[index] ??= ofFrame(index));
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

/* Modules, spans or languages by their self time, the largest first; those without a colour of their own are one entry at the end. */
export function legendOf(coloring: Colouring, data: PageData, forest: Forest): LegendEntry[] {
  if (coloring === "self")
    return [0, 0.25, 0.5, 0.75, 1].map((share) => ({
      text: `${share * 100} %`,
      colour: magnitudeColour(share),
    }));
  const { list } = frames(data);
  const { groupOf } = palette(data);
  const languages = new Map<string, Group>();
  const languageOf = (language: string) => {
    const text = LANGUAGES[language] ?? language;
    const group = languages.get(language) ?? { text, colour: categoryColour(language), isNamed: true };
    languages.set(language, group);
    return group;
  };
  const times = new Map<Group, number>();
  for (let node = 1; node < forest.size; node++) {
    const index = forest.frame[node]!;
    const frame = list[index];
    if (!frame) continue;
    const group = coloring === "language" ? languageOf(frame.language) : groupOf(index);
    times.set(group, (times.get(group) ?? 0) + forest.self[node]!);
  }
  const groups = [...times].sort((a, b) => b[1] - a[1]).map(([group]) => group);
  const others = groups.filter((group) => !group.isNamed).length;
  return [
    ...groups.filter((group) => group.isNamed),
    ...(others > 0 ? [{ text: `${others} ${others === 1 ? "other" : "others"}`, colour: OTHERS }] : []),
  ];
}

const OTHERS = faded([0x9a, 0xa2, 0xae]);

export function Legend({ coloring, entries }: { coloring: Colouring; entries: LegendEntry[] }) {
  return (
    <ul class="flame-legend" aria-label="Colours">
      {coloring === "self" && <li>self, as a share of the time:</li>}
      {entries.map(({ text, colour }) => (
        <li key={text}>
          <span class="swatch" aria-hidden="true" style={{ background: css(colour) }} />
          {clean(text, 60)}
        </li>
      ))}
    </ul>
  );
}

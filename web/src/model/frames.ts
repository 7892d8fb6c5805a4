/* One list of everything that has a name and takes time: functions (rows of `functions`), then sites (rows of `sites`). Trees, tables and
 * colours speak of frames by their place in this list. */

import { column, type PageData } from "../data/types";
import type { Matcher } from "../state/search";
import { frameKey } from "../state/selection";

export interface Frame {
  name: string;
  file: string;
  line: number;
  language: string; // "python", "builtin", "c", "span", "" unknown
  module: string; // what colours go by: the file without its folder, or what stands for one
  key: string; // in the selection: frameKey()
}

export interface Frames {
  list: Frame[];
  functions: number; // how many; the frame of function i is i …
  siteBase: number; // … and of site i is siteBase + i
  byKey: Map<string, number[]>;
}

/* A site of this type is a function: see docs/page.md. */
const SITE_FUNCTION = 4;

export function moduleOf(file: string, language: string): string {
  if (file === "" || file === "~") return language === "builtin" ? "built-in" : language || "unknown";
  const parts = file.split(/[\\/]/).filter((part) => part !== "");
  const last = parts[parts.length - 1] ?? file;
  const isPackage = last === "__init__.py" || last === "__main__.py";
  return isPackage && parts.length > 1 ? `${parts[parts.length - 2] ?? ""}/${last}` : last;
}

export function nameOfSpan(name: string | undefined): string {
  return name || "(no name)";
}

export function makeFrame(name: string, file: string, line: number, language: string): Frame {
  return {
    name: nameOfSpan(name),
    file,
    line,
    language,
    module: moduleOf(file, language),
    key: frameKey(name, file, line),
  };
}

export function makeFrames(list: Frame[], functions = list.length): Frames {
  const byKey = new Map<string, number[]>();
  list.forEach((frame, index) => {
    const same = byKey.get(frame.key);
    if (same) same.push(index);
    else byKey.set(frame.key, [index]);
  });
  return { list, functions, siteBase: functions, byKey };
}

function framesOf(data: PageData): Frames {
  const texts = data.strings;
  const list: Frame[] = [];
  const read = (table: string, language: (row: number) => string) => {
    const name = column(data, table, "name");
    const file = column(data, table, "file");
    const line = column(data, table, "line");
    for (let row = 0; row < name.length; row++)
      list.push(
        makeFrame(texts[name[row] ?? 0] ?? "", texts[file[row] ?? 0] ?? "", line[row] ?? 0, language(row)),
      );
  };
  const language = column(data, "functions", "language");
  read("functions", (row) => texts[language[row] ?? 0] ?? "");
  const functions = list.length;
  const type = column(data, "sites", "type");
  read("sites", (row) => (type[row] === SITE_FUNCTION ? "" : "span"));
  if (data.directory.kind === "report") addTraceNames(data, list);
  return makeFrames(list, functions);
}

/* Names in traces that no site has, as where too many spans were left out. */
function addTraceNames(data: PageData, list: Frame[]): void {
  const names = new Set(list.filter(({ language }) => language === "span").map(({ name }) => name));
  for (const text of new Set(column(data, "trace_spans", "name"))) {
    const frame = makeFrame(data.strings[text] ?? "", "", 0, "span");
    if (names.has(frame.name)) continue;
    names.add(frame.name);
    list.push(frame);
  }
}

const known = new WeakMap<PageData, Frames>();

/* The frames of a page, made once. */
export function frames(data: PageData): Frames {
  let found = known.get(data);
  if (!found) known.set(data, (found = framesOf(data)));
  return found;
}

/* The frames that the selection's keys mean. */
export function framesOfKeys(all: Frames, keys: readonly string[]): Set<number> {
  const chosen = new Set<number>();
  for (const key of keys) for (const index of all.byKey.get(key) ?? []) chosen.add(index);
  return chosen;
}

/* "file:line" for people, without folders; "" if there is none. */
export function placeOf(frame: Frame): string {
  if (frame.file === "" || frame.file === "~") return "";
  const last = frame.file.split(/[\\/]/).pop() ?? frame.file;
  return frame.line > 0 ? `${last}:${frame.line}` : last;
}

/* One byte for each frame: 1 where its name, or its file, is what is searched for. */
export function matchFrames(all: Frames, matcher: Matcher): Uint8Array {
  const found = new Uint8Array(all.list.length);
  if (!matcher.isActive) return found;
  all.list.forEach((frame, index) => {
    if (matcher.test(frame.name) || matcher.test(frame.file)) found[index] = 1;
  });
  return found;
}

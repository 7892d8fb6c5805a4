/* Pages without the tool: encodes tables as docs/page.md says. Tests decode what this encodes; make_page.mjs writes whole pages. */

import { gzipSync } from "node:zlib";
import type {
  BlockEntry,
  ColumnEntry,
  ColumnType,
  Directory,
  Recording,
  TableEntry,
} from "../src/data/types";

export const BLOCK_ROWS = 262_144;

export interface FixtureColumn {
  name: string;
  type: ColumnType;
  delta?: boolean;
  values: ArrayLike<number>;
}

export interface FixtureTable {
  name: string;
  columns: FixtureColumn[];
}

export interface Fixture {
  directory: Directory;
  blocks: Uint8Array[]; // gzipped
}

/* Numbers of texts, the same for equal ones. */
export function makeTexts() {
  const list = [""];
  const known = new Map([["", 0]]);

  return {
    list,
    of(text: string): number {
      let number = known.get(text);
      if (number === undefined) known.set(text, (number = list.push(text) - 1));
      return number;
    },
  };
}

export type Texts = ReturnType<typeof makeTexts>;

/* What is stored of each row: the value, or the zigzag-coded difference to the row before. */
function storedOf(column: FixtureColumn, first: number, rows: number): Float64Array {
  const stored = new Float64Array(rows);
  let before = 0;

  for (let i = 0; i < rows; i++) {
    const value = column.values[first + i]!;
    const difference = value - before;
    stored[i] = !column.delta ? value : difference >= 0 ? difference * 2 : -difference * 2 - 1;
    before = value;
  }
  return stored;
}

function planesOf(column: FixtureColumn, first: number, rows: number): Uint8Array[] {
  const stored = storedOf(column, first, rows);
  const planes: Uint8Array[] = [];

  if (column.type === "f64") {
    const bytes = new Uint8Array(stored.buffer);
    if (bytes.every((byte) => byte === 0)) return [];
    for (let plane = 0; plane < 8; plane++)
      planes.push(Uint8Array.from({ length: rows }, (_, i) => bytes[i * 8 + plane]!));
    return planes;
  }
  let most = stored.reduce((a, b) => Math.max(a, b), 0);
  for (let scale = 1; most >= 1; scale *= 256, most = Math.floor(most / 256)) {
    const plane = new Uint8Array(rows);
    for (let i = 0; i < rows; i++) plane[i] = Math.floor(stored[i]! / scale) % 256;
    planes.push(plane);
  }
  return planes;
}

function joined(parts: Uint8Array[]): Uint8Array {
  const result = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;

  for (const part of parts) {
    result.set(part, at);
    at += part.length;
  }
  return result;
}

function encodeStrings(list: string[]): Uint8Array {
  const texts = list.map((text) => new TextEncoder().encode(text));
  const lengths = new DataView(new ArrayBuffer(texts.length * 4));

  texts.forEach((text, i) => lengths.setUint32(i * 4, text.length, true));
  return joined([new Uint8Array(lengths.buffer), ...texts]);
}

export function encodeTable(table: FixtureTable, blocks: Uint8Array[], blockRows = BLOCK_ROWS): TableEntry {
  const rows = table.columns[0]?.values.length ?? 0;
  const entries: BlockEntry[] = [];

  for (let first = 0; first < rows; first += blockRows) {
    const here = Math.min(blockRows, rows - first);
    const planes = table.columns.map((column) => planesOf(column, first, here));
    const block = blocks.push(gzipSync(joined(planes.flat()), { level: 6 })) - 1;
    entries.push({ block, rows: here, widths: planes.map((one) => one.length) });
  }
  const columns = table.columns.map(({ name, type, delta }): ColumnEntry =>
    delta ? { name, type, delta } : { name, type },
  );
  return { name: table.name, rows, columns, blocks: entries };
}

/* An empty recording: what every fixture starts from. */
export function emptyRecording(): Recording {
  return {
    file: "empty.vt",
    command: "true",
    directory: "/home/me",
    writer: "venturi 0.5.0",
    policy: "drop-newest",
    start_unix_ms: 1_790_000_000_000,
    duration_ns: 0,
    is_closed: true,
    events: 0,
    spans: 0,
    lost_events: 0,
    overhead_ns: 0,
    overhead_share: 0,
    clock: { type: "tsc", ticks_per_ns: 2.9 },
    mode: { functions: "none", timeline: false, lines: false, resources_hz: 0 },
    hosts: [{ name: "box", os: "Linux 6.1", cpu: "x86_64", cpus: 8, offset_ns: 0, error_ns: 0 }],
    processes: [],
    tracks: [],
    losses: [],
    damage: [],
  };
}

export function encodePage(
  recording: Recording,
  texts: Texts,
  tables: FixtureTable[],
  more: Partial<Directory> = {},
  blockRows = BLOCK_ROWS,
): Fixture {
  const blocks: Uint8Array[] = [];
  const entries = tables.filter((table) => (table.columns[0]?.values.length ?? 0) > 0);
  const encoded = entries.map((table) => encodeTable(table, blocks, blockRows));
  const strings = { count: texts.list.length, block: blocks.push(gzipSync(encodeStrings(texts.list))) - 1 };
  const directory: Directory = {
    page: 1,
    kind: "report",
    tool: "venturi 0.5.0",
    title: recording.file,
    recordings: [recording],
    strings,
    tables: encoded,
    findings: [],
    notes: [],
    ...more,
  };

  return { directory, blocks };
}

/* The elements that stand in place of the data line. */
export function encodeHtml(fixture: Fixture, shell: string): string {
  const escape = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const json = JSON.stringify(fixture.directory).replace(/[<>&\u2028\u2029]/g, escape);
  const elements = fixture.blocks.map(
    (block, i) =>
      `<script type="application/octet-stream" id="venturi-block-${i}">${Buffer.from(block).toString("base64")}</script>`,
  );

  elements.push(`<script type="application/json" id="venturi-directory">${json}</script>`);
  return shell.replace("<!--venturi:data-->", () => elements.join("\n"));
}

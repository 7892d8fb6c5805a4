/* Blocks of a page become columns: base64 and gzip are somebody else's, this undoes byte planes, differences and zigzag. Pure. A page
 * whose directory does not fit its blocks is an error with a sentence, never a picture of something else. */

import type { BlockEntry, Column, ColumnEntry, Table, TableEntry } from "./types";

const MOST_ROWS = 200_000_000;
const HIGH = 2 ** 32;

/* An array that holds every value of the column; differences add up to anything. */
function allocate(entry: TableEntry, index: number): Column {
  const column = entry.columns[index]!;
  const width = entry.blocks.reduce((most, block) => Math.max(most, block.widths[index] ?? 0), 0);

  if (column.type === "f64" || column.delta || width > 4) return new Float64Array(entry.rows);
  if (width > 2) return new Uint32Array(entry.rows);
  return width > 1 ? new Uint16Array(entry.rows) : new Uint8Array(entry.rows);
}

function check(entry: TableEntry): void {
  const rows = entry.blocks.reduce((sum, block) => sum + block.rows, 0);
  const isFit = (block: BlockEntry) =>
    block.widths.length === entry.columns.length &&
    block.widths.every((width) => Number.isInteger(width) && width >= 0 && width <= 8);

  if (!(entry.rows >= 0 && entry.rows <= MOST_ROWS))
    throw new Error(`table ${entry.name}: ${entry.rows} rows`);
  if (rows !== entry.rows)
    throw new Error(`table ${entry.name}: its blocks have ${rows} rows, not ${entry.rows}`);
  if (!entry.blocks.every(isFit)) throw new Error(`table ${entry.name}: widths that do not fit its columns`);
}

/* An empty table of the right size; decodeBlock() fills it. */
export function makeTable(entry: TableEntry): Table {
  const columns: Record<string, Column> = {};

  check(entry);
  entry.columns.forEach((column, i) => (columns[column.name] = allocate(entry, i)));
  return { name: entry.name, rows: entry.rows, columns };
}

/* The bytes that a block has when it is unpacked. */
export function blockBytes(block: BlockEntry): number {
  return block.widths.reduce((sum, width) => sum + width * block.rows, 0);
}

/* Puts one block at row `first` of its table. */
export function decodeBlock(
  table: Table,
  columns: ColumnEntry[],
  block: BlockEntry,
  bytes: Uint8Array,
  first: number,
): void {
  let at = 0;

  if (bytes.length !== blockBytes(block))
    throw new Error(`table ${table.name}: a block of ${bytes.length} bytes, not ${blockBytes(block)}`);
  columns.forEach((column, i) => {
    const width = block.widths[i]!;
    const planes = bytes.subarray(at, at + width * block.rows);
    const target = table.columns[column.name]!.subarray(first, first + block.rows);

    at += width * block.rows;
    if (width === 0 && !column.delta) return;
    if (column.type === "f64") decodeDoubles(planes, width, target as Float64Array);
    else if (column.delta) decodeDifferences(planes, width, target as Float64Array);
    else if (width <= 4) decodeSmall(planes, width, target);
    else decodeWide(planes, width, target);
  });
}

function decodeSmall(planes: Uint8Array, width: number, target: Column): void {
  const rows = target.length;

  if (width === 1) target.set(planes);
  else if (width === 2) for (let i = 0; i < rows; i++) target[i] = planes[i]! | (planes[rows + i]! << 8);
  else if (width === 3)
    for (let i = 0; i < rows; i++)
      target[i] = planes[i]! | (planes[rows + i]! << 8) | (planes[2 * rows + i]! << 16);
  else for (let i = 0; i < rows; i++) target[i] = lowOf(planes, width, rows, i);
}

function decodeWide(planes: Uint8Array, width: number, target: Column): void {
  const rows = target.length;

  for (let i = 0; i < rows; i++)
    target[i] = lowOf(planes, width, rows, i) + highOf(planes, width, rows, i) * HIGH;
}

function decodeDifferences(planes: Uint8Array, width: number, target: Float64Array): void {
  const rows = target.length;
  let value = 0;

  for (let i = 0; i < rows; i++) {
    const low = lowOf(planes, width, rows, i);
    if (width <= 4) {
      value += low & 1 ? -((low >>> 1) + 1) : low >>> 1;
    } else {
      const half = (low >>> 1) + highOf(planes, width, rows, i) * (HIGH / 2);
      value += low & 1 ? -(half + 1) : half;
    }
    target[i] = value;
  }
}

function decodeDoubles(planes: Uint8Array, width: number, target: Float64Array): void {
  const rows = target.length;
  const bytes = new Uint8Array(target.buffer, target.byteOffset, rows * 8);

  for (let plane = 0; plane < width; plane++)
    for (let i = 0, from = plane * rows; i < rows; i++) bytes[i * 8 + plane] = planes[from + i]!;
}

/* The lower four bytes of value `i`. */
function lowOf(planes: Uint8Array, width: number, rows: number, i: number): number {
  let value = width > 0 ? planes[i]! : 0;

  if (width > 1) value |= planes[rows + i]! << 8;
  if (width > 2) value |= planes[2 * rows + i]! << 16;
  if (width > 3) value |= planes[3 * rows + i]! << 24;
  return value >>> 0;
}

function highOf(planes: Uint8Array, width: number, rows: number, i: number): number {
  let value = 0;

  for (let plane = width - 1; plane >= 4; plane--) value = value * 256 + planes[plane * rows + i]!;
  return value;
}

/* `count` lengths, then the texts. */
export function decodeStrings(bytes: Uint8Array, count: number): string[] {
  const decoder = new TextDecoder();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const texts: string[] = [];
  let at = count * 4;

  if (at > bytes.length) throw new Error("strings: the block is too short");
  for (let i = 0; i < count; i++) {
    const end = at + view.getUint32(i * 4, true);
    if (end > bytes.length) throw new Error("strings: the block is too short");
    texts.push(decoder.decode(bytes.subarray(at, end)));
    at = end;
  }
  return texts;
}

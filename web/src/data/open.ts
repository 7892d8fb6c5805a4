/* Opens a page's data: all tables become columns. Spans stay with the worker, the rest goes to the page. */

import { blockBytes, decodeBlock, decodeStrings, makeTable } from "./decode";
import { inflate, inflateProblem } from "./inflate";
import type { Directory, Table, TableEntry } from "./types";

export interface Opened {
  strings: string[];
  tables: Table[]; // all but `spans`
  /* Decodes the spans, which are most of a page: the rest is shown meanwhile. */
  openSpans(): Promise<Table | undefined>;
}

const SPANS = "spans";

/* `blocks` is emptied on the way: what is decoded needs not stay as text. */
export async function openTables(directory: Directory, blocks: string[]): Promise<Opened> {
  const problem = inflateProblem();
  if (problem) throw new Error(problem);
  const take = (number: number, length: number | null) => {
    const text = blocks[number];
    if (text === undefined) throw new Error(`block ${number} is missing: the file is not whole`);
    blocks[number] = "";
    return inflate(text, length);
  };
  const open = async (entry: TableEntry) => {
    const table = makeTable(entry);
    let first = 0;
    for (const block of entry.blocks) {
      decodeBlock(table, entry.columns, block, await take(block.block, blockBytes(block)), first);
      first += block.rows;
    }
    return table;
  };
  const { block, count } = directory.strings;
  const strings = count > 0 ? decodeStrings(await take(block, null), count) : [];
  const tables: Table[] = [];
  const spans = directory.tables.find((entry) => entry.name === SPANS);

  for (const entry of directory.tables) if (entry !== spans) tables.push(await open(entry));
  return { strings, tables, openSpans: async () => spans && open(spans) };
}

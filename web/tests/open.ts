/* Opens a fixture in this process: as the worker does, or at once for tests that do not wait. */

import { gunzipSync } from "node:zlib";
import { decodeBlock, decodeStrings, makeTable } from "../src/data/decode";
import { openTables } from "../src/data/open";
import type { PageData, Table } from "../src/data/types";
import type { Fixture } from "./fixture";

export function blocksOf(fixture: Fixture): string[] {
  return fixture.blocks.map((block) => Buffer.from(block).toString("base64"));
}

function pageOf(fixture: Fixture, strings: string[], tables: Table[]): PageData {
  const { recordings } = fixture.directory;

  return {
    directory: fixture.directory,
    recording: recordings[recordings.length - 1]!,
    strings,
    tables: Object.fromEntries(tables.map((table) => [table.name, table])),
  };
}

/* The way of the worker. Spans are among the tables. */
export async function openPage(fixture: Fixture): Promise<PageData> {
  const { strings, tables, openSpans } = await openTables(fixture.directory, blocksOf(fixture));
  const spans = await openSpans();

  return pageOf(fixture, strings, spans ? [...tables, spans] : tables);
}

/* Without streams. */
export function openFixture(fixture: Fixture): PageData {
  const bytesOf = (block: number) => new Uint8Array(gunzipSync(fixture.blocks[block]!));
  const { strings } = fixture.directory;
  const tables = fixture.directory.tables.map((entry) => {
    const table = makeTable(entry);
    let first = 0;
    for (const block of entry.blocks) {
      decodeBlock(table, entry.columns, block, bytesOf(block.block), first);
      first += block.rows;
    }
    return table;
  });

  return pageOf(fixture, decodeStrings(bytesOf(strings.block), strings.count), tables);
}

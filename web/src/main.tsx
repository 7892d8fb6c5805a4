/* The page starts here: finds its data, has it decoded, shows it. */

import { render } from "preact";
import { startHere, startWorker } from "./data/ask";
import { inflateProblem } from "./data/inflate";
import type { Directory, PageData } from "./data/types";
import { startAddress } from "./state/hash";
import { say } from "./state/status";
import { startTheme } from "./state/theme";
import { tryExpressions } from "./state/trial";
import { App, Problem } from "./ui/app";
import "./ui/style.css";
import { isOnlyTasks } from "./views/overview/tasks";

/* Of base64: reading so much takes the page about a tenth of a second. */
const FEW_LETTERS = 1 << 20;

function readDirectory(): Directory | null {
  const text = document.getElementById("venturi-directory")?.textContent;
  return text ? (JSON.parse(text) as Directory) : null;
}

/* Base64 texts by number. Elements go as they are read: the text would stay in memory twice. */
function readBlocks(directory: Directory): string[] {
  const most = Math.max(
    directory.strings.block,
    ...directory.tables.flatMap((table) => table.blocks.map((one) => one.block)),
  );
  const blocks: string[] = [];

  for (let i = 0; i <= most; i++) {
    const element = document.getElementById(`venturi-block-${i}`);
    if (!element) throw new Error("The file is not whole: parts of its data are missing.");
    blocks.push(element.textContent ?? "");
    element.remove();
  }
  return blocks;
}

async function start(root: HTMLElement): Promise<void> {
  const directory = readDirectory();
  const recording = directory?.recordings[directory.recordings.length - 1];

  if (!directory || !recording)
    throw new Error("There is no recording in this page: the file is not whole, or it is the empty shell.");
  if (directory.page !== 1)
    throw new Error(`This page's data has version ${directory.page}; this program reads version 1.`);
  const problem = inflateProblem();
  if (problem) throw new Error(problem);
  const blocks = readBlocks(directory);
  const letters = blocks.reduce((sum, block) => sum + block.length, 0);
  const worker = letters < FEW_LETTERS ? startHere() : startWorker();
  const { strings, tables } = await worker.ask("open", { directory, blocks });
  const data: PageData = {
    directory,
    recording,
    strings,
    tables: Object.fromEntries(tables.map((table) => [table.name, table])),
  };

  performance.mark("venturi:data");
  /* Spans come later: whether they can be read is said wherever the reader is by then. */
  worker
    .ask("window", { range: { from: 0, to: 1 }, pixels: 1, tracks: [] })
    .catch((error: Error) => say(`The spans cannot be shown: ${error.message}`));
  tryExpressions(strings, startWorker);
  startAddress(directory.kind !== "report" ? directory.kind : isOnlyTasks(data) ? "tasks" : "overview");
  root.textContent = "";
  render(<App data={data} worker={worker} />, root);
}

const root = document.getElementById("app")!;

startTheme(document.documentElement);
root.textContent = "";
render(
  <p class="loading" role="status">
    Reading the recording…
  </p>,
  root,
);
start(root).catch((error: unknown) => {
  render(<Problem text={error instanceof Error ? error.message : String(error)} />, root);
});

/* The tool as these tests use it: VENTURI names it (default: build/venturi). What it writes goes to the folder that all test files
 * share, and is made once a run. */

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const TOP = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
export const TOOL = resolve(TOP, process.env.VENTURI ?? "build/venturi");
export const BUILD = process.env.VENTURI_BUILD ? resolve(TOP, process.env.VENTURI_BUILD) : dirname(TOOL);
export const FOLDER = process.env.VENTURI_BROWSER_FOLDER ?? "";

export function inFolder(name: string): string {
  return join(FOLDER, name);
}

export function venturi(...args: string[]): string {
  return execFileSync(TOOL, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 1 << 28,
    cwd: FOLDER,
  });
}

/* What --json says. */
export function json<T>(...args: string[]): T {
  return JSON.parse(venturi(...args)) as T;
}

/* Makes a file unless it is there. */
export function once(name: string, make: (path: string) => void): string {
  const path = inFolder(name);

  if (!existsSync(path)) {
    make(path);
    if (!existsSync(path)) throw new Error(`${name} was not made`);
  }
  return path;
}

/* A recording of a program; the program may fail, the recording is still made. */
export function record(name: string, ...args: string[]): string {
  return once(`${name}.vt`, (path) => {
    const done = spawnSync(TOOL, ["run", "-q", "-o", path, ...args], { encoding: "utf8", cwd: FOLDER });
    if (!existsSync(path)) throw new Error(`no recording: ${done.stderr}`);
  });
}

/* A Python script in the folder, and its recording. */
export function recordPython(name: string, script: string, ...options: string[]): string {
  return record(
    name,
    ...options,
    "--",
    once(`${name}.py`, (path) => writeFileSync(path, script)),
  );
}

/* Runs Python of ours, with the writer of recordings at hand; `script` writes the file that its first argument names. */
export function writeWithPython(name: string, script: string): string {
  return once(name, (path) => {
    execFileSync(join(TOP, "tools/python"), ["-c", script, path], {
      env: { ...process.env, PYTHONPATH: join(TOP, "tests/reader"), PYTHONDONTWRITEBYTECODE: "1" },
      stdio: ["ignore", "ignore", "pipe"],
    });
  });
}

/* Text in the folder that the tool imports. */
export function importText(name: string, text: string, format: string): string {
  return once(`${name}.vt`, (path) => {
    const from = inFolder(`${name}.${format}`);
    writeFileSync(from, text);
    venturi("import", "-f", format, from, "-o", path);
  });
}

/* The page of a recording or profile, with options of its own if need be. */
export function report(recording: string, ...options: string[]): string {
  const name = recording.replace(/^.*\//, "") + options.join("");

  return once(`${name}.html`, (path) => venturi("report", recording, "-o", path, ...options));
}

export function golden(name: string): string {
  return join(TOP, `tests/golden/v1-${name}.vt`);
}

/* The browser of all test files: pages from disk, light or dark, that may not ask anybody for anything. A page that one test has left
 * the next one gets, empty again: a new one would be a new process, which costs more than most tests. */

import { existsSync, readFileSync } from "node:fs";
import { chromium, type Browser, type Locator, type Page } from "playwright-core";
import { pathToFileURL } from "node:url";
import { afterEach, beforeAll } from "vitest";

export const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

/* Without it every test here is skipped by name. */
export const hasChromium = existsSync(CHROMIUM);

export interface Opened {
  page: Page;
  problems: string[]; // errors of scripts and of the content security policy, requests to anywhere
}

export interface OpenOptions {
  hash?: string;
  isDark?: boolean;
  width?: number;
  height?: number;
  bypassCSP?: boolean; // for scripts that a test brings along
  isBare?: boolean; // it will show no data
}

function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

/* Files run one after the other in one process, see vitest.browser.config.ts; the browser ends with it. */
let browser: Promise<Browser> | undefined;
const idle: Record<"strict" | "lax", Page[]> = { strict: [], lax: [] };
const used: [Page[], Page][] = [];

/* A page as large, and as light or dark, as asked for. */
async function takePage(options: OpenOptions): Promise<Page> {
  const pages = idle[options.bypassCSP ? "lax" : "strict"];
  const page = pages.pop() ?? (await newPage(options.bypassCSP ?? false));

  used.push([pages, page]);
  page.setDefaultTimeout(20_000);
  await page.setViewportSize({ width: options.width ?? 1280, height: options.height ?? 800 });
  await page.emulateMedia({ media: null, colorScheme: options.isDark ? "dark" : "light" });
  return page;
}

async function newPage(bypassCSP: boolean): Promise<Page> {
  const context = await (await browser!).newContext({ acceptDownloads: true, bypassCSP });

  return context.newPage();
}

/* Nothing that a test did is left: neither what the page remembers nor who listens. One that cannot be emptied is closed. */
async function leavePages(): Promise<void> {
  for (const [pages, page] of used.splice(0)) {
    page.removeAllListeners();
    page.setDefaultTimeout(2_000);
    try {
      await page.waitForFunction(() => (localStorage.clear(), true));
      await page.goto("about:blank");
      pages.push(page);
    } catch {
      await page.context().close();
    }
  }
}

/* Opens a page of ours, a file or what a server of ours shows, and waits until it shows its data. */
async function openPage(path: string, options: OpenOptions): Promise<Opened> {
  const page = await takePage(options);
  const problems: string[] = [];
  const address = path.startsWith("http://") ? new URL(path) : pathToFileURL(path);
  const isOwn = (url: string) =>
    /^(file|data|blob):/.test(url) ||
    (address.protocol === "http:" && new URL(url).origin === address.origin);

  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning")
      problems.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (!isOwn(request.url())) problems.push(`request: ${request.url()}`);
  });
  await page.goto(address.href + (options.hash ? `#${options.hash}` : ""));
  if (!options.isBare) await ready(page);
  return { page, problems };
}

export function ready(page: Page): Promise<unknown> {
  return page.waitForFunction(() => performance.getEntriesByName("venturi:ready").length > 0);
}

/* Pages are given back after each test. */
export function useBrowser(): (path: string, options?: OpenOptions) => Promise<Opened> {
  beforeAll(async () => {
    await (browser ??= launch());
  });
  afterEach(leavePages);
  return (path, options = {}) => openPage(path, options);
}

/* The address is written a moment after the state has changed. */
export async function hashHas(page: Page, text: string): Promise<void> {
  await page.waitForFunction(
    (wanted) => decodeURIComponent(location.hash.replaceAll("+", " ")).includes(wanted),
    text,
  );
}

/* What a button saves. */
export async function saved(page: Page, button: Locator): Promise<{ name: string; data: Buffer }> {
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);

  return { name: download.suggestedFilename(), data: readFileSync(await download.path()) };
}

/* Rows of a CSV file by the names of its columns. */
export function csvRows(text: string): Record<string, string>[] {
  const [header = [], ...rows] = csvCells(text);

  return rows.map((row) => Object.fromEntries(header.map((name, i) => [name, row[i] ?? ""])));
}

function csvCells(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let isOpen = false;
  let cell = "";

  for (let i = 0; i < text.length; i++) {
    const letter = text[i]!;
    if (isOpen) {
      if (letter !== '"') cell += letter;
      else if (text[i + 1] === '"') cell += text[i++];
      else isOpen = false;
    } else if (letter === '"') isOpen = true;
    else if (letter === "," || letter === "\n") {
      row.push(cell);
      cell = "";
      if (letter === "\n") {
        rows.push(row);
        row = [];
      }
    } else cell += letter;
  }
  return rows;
}

export async function savedRows(page: Page, button: Locator): Promise<Record<string, string>[]> {
  return csvRows((await saved(page, button)).data.toString("utf8"));
}

/* The picture of a view: its canvas and the buttons beside it. */
export function picture(page: Page): { canvas: Locator; button(name: string): Locator } {
  const group = page.locator("main .save").first();

  return {
    canvas: page.locator("main canvas[tabindex='0']").first(),
    button: (name) => group.getByRole("button", { name, exact: true }),
  };
}

/* How many colours a canvas shows: a blank one has one. */
export function coloursOf(canvas: Locator): Promise<number> {
  return canvas.evaluate((element: HTMLCanvasElement) => {
    const copy = new OffscreenCanvas(element.width, element.height).getContext("2d", {
      willReadFrequently: true,
    })!;
    copy.drawImage(element, 0, 0);
    const seen = new Set(new Uint32Array(copy.getImageData(0, 0, element.width, element.height).data.buffer));
    return seen.size;
  });
}

/* Parses as SVG: how many elements it has; what is wrong with it is thrown. */
export function svgElements(page: Page, text: string): Promise<number> {
  return page.evaluate((svg) => {
    const tree = new DOMParser().parseFromString(svg, "image/svg+xml");
    const error = tree.querySelector("parsererror");
    if (error) throw new Error(error.textContent ?? "");
    if (tree.querySelector("script, foreignObject, image, a")) throw new Error("more than a drawing");
    return tree.querySelectorAll("*").length;
  }, text);
}

/* The tab of a view. */
export function tab(page: Page, title: string): Locator {
  return page.getByRole("navigation", { name: "Views" }).getByRole("button", { name: title, exact: true });
}

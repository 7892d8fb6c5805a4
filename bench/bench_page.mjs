/* How long a page takes to open in Chromium, and how long the frames of a pan are: node bench_page.mjs NAME PAGE, from web/, whose
 * packages it uses. Prints figures as the other benchmarks do. Times count from the start of loading: NAME_open until the page's mark
 * "venturi:ready", NAME_spans until the timeline has its spans. A pan is 60 steps of the keys A and D, one a frame; NAME_longest is the
 * longest time between two frames. Each is done three times, the best counts. */

import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const { chromium } = createRequire(`${process.cwd()}/package.json`)("playwright-core");
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const ROUNDS = 3;
const NEARER = 4; // steps of zoom before the pan

/* Runs in the page: one key a frame, to the right and back. */
function pan(steps) {
  const press = (key) => dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));

  return new Promise((done) => {
    const frames = [];
    let last = 0;
    const step = (now) => {
      if (last) frames.push(now - last);
      last = now;
      if (frames.length === steps) return done(frames);
      press(frames.length < steps / 2 ? "d" : "a");
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
}

async function measure(browser, address) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const mark = (name) => page.waitForFunction((one) => performance.getEntriesByName(one)[0]?.startTime, name, { timeout: 120_000 });

  await page.goto(`${address}#timeline`);
  const open = await (await mark("venturi:ready")).jsonValue();
  const spans = await (await mark("venturi:timeline")).jsonValue();
  for (let i = 0; i < NEARER; i++) await page.keyboard.press("w");
  await page.waitForTimeout(500);
  const frames = await page.evaluate(pan, 60);
  await page.close();
  return { open, spans, longest: Math.max(...frames) };
}

const [name, path] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
});
const rounds = [];

for (let i = 0; i < ROUNDS; i++) rounds.push(await measure(browser, pathToFileURL(resolve(path)).href));
await browser.close();
for (const figure of ["open", "spans", "longest"]) {
  const values = rounds.map((round) => round[figure]).sort((a, b) => a - b);
  console.log(JSON.stringify({ name: `${name}_${figure}`, value: values[0], median: values[1], unit: "ms" }));
}

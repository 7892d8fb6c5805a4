/* Pictures of a page as scripts take them: Chromium without a window, by a clock of its own that waits for nobody but the page. */

import { execFileSync } from "node:child_process";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { CHROMIUM, hasChromium } from "./chromium";
import { calls, spans } from "./samples";
import { report } from "./tool";

function textOf(path: string): string {
  const page = execFileSync(
    CHROMIUM,
    [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--virtual-time-budget=5000",
      "--dump-dom",
      pathToFileURL(path).href,
    ],
    { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 26, timeout: 60_000 },
  );

  return page.slice(page.indexOf("<body")).replace(/<script[^]*?<\/script>/g, "");
}

describe.skipIf(!hasChromium)("a picture by a clock of its own", () => {
  it.each([
    ["spans", spans],
    ["calls", calls],
  ])("shows the report of %s", (_name, sample) => {
    const text = textOf(report(sample()));

    expect(text).toContain("Findings");
    expect(text).not.toContain("Reading the recording…");
  });
});

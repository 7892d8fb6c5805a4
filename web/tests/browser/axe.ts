/* What axe finds in a page, and whether it is wider than its window. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

/* For addScriptTag(): the page must be opened with bypassCSP. */
export const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface AxeResult {
  violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[];
}

/* In the dark only colours can be wrong that were not in the light. */
export async function serious(page: Page, isDark: boolean): Promise<string[]> {
  const { violations } = await page.evaluate(
    (rules) =>
      (window as unknown as { axe: { run(options: object): Promise<AxeResult> } }).axe.run({
        resultTypes: ["violations"],
        ...rules,
      }),
    isDark ? { runOnly: { type: "rule", values: ["color-contrast", "link-in-text-block"] } } : {},
  );
  return violations
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .map((one) => `${one.id}: ${one.nodes[0]?.html.slice(0, 200)} ${one.nodes[0]?.failureSummary}`);
}

/* How far the page is wider than the window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
}

/* Before all files: one folder for their recordings and pages, so that what one made another opens. After them it is gone. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "venturi-browser-"));

  process.env.VENTURI_BROWSER_FOLDER = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

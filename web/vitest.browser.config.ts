/* Tests in Chromium: real recordings, real pages, opened from disk. One file at a time, because a browser takes what it gets. */

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/browser/*.spec.ts"],
    globalSetup: "tests/browser/setup.ts",
    environment: "node",
    fileParallelism: false,
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});

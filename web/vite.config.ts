/* Builds the shell: one file, dist/page.html, with its script and style inside and a content security policy that allows those two by
 * their hashes. The same sources give the same bytes. */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const DATA_LINE = "<!--venturi:data-->";

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
}

/* No text of ours may end the element it stands in. */
function inScript(code: string): string {
  return code.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--").trim();
}

function policy(script: string, style: string): string {
  return [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "worker-src blob:",
    "connect-src data:",
    "img-src data: blob:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
}

/* index.html with script and style in it. Functions as replacements: code may hold what replace() takes for patterns. */
function page(template: string, script: string, style: string): string {
  const head = `<meta http-equiv="Content-Security-Policy" content="${policy(script, style)}" />\n    <style>${style}</style>`;
  const result = template
    .replace("<!--head-->", () => head)
    .replace(/<script type="module" src="[^"]*"><\/script>/, () => `<script>${script}</script>`);

  if (!result.includes(`\n${DATA_LINE}\n`)) throw new Error(`index.html has no line ${DATA_LINE}`);
  return result;
}

/* Vite puts the style and the script beside the page; here they move into it. */
function singleFile(): Plugin {
  return {
    name: "single-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      let script = "";
      let style = "";

      for (const [name, item] of Object.entries(bundle)) {
        if (item.type === "chunk") script += item.code;
        else if (name.endsWith(".css")) style += String(item.source);
        delete bundle[name];
      }
      this.emitFile({
        type: "asset",
        fileName: "page.html",
        source: page(readFileSync("index.html", "utf8"), inScript(script), style.trim()),
      });
    },
  };
}

export default defineConfig({
  plugins: [singleFile()],
  build: {
    target: "es2022",
    outDir: "dist",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rollupOptions: {
      input: "src/main.tsx",
      output: { format: "iife", entryFileNames: "page.js", assetFileNames: "[name][extname]" },
    },
  },
  worker: { format: "iife" },
  test: { include: ["tests/*.test.ts"], environment: "node" },
});

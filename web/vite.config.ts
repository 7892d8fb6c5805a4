/* Builds the two pages, each one file with its script and style inside and a content security policy that allows those two by their
 * hashes: dist/page.html, the shell of reports, and with `--mode dashboard` dist/dashboard.html, which the server shows. The same sources
 * give the same bytes. */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const DATA_LINE = "<!--venturi:data-->";

interface Target {
  template: string;
  input: string;
  output: string;
  connect: string; // whom it may ask
  hasData: boolean;
}

const TARGETS: Record<string, Target> = {
  page: {
    template: "index.html",
    input: "src/main.tsx",
    output: "page.html",
    connect: "data:",
    hasData: true,
  },
  dashboard: {
    template: "dashboard.html",
    input: "src/dashboard/main.tsx",
    output: "dashboard.html",
    connect: "'self'",
    hasData: false,
  },
};

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
}

/* No text of ours may end the element it stands in. */
function inScript(code: string): string {
  return code.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--").trim();
}

function policy(target: Target, script: string, style: string): string {
  return [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "worker-src blob:",
    `connect-src ${target.connect}`,
    "img-src data: blob:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
}

/* The template with script and style in it. Functions as replacements: code may hold what replace() takes for patterns. */
function page(target: Target, script: string, style: string): string {
  const head = `<meta http-equiv="Content-Security-Policy" content="${policy(target, script, style)}" />\n    <style>${style}</style>`;
  const result = readFileSync(target.template, "utf8")
    .replace("<!--head-->", () => head)
    .replace(/<script type="module" src="[^"]*"><\/script>/, () => `<script>${script}</script>`);

  if (target.hasData && !result.includes(`\n${DATA_LINE}\n`))
    throw new Error(`${target.template} has no line ${DATA_LINE}`);
  return result;
}

/* Vite puts the style and the script beside the page; here they move into it. */
function singleFile(target: Target): Plugin {
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
        fileName: target.output,
        source: page(target, inScript(script), style.trim()),
      });
    },
  };
}

export default defineConfig(({ mode }) => {
  const target = TARGETS[mode] ?? TARGETS.page!;

  return {
    plugins: [singleFile(target)],
    build: {
      target: "es2022",
      outDir: "dist",
      emptyOutDir: false, // the other page stands there too
      modulePreload: false,
      cssCodeSplit: false,
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      rollupOptions: {
        input: target.input,
        output: { format: "iife", entryFileNames: "page.js", assetFileNames: "[name][extname]" },
      },
    },
    worker: { format: "iife" },
    test: { include: ["tests/*.test.ts"], environment: "node" },
  };
});

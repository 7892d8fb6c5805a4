/* node tests/make_page.mjs SPANS OUT.html: a page of a program that never ran, in the shell that was built last. */
import { readFileSync, writeFileSync } from "node:fs";
import { runnerImport } from "vite";

const [spans, out] = process.argv.slice(2);
const { makeProgram } = (await runnerImport("./tests/program.ts")).module;
const { encodeHtml } = (await runnerImport("./tests/fixture.ts")).module;

writeFileSync(out, encodeHtml(makeProgram(Number(spans)), readFileSync("dist/page.html", "utf8")));

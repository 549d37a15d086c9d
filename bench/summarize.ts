import { readFileSync, writeFileSync } from "node:fs";
import { withSummary } from "./summary/summary.ts";

/** Makes the first table of docs/benchmarks.md of the figures that the page has recorded; with --check it only compares. */
const page = new URL("../docs/benchmarks.md", import.meta.url);
const text = readFileSync(page, "utf8");
const wanted = withSummary(text);
if (!process.argv.includes("--check")) writeFileSync(page, wanted);
else if (wanted !== text) {
  process.stderr.write("the first table of docs/benchmarks.md is not that of its figures: node bench/summarize.ts\n");
  process.exitCode = 1;
}

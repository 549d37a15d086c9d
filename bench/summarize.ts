import { readFileSync, writeFileSync } from "node:fs";
import { readCasePages, summaryPage } from "./pages.ts";
import { withSummary } from "./summary/summary.ts";

/** Writes the first table of docs/benchmarks.md from the figures recorded in docs/concepts/benchmarks. With --check, it only compares. */
const text = readFileSync(summaryPage, "utf8");
const wanted = withSummary(text, readCasePages());
if (!process.argv.includes("--check")) writeFileSync(summaryPage, wanted);
else if (wanted !== text) {
  process.stderr.write("the first table of docs/benchmarks.md differs from its figures: node bench/summarize.ts\n");
  process.exitCode = 1;
}

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { isoTime, systemClock } from "@svc/core";
import { type CasePage, readCasePages, summaryPage } from "./pages.ts";
import { withSummary } from "./summary/summary.ts";

/**
 * Writes a case's report into its place in a page of docs/concepts/benchmarks, between `<!-- bench:<name> -->` and `<!-- /bench:<name>
 * -->`, with the measured commit and the machine. Updates the first table of docs/benchmarks.md. Results of other cases stay. Throws if no
 * page has such a place.
 */
export function recordInDocs(name: string, machine: readonly string[], report: string): void {
  const { page, opening, start, end } = placeOf(readCasePages(), name);
  const results = `${opening}\n${[recordedLine(), ...machine].join("  \n")}\n\n${report}`;
  writeFileSync(page.url, page.text.slice(0, start) + results + page.text.slice(end));
  writeFileSync(summaryPage, withSummary(readFileSync(summaryPage, "utf8"), readCasePages()));
}

/** Throws if no page has a place for one of the cases. It is called before the cases are measured. */
export function checkPlaces(names: readonly string[]): void {
  const pages = readCasePages();
  for (const name of names) placeOf(pages, name);
}

function placeOf(
  pages: readonly CasePage[],
  name: string,
): { page: CasePage; opening: string; start: number; end: number } {
  const [opening, closing] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`];
  const page = pages.find(({ text }) => text.includes(opening));
  const [start, end] = [page?.text.indexOf(opening) ?? -1, page?.text.indexOf(closing) ?? -1];
  if (page === undefined || end < start)
    throw new Error(`docs/concepts/benchmarks has no place for ${name}: ${opening} ... ${closing}`);
  return { page, opening, start, end };
}

function recordedLine(): string {
  const commit = spawnSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).stdout.trim();
  const day = isoTime(systemClock.now()).slice(0, 10);
  return `Recorded ${day}, commit ${commit || "unknown"}`;
}

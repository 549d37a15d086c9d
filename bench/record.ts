import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { isoTime, systemClock } from "@svc/core";
import { withSummary } from "./summary/summary.ts";

const page = new URL("../docs/benchmarks.md", import.meta.url);

/**
 * Replaces what stands between `<!-- bench:<name> -->` and `<!-- /bench:<name> -->` in docs/benchmarks.md by a case's
 * report, the commit that was measured and the machine, and makes the page's first table anew. What other cases recorded stays. Throws
 * when the page has no such place.
 */
export function recordInDocs(name: string, machine: readonly string[], report: string): void {
  const text = readFileSync(page, "utf8");
  const { opening, start, end } = placeOf(text, name);
  const results = `${opening}\n${[recordedLine(), ...machine].join("  \n")}\n\n${report}`;
  writeFileSync(page, withSummary(text.slice(0, start) + results + text.slice(end)));
}

/** Throws where the page has no place for one of the cases: before they are measured, and not after. */
export function checkPlaces(names: readonly string[]): void {
  const text = readFileSync(page, "utf8");
  for (const name of names) placeOf(text, name);
}

function placeOf(text: string, name: string): { opening: string; start: number; end: number } {
  const [opening, closing] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`];
  const [start, end] = [text.indexOf(opening), text.indexOf(closing)];
  if (start < 0 || end < start)
    throw new Error(`docs/benchmarks.md has no place for ${name}: ${opening} ... ${closing}`);
  return { opening, start, end };
}

function recordedLine(): string {
  const commit = spawnSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).stdout.trim();
  const day = isoTime(systemClock.now()).slice(0, 10);
  return `Recorded ${day}, commit ${commit || "unknown"}`;
}

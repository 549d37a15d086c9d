import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { isoTime, systemClock } from "@svc/core";

const page = new URL("../docs/benchmarks.md", import.meta.url);

/**
 * Replaces what stands between `<!-- bench:<name> -->` and `<!-- /bench:<name> -->` in docs/benchmarks.md by a case's
 * report, the commit that was measured and the machine. Throws when the page has no such place.
 */
export function recordInDocs(name: string, machine: readonly string[], report: string): void {
  const text = readFileSync(page, "utf8");
  const [opening, closing] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`];
  const [start, end] = [text.indexOf(opening), text.indexOf(closing)];
  if (start < 0 || end < start)
    throw new Error(`docs/benchmarks.md has no place for ${name}: ${opening} ... ${closing}`);
  const results = `${opening}\n${[recordedLine(), ...machine].join("  \n")}\n\n${report}`;
  writeFileSync(page, text.slice(0, start) + results + text.slice(end));
}

function recordedLine(): string {
  const commit = spawnSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).stdout.trim();
  const day = isoTime(systemClock.now()).slice(0, 10);
  return `Recorded ${day}, commit ${commit || "unknown"}`;
}

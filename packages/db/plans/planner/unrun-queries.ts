import { readdirSync, readFileSync } from "node:fs";
import { type Profiler, Session } from "node:inspector/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Where a query is sent: by the query builder, or by its text. Types are blanked out of what runs: places in a file are places in the code. */
const queryPattern = /\.orm\b|\bsql\.unsafe\b|\.sql[<`]/g;

/**
 * Counts from now on what of this process is run. What it returns gives the places in files of `folder` that send a query and were not
 * come to since: `file:line`.
 */
export async function watchQueries(folder: string, files: readonly string[]): Promise<() => Promise<string[]>> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  return async () => {
    const { result } = await session.post("Profiler.takePreciseCoverage");
    await session.post("Profiler.stopPreciseCoverage");
    session.disconnect();
    return files.flatMap((file) => {
      const url = pathToFileURL(join(folder, file)).href;
      const loaded = result.filter((script) => script.url.split("?")[0] === url);
      return unrunOf(readFileSync(join(folder, file), "utf8"), loaded).map((line) => `${file}:${line}`);
    });
  };
}

/** Lines of a source with a query that was not come to in any of the scripts that it was loaded as. */
function unrunOf(source: string, loaded: readonly Profiler.ScriptCoverage[]): number[] {
  const places = [...source.matchAll(queryPattern)].map(({ index }) => index);
  const unrun = places.filter((place) => !loaded.some((script) => countAt(script, place) > 0));
  return unrun.map((place) => source.slice(0, place).split("\n").length);
}

/** How often the code at a place was run: what the smallest range around it counted. */
function countAt({ functions }: Profiler.ScriptCoverage, place: number): number {
  const around = functions
    .flatMap(({ ranges }) => ranges)
    .filter(({ startOffset, endOffset }) => startOffset <= place && place < endOffset)
    .toSorted((a, b) => a.endOffset - a.startOffset - (b.endOffset - b.startOffset));
  return around[0]?.count ?? 0;
}

/** The sources of a folder that are neither tests nor what tests stand on. */
export function sourcesIn(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return files.filter((file) => /\.ts$/.test(file) && !/\.(?:test|fixture|testing)\.ts$|(?:^|\/)test-/.test(file));
}

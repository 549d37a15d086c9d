import { readdirSync, readFileSync } from "node:fs";
import { type Profiler, Session } from "node:inspector/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Matches the code in a source file that sends a query, by the query builder or as SQL text. */
const queryPattern = /\.orm\b|\bsql\.unsafe\b|\.sql[<`]/g;

/**
 * Begins to count which code of this process runs. The returned function lists the places (`file:line`) in the files of `folder` that send
 * a query and have not run since then.
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

/** Returns the line numbers in `source` of queries that never ran. `loaded`: the measurements of which code of this source ran. */
function unrunOf(source: string, loaded: readonly Profiler.ScriptCoverage[]): number[] {
  // Node replaces types by spaces, so a position in the source file is the same position in the running code.
  const places = [...source.matchAll(queryPattern)].map(({ index }) => index);
  const unrun = places.filter((place) => !loaded.some((script) => countAt(script, place) > 0));
  return unrun.map((place) => source.slice(0, place).split("\n").length);
}

/** Returns how often the code at a position ran. This is the count of the smallest measured range around the position. */
function countAt({ functions }: Profiler.ScriptCoverage, place: number): number {
  const around = functions
    .flatMap(({ ranges }) => ranges)
    .filter(({ startOffset, endOffset }) => startOffset <= place && place < endOffset)
    .toSorted((a, b) => a.endOffset - a.startOffset - (b.endOffset - b.startOffset));
  return around[0]?.count ?? 0;
}

/**
 * Returns the names of the TypeScript files in a folder and its subfolders, relative to the folder. Leaves out tests and files that only
 * tests use.
 */
export function sourcesIn(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return files.filter((file) => /\.ts$/.test(file) && !/\.(?:test|fixture|testing)\.ts$|(?:^|\/)test-/.test(file));
}

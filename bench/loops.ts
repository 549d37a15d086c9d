import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { delay } from "./monotonic.ts";
import type { System } from "./system.ts";

/**
 * The event loop of one process during a measurement. `delayP99Ms`: p99 of the loop's delay. `collectionMs`: the longest garbage
 * collection.
 */
export type LoopFigures = { readonly utilization: number; readonly delayP99Ms: number; readonly collectionMs: number };

/** Folder for the measurements of event loops, with one file for each process of any server in this run. */
const folder = mkdtempSync(join(tmpdir(), "svc-bench-loops-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/** Options that make a server report its event loops to `watchLoops`. */
export const loopProbe = {
  nodeOptions: ["--no-warnings", `--import=${new URL("loop-probe.ts", import.meta.url).href}`],
  environment: { BENCH_LOOPS: folder },
} as const;

/** Runs `use`. Returns its result, and the event loops of all processes of the server during it. */
export async function watchLoops<T>(
  system: System,
  use: () => Promise<T>,
): Promise<{ result: T; loops: LoopFigures[] }> {
  const pids = [system.pid, ...(system.otherPids ?? [])];
  await askAll(pids);
  const result = await use();
  return { result, loops: await askAll(pids) };
}

async function askAll(pids: readonly number[]): Promise<LoopFigures[]> {
  return Promise.all(
    pids.map(async (pid) => {
      const count = linesOf(pid).length;
      process.kill(pid, "SIGUSR2");
      while (linesOf(pid).length === count) await delay(5);
      return JSON.parse(linesOf(pid).at(-1) ?? "") as LoopFigures;
    }),
  );
}

function linesOf(pid: number): string[] {
  try {
    return readFileSync(join(folder, String(pid)), "utf8")
      .trimEnd()
      .split("\n");
  } catch {
    return [];
  }
}

/** Table columns for `loopCells`. */
export const loopColumns = ["loop used", "loop delay p99", "longest collection"];

/** Returns table cells for `loopColumns`, each with one value for each process. */
export function loopCells(loops: readonly LoopFigures[]): string[] {
  const each = (text: (loop: LoopFigures) => string) => loops.map(text).join(", ");
  return [
    each(({ utilization }) => utilization.toFixed(2)),
    each(({ delayP99Ms }) => `${delayP99Ms.toFixed(1)} ms`),
    each(({ collectionMs }) => `${collectionMs.toFixed(1)} ms`),
  ];
}

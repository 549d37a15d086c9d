import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Histogram } from "../histogram.ts";
import { startServer } from "../server.ts";
import type { System, Variant } from "../system.ts";
import { type Mark, marksVariable } from "./marks.ts";
import { itemsOptions } from "./setting.ts";

/** A mark on the way of one job, and how long after the submission it was. */
export type TimelineMark = { readonly what: string; readonly after: Histogram };

/** A job as its client and the app saw it, monotonic microseconds. */
export type SeenJob = {
  readonly submittedAt: number;
  readonly arrivals: readonly number[];
  readonly endedAt: number;
};

/** The server with the marks of its submissions. */
type MarkedServer = { readonly variant: Variant; read(jobs: readonly SeenJob[]): Promise<TimelineMark[]> };

/** Runs `use` with a server that writes marks, which it reads once the server has stopped. */
export async function withMarks<T>(origin: string, use: (server: MarkedServer) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "svc-bench-marks-"));
  const file = join(folder, "marks");
  const nodeOptions = ["--import", fileURLToPath(new URL("./marks.ts", import.meta.url))];
  const start = (setup: Parameters<Variant["start"]>[0]): Promise<System> =>
    startServer(setup, { ...itemsOptions(origin), nodeOptions, environment: { [marksVariable]: file } });
  try {
    return await use({
      variant: { name: "svc", start },
      async read(jobs) {
        const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
        return marksOfMost(
          jobs,
          lines.slice(-jobs.length).map((line) => JSON.parse(line) as Mark[]),
        );
      },
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Returns the marks that most of the jobs have, in the order of their medians. Of a mark that a job has twice, the first counts. */
function marksOfMost(jobs: readonly SeenJob[], marksOf: readonly (readonly Mark[])[]): TimelineMark[] {
  const found = new Map<string, Histogram>();
  for (const [index, { submittedAt, arrivals, endedAt }] of jobs.entries()) {
    const seen = arrivals.map((at): Mark => ["request at the app", at]);
    const ended: Mark = ["client has the end", endedAt];
    const first = new Map([...(marksOf[index] ?? []), ...seen, ended].toReversed());
    for (const [what, at] of first) {
      const after = found.get(what) ?? new Histogram();
      after.record(at - submittedAt);
      found.set(what, after);
    }
  }
  return [...found]
    .map(([what, after]) => ({ what, after, ...after.summary() }))
    .filter(({ count }) => count > jobs.length / 2)
    .toSorted((a, b) => a.p50 - b.p50);
}

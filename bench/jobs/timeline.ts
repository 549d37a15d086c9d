import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Histogram } from "../histogram.ts";
import { startServer } from "../server.ts";
import type { System, Variant } from "../system.ts";
import { type Mark, marksVariable } from "./marks.ts";
import { itemsOptions } from "./setting.ts";

/** A mark within a job, and its time after the submission. */
export type TimelineMark = { readonly what: string; readonly after: Histogram };

/** A job as its client and the app saw it, in microseconds of the monotonic clock. */
export type SeenJob = {
  readonly submittedAt: number;
  readonly arrivals: readonly number[];
  readonly endedAt: number;
};

/** A server that writes the marks of its submissions. */
type MarkedServer = { readonly variant: Variant; read(jobs: readonly SeenJob[]): Promise<TimelineMark[]> };

/** Runs `use` with a server that writes marks. The marks are read after the server has stopped. */
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

/** Returns the marks that most jobs have, ordered by their medians. If a job has a mark twice, the first one counts. */
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

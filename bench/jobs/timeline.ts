import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Histogram } from "../histogram.ts";
import { startServer } from "../server.ts";
import type { System, Variant } from "../system.ts";
import { type Mark, marksVariable } from "./marks.ts";
import { itemsOptions } from "./setting.ts";

/** A part of the way of one job: from the mark before it to this one. */
export type TimelinePart = { readonly to: string; readonly took: Histogram };

/** A job as its client and the app saw it, monotonic microseconds. */
export type SeenJob = {
  readonly submittedAt: number;
  readonly arrivals: readonly number[];
  readonly endedAt: number;
};

/** The server with the marks of its submissions. */
type MarkedServer = { readonly variant: Variant; read(jobs: readonly SeenJob[]): Promise<TimelinePart[]> };

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
        return partsOf(
          jobs,
          lines.slice(-jobs.length).map((line) => JSON.parse(line) as Mark[]),
        );
      },
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * Returns the parts of the commonest way. Jobs of another way are left out: beside them the server did something else, such as a look for
 * due tasks.
 */
function partsOf(jobs: readonly SeenJob[], marksOf: readonly (readonly Mark[])[]): TimelinePart[] {
  const ways = jobs.map(({ submittedAt, arrivals, endedAt }, index) =>
    [
      ["submission sent", submittedAt] as const,
      ...(marksOf[index] ?? []),
      ...arrivals.map((at) => ["request at the app", at] as const),
      ["client has the end", endedAt] as const,
    ].toSorted(([, a], [, b]) => a - b),
  );
  const nameOf = (way: readonly Mark[]) => way.map(([what]) => what).join();
  const [common = []] = [...Map.groupBy(ways, nameOf).values()].toSorted((a, b) => b.length - a.length);
  return (common[0] ?? []).slice(1).map(([to], index) => {
    const took = new Histogram();
    for (const way of common) took.record((way[index + 1]?.[1] ?? 0) - (way[index]?.[1] ?? 0));
    return { to, took };
  });
}

import type { BenchContext } from "./case.ts";
import { familyCpuMs, processCpuMs } from "./cpu.ts";
import { spreadOf } from "./statistics.ts";
import type { System } from "./system.ts";

/**
 * Cost of work: processor time of the measured system, of its store and of the app or endpoint that it calls, and the data that the store
 * wrote. Undefined if it cannot be read, or if the system's store is not PostgreSQL.
 */
export type Costs = Readonly<Record<CostName, number | undefined>>;

type CostName = "system" | "store" | "app" | "commits" | "walBytes" | "fsyncs";

const costNames: readonly CostName[] = ["system", "store", "app", "commits", "walBytes", "fsyncs"];

/** Reads the costs so far, with processor time in microseconds. `appPid`: the process that the system calls. Default: the sink. */
export async function readCosts(ctx: BenchContext, system: System, appPid: number = ctx.sink.pid): Promise<Costs> {
  const { postmasterPid } = ctx.postgres;
  const { pid, otherPids = [], storePid } = system;
  const own = [pid, ...otherPids].map(processCpuMs);
  const store = storePid === undefined ? postmasterPid && familyCpuMs(postmasterPid) : processCpuMs(storePid);
  const written = storePid === undefined ? await ctx.postgres.readWritten() : undefined;
  return {
    system: micros(own.reduce((sum, ms) => (sum === undefined || ms === undefined ? undefined : sum + ms), 0)),
    store: micros(store),
    app: micros(processCpuMs(appPid)),
    commits: written?.commits,
    walBytes: written?.walBytes,
    fsyncs: written?.fsyncs,
  };
}

function micros(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms * 1000;
}

/** Returns the cost of each of `count` operations between two readings. */
export function costsEach(before: Costs, after: Costs, count: number): Costs {
  return costsOf((name) => {
    const [from, to] = [before[name], after[name]];
    return from === undefined || to === undefined ? undefined : (to - from) / count;
  });
}

/** Returns the medians of several rounds. */
export function medianCosts(rounds: readonly Costs[]): Costs {
  return costsOf((name) => {
    const known = rounds.map((costs) => costs[name]).filter((value) => value !== undefined);
    return known.length === 0 ? undefined : spreadOf(known).median;
  });
}

function costsOf(read: (name: CostName) => number | undefined): Costs {
  const [system, store, app, commits, walBytes, fsyncs] = costNames.map(read);
  return { system, store, app, commits, walBytes, fsyncs };
}

/** Table columns for `costCells`: for each operation, microseconds of processor time and the data that PostgreSQL wrote. */
export const costColumns = ["CPU us each: system", "store", "app", "commits each", "WAL bytes each", "fsyncs each"];

/** Returns table cells for `costColumns`. */
export function costCells({ system, store, app, commits, walBytes, fsyncs }: Costs): string[] {
  return [...[system, store, app].map((value) => whole(value)), ratio(commits), whole(walBytes), ratio(fsyncs)];
}

/** Note that explains `costColumns` to a reader. */
export const costsNote =
  "costs are each: processor time of the system's own processes, of PostgreSQL (or of the system's own server) and of the app; commits and fsyncs of the log as PostgreSQL counts them, which may be a second late, and bytes of its log";

function whole(value: number | undefined): string {
  return value === undefined ? "-" : Math.round(value).toLocaleString("en-US");
}

function ratio(value: number | undefined): string {
  return value === undefined ? "-" : value.toFixed(2);
}

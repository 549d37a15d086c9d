import type { BenchContext } from "./case.ts";
import { familyCpuMs, processCpuMs } from "./cpu.ts";
import { spreadOf } from "./statistics.ts";
import type { System } from "./system.ts";

/** Processor time of the server and of PostgreSQL; undefined where it cannot be read. */
export type CpuTimes = { readonly system: number | undefined; readonly postgres: number | undefined };

/** What both used so far, milliseconds. */
export function readCpuMs({ postgres: { postmasterPid } }: BenchContext, { pid }: System): CpuTimes {
  return {
    system: processCpuMs(pid),
    postgres: postmasterPid === undefined ? undefined : familyCpuMs(postmasterPid),
  };
}

/** Microseconds for each of `count`, between two readings. */
export function cpuMicrosEach(before: CpuTimes, after: CpuTimes, count: number): CpuTimes {
  const each = (from: number | undefined, to: number | undefined) =>
    from === undefined || to === undefined ? undefined : ((to - from) * 1000) / count;
  return { system: each(before.system, after.system), postgres: each(before.postgres, after.postgres) };
}

/** The medians of several rounds. */
export function medianCpu(rounds: readonly CpuTimes[]): CpuTimes {
  const median = (read: (cpu: CpuTimes) => number | undefined) => {
    const known = rounds.map(read).filter((micros) => micros !== undefined);
    return known.length === 0 ? undefined : spreadOf(known).median;
  };
  return { system: median(({ system }) => system), postgres: median(({ postgres }) => postgres) };
}

/** Columns of a table for `cpuEachCells`. */
export const cpuEachColumns = ["CPU us each: system", "PostgreSQL"];

/** Microseconds of both. */
export function cpuEachCells({ system, postgres }: CpuTimes): string[] {
  return [system, postgres].map((micros) => (micros === undefined ? "-" : Math.round(micros).toLocaleString("en-US")));
}

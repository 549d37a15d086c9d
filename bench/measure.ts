import type { BenchContext } from "./case.ts";
import { type Costs, costsEach, readCosts } from "./costs.ts";
import { familyCpuMs, processCpuMs } from "./cpu.ts";
import type { LoadOptions, LoadReport } from "./load.ts";
import { delay, monotonicMicros } from "./monotonic.ts";
import type { PostKindName } from "./post-kinds.ts";
import type { System, Variant } from "./system.ts";

/** Connections to the endpoint in every variant. It equals the server's default of SVC_ENDPOINT_CONCURRENCY. */
export const endpointConnections = 16;

/** Seconds of posting before the measured run, to compile code and to fill pools. */
export const warmUpSeconds = 2;

/** Longest time in microseconds until everything is recorded, after the last post was answered. */
const drainMicros = 120e6;

/** Share of one core that each process used, in percent. Undefined if it cannot be read. */
export type CpuShares = {
  readonly system: number | undefined;
  readonly postgres: number | undefined;
  readonly load: number | undefined;
  readonly sink: number | undefined;
};

/** Result of one measured run. */
export type Measurement = {
  readonly load: LoadReport;
  /** Posts answered 2xx a second, during the time of posting. */
  readonly acceptedPerSecond: number;
  /** Results recorded a second, from the first post to the last record. */
  readonly recordedPerSecond: number;
  readonly cpu: CpuShares;
  /** Cost of one post. */
  readonly costs: Costs;
};

/**
 * Starts a variant on a new database, runs `use`, and removes both, also after an error. `template`: a database to copy. `checkout`: the
 * checkout whose server is started. `processes`: its number of processes.
 */
export async function withSystem<T>(
  ctx: BenchContext,
  variant: Variant,
  options: {
    readonly post: PostKindName;
    readonly template?: string | undefined;
    readonly checkout?: string | undefined;
    readonly processes?: number | undefined;
  },
  use: (system: System) => Promise<T>,
): Promise<T> {
  const database = await ctx.postgres.createDatabase(
    `bench_${variant.name.replaceAll(/\W+/g, "_").toLowerCase()}`,
    options.template,
  );
  try {
    const endpointUrl = `http://127.0.0.1:${await ctx.sink.ask("port", null)}/hook`;
    const system = await variant.start({
      databaseUrl: database.url,
      post: options.post,
      endpointUrl,
      endpointConnections,
      checkout: options.checkout,
      processes: options.processes,
    });
    try {
      // The statements of the start are dropped, because they are not part of the measurement.
      if (ctx.isStatementsKept) await ctx.postgres.takeStatements(database.name);
      return await use(system);
    } finally {
      await system.stop();
      if (ctx.isStatementsKept) await showStatements(ctx, variant, database.name);
    }
  } finally {
    await database.drop();
  }
}

async function showStatements(ctx: BenchContext, { name }: Variant, database: string): Promise<void> {
  const lines = await ctx.postgres.takeStatements(database);
  process.stdout.write(`\nStatements of ${name}:\n${lines.join("\n")}\n`);
}

/**
 * Posts for a while and waits until all accepted work is recorded. Throws if a post was refused, or if accepted work is not recorded within
 * two minutes, because a rate with lost work would mean nothing. `appPid`: the process that the system calls. Default: the sink.
 */
export async function measure(
  ctx: BenchContext,
  system: System,
  load: Omit<LoadOptions, "port">,
  appPid?: number,
): Promise<Measurement> {
  await ctx.sink.ask("reset", null);
  const costsBefore = await readCosts(ctx, system, appPid);
  const recordedBefore = await system.recorded();
  const cpuBefore = readCpu(ctx, system);
  const startedAt = monotonicMicros();
  const report = await ctx.load.ask("run", { ...load, port: system.port });
  if (report.refused > 0 || report.accepted === 0) {
    throw new Error(
      `${report.refused} of ${report.refused + report.accepted} posts were refused: ${report.firstRefusal}`,
    );
  }
  await untilRecorded(system, recordedBefore + report.accepted);
  const recordedAt = monotonicMicros();
  return {
    load: report,
    acceptedPerSecond: (report.accepted * 1e6) / (report.endedAtMicros - report.startedAtMicros),
    recordedPerSecond: (report.accepted * 1e6) / (recordedAt - report.startedAtMicros),
    cpu: cpuShares(cpuBefore, readCpu(ctx, system), (recordedAt - startedAt) / 1000),
    costs: costsEach(costsBefore, await readCosts(ctx, system, appPid), report.accepted),
  };
}

/**
 * Waits until the expected number is recorded. A count makes the database scan a table, so it is repeated only after the missing results
 * could have come at 20,000 a second. Throws after two minutes.
 */
export async function untilRecorded(system: System, expected: number): Promise<void> {
  const giveUpAt = monotonicMicros() + drainMicros;
  for (;;) {
    const missing = expected - (await system.recorded());
    if (missing <= 0) return;
    if (monotonicMicros() > giveUpAt) throw new Error(`${missing} accepted posts were not recorded within two minutes`);
    await delay(Math.max(10, missing / 20));
  }
}

type CpuReading = Readonly<Record<keyof CpuShares, number | undefined>>;

function readCpu(ctx: BenchContext, system: System): CpuReading {
  const { postmasterPid } = ctx.postgres;
  return {
    system: processCpuMs(system.pid),
    postgres: postmasterPid === undefined ? undefined : familyCpuMs(postmasterPid),
    load: processCpuMs(ctx.load.pid),
    sink: processCpuMs(ctx.sink.pid),
  };
}

function cpuShares(before: CpuReading, after: CpuReading, elapsedMs: number): CpuShares {
  const share = (name: keyof CpuShares) => {
    const [from, to] = [before[name], after[name]];
    return from === undefined || to === undefined ? undefined : ((to - from) * 100) / elapsedMs;
  };
  return { system: share("system"), postgres: share("postgres"), load: share("load"), sink: share("sink") };
}

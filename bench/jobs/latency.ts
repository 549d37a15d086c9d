import { Pool } from "undici";
import { engineVariant, latencyEngineNames } from "../engines.ts";
import { Histogram } from "../histogram.ts";
import { withSystem } from "../measure.ts";
import { delay, monotonicMicros } from "../monotonic.ts";
import type { System, Variant } from "../system.ts";
import { runEngine } from "./engine-run.ts";
import { callStep, itemHeaders, type JobsSetting, jobServer, readCall, submission, submitJob } from "./setting.ts";
import { type SeenJob, type TimelineMark, withMarks } from "./timeline.ts";
import { watchToEnd } from "./watch.ts";

/** Steps of the long job, which is the largest number a program may have. */
export const chainSteps = 100;

/** Durations of one system's jobs, over all rounds. */
export type LatencyResult = {
  readonly variant: string;
  /** Durations of one-step jobs: until its request arrives at the app, and until the result. */
  readonly toFirst: Histogram;
  readonly whole: Histogram;
  /**
   * Durations of jobs with `chainSteps`: until the first request arrives, between two arrivals, and the total without the requests
   * themselves.
   */
  readonly chainToFirst: Histogram;
  readonly gap: Histogram;
  readonly overhead: Histogram;
};

/** A system, and a function that runs a job with a number of reads one after the other. */
type Contender = { readonly variant: Variant; run(system: System, steps: number): Promise<void> };

/** Two ways to wait for a job of the service: by a submission that is answered at the job's end, as with the engines, and by a stream. */
export const serverNames = { held: "svc", watched: "svc, WatchJob" } as const;

/** Pause between jobs in milliseconds, so that one job's remaining writes do not delay the next. */
const pauseMs = 20;

/** Runs jobs one at a time, by turns with the engines if they are installed. */
export async function measureJobLatency(setting: JobsSetting, hasEngines: boolean): Promise<LatencyResult[]> {
  const { settings, progress } = setting.ctx;
  const { rounds = 3 } = settings;
  const contenders = contendersOf(setting, hasEngines);
  const found = new Map(contenders.map((contender) => [contender, emptyResult(contender.variant.name)]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const [{ variant, run }, result] of found) {
      progress(`round ${round} of ${rounds}: jobs of ${variant.name}, one at a time`);
      await withSystem(setting.ctx, variant, { post: "calendar" }, (system) =>
        measureRound(setting, (steps) => run(system, steps), result),
      );
    }
  }
  return [...found.values()];
}

function contendersOf({ ctx, origin }: JobsSetting, hasEngines: boolean): Contender[] {
  const engines = latencyEngineNames.map((name) => ({
    variant: engineVariant(name),
    run: (system: System, steps: number) => runEngine(system, "chain", { origin, steps }),
  }));
  const server = jobServer(ctx.settings, origin);
  return [
    { variant: { ...server, name: serverNames.held }, run: runHeld },
    { variant: { ...server, name: serverNames.watched }, run: runWatched },
    ...(hasEngines ? engines : []),
  ];
}

function emptyResult(variant: string): LatencyResult {
  return {
    variant,
    toFirst: new Histogram(),
    whole: new Histogram(),
    chainToFirst: new Histogram(),
    gap: new Histogram(),
    overhead: new Histogram(),
  };
}

/** Returns the times of the marks within one job. A server that writes marks runs one-step jobs for it, one at a time. */
export async function measureTimeline(setting: JobsSetting): Promise<TimelineMark[]> {
  const { ctx, origin } = setting;
  const { seconds = 6 } = ctx.settings;
  ctx.progress("timeline of one job");
  return withMarks(origin, async ({ variant, read }) => {
    const jobs: SeenJob[] = [];
    await withSystem(ctx, variant, { post: "calendar" }, async (system) => {
      const timed = () => runTimed(setting, (steps) => runHeld(system, steps), 1);
      await warmUp(timed, 50, seconds);
      const endAt = monotonicMicros() + seconds * 1e6;
      while (monotonicMicros() < endAt) jobs.push(await timed());
    });
    return read(jobs);
  });
}

async function measureRound(
  setting: JobsSetting,
  run: (steps: number) => Promise<void>,
  result: LatencyResult,
): Promise<void> {
  const { seconds = 6 } = setting.ctx.settings;
  const timed = (steps: number) => runTimed(setting, run, steps);
  await warmUp(() => timed(1), 50, seconds);
  await warmUp(() => timed(chainSteps), 3, seconds);
  const requestMicros = await medianRequest(setting);
  const singlesEnd = monotonicMicros() + seconds * 1e6;
  while (monotonicMicros() < singlesEnd) {
    const { submittedAt, arrivals, endedAt } = await timed(1);
    result.toFirst.record((arrivals[0] ?? Number.NaN) - submittedAt);
    result.whole.record(endedAt - submittedAt);
  }
  const chainsEnd = monotonicMicros() + seconds * 1e6;
  while (monotonicMicros() < chainsEnd) {
    const { submittedAt, arrivals, endedAt } = await timed(chainSteps);
    result.chainToFirst.record((arrivals[0] ?? Number.NaN) - submittedAt);
    for (const [index, at] of arrivals.entries()) if (index > 0) result.gap.record(at - (arrivals[index - 1] ?? at));
    result.overhead.record(endedAt - submittedAt - chainSteps * requestMicros);
  }
}

/** Runs jobs before the measurement, so that the code is compiled. Runs fewer than `jobs` if they take longer than a measurement. */
async function warmUp(run: () => Promise<unknown>, jobs: number, seconds: number): Promise<void> {
  const endAt = monotonicMicros() + seconds * 1e6;
  for (let index = 0; index < jobs && monotonicMicros() < endAt; index += 1) await run();
}

async function runTimed(
  { provider }: JobsSetting,
  run: (steps: number) => Promise<void>,
  steps: number,
): Promise<SeenJob> {
  await delay(pauseMs);
  await provider.ask("remember", null);
  const submittedAt = monotonicMicros();
  await run(steps);
  const endedAt = monotonicMicros();
  const arrivals = await provider.ask("takeArrivals", null);
  if (arrivals.length !== steps) throw new Error(`${arrivals.length} requests reached the app for ${steps} steps`);
  return { submittedAt, arrivals, endedAt };
}

async function runHeld(system: System, steps: number): Promise<void> {
  const { status, lastError } = await submitJob(system, { ...chainProgram(steps), waitSeconds: 30 });
  if (status !== "JOB_STATUS_SUCCEEDED") throw new Error(`a job is ${status} after its wait: ${lastError}`);
}

async function runWatched(system: System, steps: number): Promise<void> {
  const { id } = await submitJob(system, chainProgram(steps));
  await watchToEnd(system, id);
}

function chainProgram(steps: number): { programJson: string } {
  const calls = Array.from({ length: steps }, (_, index) => callStep(`read_${index}`, readCall, `i${index}`));
  return submission(`Bench: ${steps} reads`, calls, { limits: { toolCalls: steps } });
}

/** Returns the median time of a step's request alone. */
async function medianRequest({ origin }: JobsSetting): Promise<number> {
  const pool = new Pool(origin, { connections: 1 });
  const took = new Histogram();
  for (let index = 0; index < 300; index += 1) {
    const startedAt = monotonicMicros();
    const { body } = await pool.request({ method: "GET", path: "/items/i1", headers: itemHeaders });
    await body.text();
    // The first requests do not count, because the code is still being compiled.
    if (index >= 100) took.record(monotonicMicros() - startedAt);
  }
  await pool.close();
  return took.summary().p50 * 1000;
}

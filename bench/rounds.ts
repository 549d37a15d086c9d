import type { BenchContext } from "./case.ts";
import { type Costs, medianCosts } from "./costs.ts";
import { type CpuShares, type Measurement, measure, warmUpSeconds, withSystem } from "./measure.ts";
import type { PostKindName } from "./post-kinds.ts";
import { type Spread, spreadOf } from "./statistics.ts";
import type { Variant } from "./system.ts";

/** Results of one variant over all rounds. */
export type RoundsResult = {
  readonly variant: string;
  /** Results recorded a second, for each round. */
  readonly rates: readonly number[];
  readonly recordedPerSecond: Spread;
  readonly acceptedPerSecond: Spread;
  /** Processor use in the round with the median rate. */
  readonly cpu: CpuShares;
  /** Cost, as the medians of the rounds. */
  readonly costs: Costs;
  /** Cost of each round. */
  readonly costsOfRounds: readonly Costs[];
};

/** Options of `runRounds`. */
export type RoundsOptions = {
  readonly post: PostKindName;
  readonly rounds: number;
  readonly seconds: number;
  /** Returns the database that a variant's database is copied from. Default: an empty one. */
  readonly templateOf?: (variant: Variant) => string | undefined;
};

/**
 * Measures variants by turns in several rounds, so that a slow minute of the machine affects all of them. Each measurement has a new
 * process, a new database and a warm-up that does not count.
 */
export async function runRounds(
  ctx: BenchContext,
  variants: readonly Variant[],
  options: RoundsOptions,
): Promise<RoundsResult[]> {
  const measurements = new Map<Variant, Measurement[]>(variants.map((variant) => [variant, []]));
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const [variant, found] of measurements) {
      ctx.progress(`round ${round} of ${options.rounds}: ${variant.name}`);
      found.push(await measureOnce(ctx, variant, options));
    }
  }
  return [...measurements].map(([variant, found]) => summarize(variant.name, found));
}

function measureOnce(ctx: BenchContext, variant: Variant, options: RoundsOptions): Promise<Measurement> {
  const { post, seconds } = options;
  const { connections } = ctx.settings;
  return withSystem(ctx, variant, { post, template: options.templateOf?.(variant) }, async (system) => {
    await measure(ctx, system, { post, connections, seconds: warmUpSeconds });
    return measure(ctx, system, { post, connections, seconds });
  });
}

function summarize(variant: string, found: readonly Measurement[]): RoundsResult {
  const rates = found.map(({ recordedPerSecond }) => recordedPerSecond);
  const byRate = found.toSorted((a, b) => a.recordedPerSecond - b.recordedPerSecond);
  const middle = byRate[Math.floor(byRate.length / 2)];
  return {
    variant,
    rates,
    recordedPerSecond: spreadOf(rates),
    acceptedPerSecond: spreadOf(found.map(({ acceptedPerSecond }) => acceptedPerSecond)),
    cpu: middle?.cpu ?? { system: undefined, postgres: undefined, load: undefined, sink: undefined },
    costs: medianCosts(found.map(({ costs }) => costs)),
    costsOfRounds: found.map(({ costs }) => costs),
  };
}

/** Ratios of two variants' rates, one for each round. Throws if one of the variants is missing. */
export function ratioOf(results: readonly RoundsResult[], over: string, under: string): Spread {
  const denominators = resultOf(results, under).rates;
  return spreadOf(resultOf(results, over).rates.map((rate, round) => rate / (denominators[round] ?? Number.NaN)));
}

/**
 * Ratios of the processor time that two variants and their stores need for a piece of work, one for each round. NaN if it cannot be read.
 * Throws if one of the variants is missing.
 */
export function cpuRatioOf(results: readonly RoundsResult[], over: string, under: string): Spread {
  const denominators = resultOf(results, under).costsOfRounds.map(cpuOf);
  const numerators = resultOf(results, over).costsOfRounds.map(cpuOf);
  return spreadOf(numerators.map((cpu, round) => cpu / (denominators[round] ?? Number.NaN)));
}

function cpuOf({ system, store }: Costs): number {
  return (system ?? Number.NaN) + (store ?? Number.NaN);
}

function resultOf(results: readonly RoundsResult[], name: string): RoundsResult {
  const result = results.find(({ variant }) => variant === name);
  if (result === undefined) throw new Error(`no variant is called ${name}`);
  return result;
}

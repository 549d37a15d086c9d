import type { BenchCase, BenchContext, Figure, PartReport } from "../case.ts";
import { costsNote } from "../costs.ts";
import { formatRate } from "../report.ts";
import { type RoundsResult, ratioOf } from "../rounds.ts";
import { eventVariants, measureEvents } from "../standing/events.ts";
import { type Herd, herdNames, measureHerd } from "../standing/herd.ts";
import { type IdleCosts, measureIdle } from "../standing/idle.ts";
import { measureStorm, type Storm } from "../standing/storm.ts";
import { spreadOf } from "../statistics.ts";

/** Names of the case's parts, for --steps. */
const partNames = ["events", "storm", "herd", "idle"] as const;

/** Default number of events in the storm and of idle schedules. A tenth as many schedules are due at once in the herd. */
const defaultEvents = 100_000;

/** Programs that start without a caller: by events, by a storm of events, many at the same time, and none. */
export const standing: BenchCase = {
  name: "standing",
  parts: partNames,
  about: "standing programs: events to runs, a storm that is collected, a herd due at once with peers, idle schedules",
  run: async (ctx) => {
    const { events = defaultEvents } = ctx.settings;
    const parts: PartReport[] = [];
    if (isWanted(ctx, "events")) parts.push(eventsPart(await measureEvents(ctx)));
    if (isWanted(ctx, "storm")) parts.push(stormPart(await measureStorm(ctx, events)));
    if (isWanted(ctx, "herd")) parts.push(herdPart(await measureHerd(ctx, Math.ceil(events / 10))));
    if (isWanted(ctx, "idle")) parts.push(idlePart(await measureIdle(ctx, events)));
    if (parts.length === 0) throw new Error(`no part of standing is called so; there are ${partNames.join(", ")}`);
    return parts;
  },
};

const columns = ["work", "measured"] as const;

function isWanted({ settings: { steps } }: BenchContext, part: (typeof partNames)[number]): boolean {
  return steps === undefined || new RegExp(steps).test(part);
}

function eventsPart(results: readonly RoundsResult[]): PartReport {
  const runs = results.find(({ variant }) => variant === eventVariants.runs)?.recordedPerSecond;
  return {
    part: "events",
    columns,
    rows: results.map(({ variant, recordedPerSecond, acceptedPerSecond, costs: { system, store } }) => [
      `${variant}, a second`,
      `${formatRate(recordedPerSecond)}; posts accepted ${formatRate(acceptedPerSecond)}; CPU each ${micros(system)}, store ${micros(store)}`,
    ]),
    figures: [
      ...(runs === undefined
        ? []
        : [{ name: "events to runs a second", value: runs, unit: "", aim: { atLeast: 5_000 } } as const]),
      {
        name: "events: runs / deliveries",
        value: ratioOf(results, eventVariants.runs, eventVariants.deliveries),
        unit: "",
        aim: { atLeast: 0.3 },
      },
    ],
    notes: [
      "events to runs: from the first post to the last run whose job is in the store, while jobs begin; each run has a lane of its own, and a job of one wait",
      costsNote,
    ],
  };
}

function stormPart({ events, runs, runsMax, postedSeconds, decidedSeconds }: Storm): PartReport {
  return {
    part: "storm",
    columns,
    rows: [
      [
        `a storm of ${count(events)} events, collected`,
        `${count(runs)} runs of at most ${count(runsMax)}; posted in ${postedSeconds.toFixed(1)} s, all decided about after ${decidedSeconds.toFixed(1)} s`,
      ],
    ],
    figures: [{ name: "storm: runs / bound", value: spreadOf([runs / runsMax]), unit: "", aim: { below: 1.000_001 } }],
    notes: [
      "storm: quiet 5 s, wait 1 min, at most 1,000 events, take last; the bound is a run each 1,000 events, each minute and at the end, and each event is in one window",
    ],
  };
}

function herdPart({ lags, delays }: Herd): PartReport {
  const lagNamed = (wanted: string) => lags.find(({ name }) => name === wanted);
  const own = lagNamed(herdNames.own);
  const worker = lagNamed(herdNames.graphileWorker);
  const boss = lagNamed(herdNames.pgBoss);
  return {
    part: "herd",
    columns,
    rows: [
      ...lags.map(
        ({ name, count: wanted, there, p50, p99, last }) =>
          [
            `${count(wanted)} due at once, ${name}`,
            `lag p50 ${seconds(p50)}, p99 ${seconds(p99)}, all ${seconds(last)}; ${count(there)} there at the end`,
          ] as const,
      ),
      ...delays.map(
        ({ name, count: jobs, p50, max }) =>
          [
            `jobs of a person beside them, ${name}`,
            `${count(jobs)} of a wait, longer than alone by ${seconds(p50)} p50, ${seconds(max)} at most`,
          ] as const,
      ),
    ],
    figures: [
      ...delays.map(({ name, max }) => ({
        name: `herd: delay of a person's job ${name}, at most`,
        ...figureOf(max / 1_000, "s", { below: 1 }),
      })),
      ...(own === undefined ? [] : [{ name: "herd: lag p99", ...figureOf(own.p99 / 1_000, "s", { below: 3 }) }]),
      ...(own === undefined || worker === undefined
        ? []
        : [{ name: "herd: rate, svc / graphile-worker", ...figureOf(worker.last / own.last, "", { atLeast: 0.7 }) }]),
      ...(own === undefined || boss === undefined
        ? []
        : [{ name: "herd: p50, pg-boss / svc", ...figureOf(boss.p50 / own.p50, "", { atLeast: 20 }) }]),
    ],
    notes: [
      "herd: schedules due in the same minute; the lag is from then to when the job is in the store, which is looked for every 50 ms while jobs run",
      "one killed: kill -9 of one of the two nodes when three of ten were there; it held a batch for the 30 s of its lease. Each ran once",
      "graphile-worker and pg-boss: one process, their own settings as in other cases, pg-boss looking each second; a job does nothing. They are waited for 2 minutes",
    ],
  };
}

function idlePart(costs: readonly IdleCosts[]): PartReport {
  return {
    part: "idle",
    columns,
    rows: costs.map(({ schedules, statements, costs: { system, store, commits, walBytes } }) => [
      `idle, ${count(schedules)} schedules, a minute`,
      [
        `${commits === undefined ? "-" : count(commits)} commits`,
        ...(statements === undefined ? [] : [`${count(statements)} statements`]),
        `CPU ${millis(system)}, store ${millis(store)}, ${walBytes === undefined ? "-" : count(walBytes)} bytes of log`,
      ].join("; "),
    ]),
    figures: [],
    notes: [
      "idle: one node, nothing due; commits are of all databases of the server. Statements are counted with --statements",
    ],
  };
}

function figureOf(value: number, unit: string, aim: Figure["aim"]): Omit<Figure, "name"> {
  return { value: spreadOf([value]), unit, aim };
}

function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

function micros(value: number | undefined): string {
  return value === undefined ? "-" : `${Math.round(value)} us`;
}

function millis(value: number | undefined): string {
  return value === undefined ? "-" : `${Math.round(value / 1_000)} ms`;
}

function seconds(ms: number): string {
  return Number.isFinite(ms) ? `${(ms / 1_000).toFixed(2)} s` : "not reached";
}

import type { BenchCase, CaseReport, Figure } from "../case.ts";
import { costCells, costColumns, costsNote } from "../costs.ts";
import { endpointConnections } from "../measure.ts";
import { peerVariant } from "../peer.ts";
import { cpuCells, cpuColumns, formatPerCpuSecond, formatRate } from "../report.ts";
import { cpuRatioOf, type RoundsResult, ratioOf, runRounds } from "../rounds.ts";
import { deliveringServer } from "../server-variant.ts";

const relay = "(a) bare relay";
const server = "(b) svc";
const uncounted = "(b0) svc, SVC_ACTIVITY=off";
const graphileWorker = "(c) graphile-worker";
const pgBoss = "(d) pg-boss";

/**
 * The whole way of an event from its post to its delivery. It is compared with a relay that stores nothing and with two job queues on the
 * same PostgreSQL, and is measured with and without the statistics counters. `--steps` selects variants.
 */
export const delivery: BenchCase = {
  name: "delivery",
  about: "deliveries a second, from post to recorded outcome, against a bare relay, graphile-worker and pg-boss",
  run: async (ctx) => {
    const { settings } = ctx;
    const subject = deliveringServer(settings, server);
    const peers = [
      peerVariant("relay", relay),
      subject,
      deliveringServer(settings, uncounted, { SVC_ACTIVITY: "off" }),
      peerVariant("graphile-worker", graphileWorker),
      peerVariant("pg-boss", pgBoss),
    ];
    const isProfile = settings.profileFolder !== undefined;
    const wanted = peers.filter(({ name }) => settings.steps === undefined || new RegExp(settings.steps).test(name));
    if (wanted.length === 0)
      throw new Error(`--steps is "${settings.steps}"; give a part of ${peers.map(({ name }) => name).join(", ")}`);
    const results = await runRounds(ctx, isProfile ? [subject] : wanted, {
      post: settings.post ?? "calendar",
      rounds: settings.rounds ?? (isProfile ? 1 : 3),
      seconds: settings.seconds ?? 6,
    });
    return report(results, isProfile);
  },
};

function figuresOf(results: readonly RoundsResult[]): Figure[] {
  const has = (name: string) => results.some(({ variant }) => variant === name);
  const ratio = (name: string, under: string, atLeast: number): Figure[] =>
    has(server) && has(under) ? [{ name, value: ratioOf(results, server, under), unit: "", aim: { atLeast } }] : [];
  const counters = () => {
    return { name: "b/b0, CPU each", value: cpuRatioOf(results, server, uncounted), unit: "", aim: { below: 1.02 } };
  };
  return [
    ...ratio("b/a", relay, 0.65),
    ...ratio("b/c", graphileWorker, 3),
    ...ratio("b/d", pgBoss, 2),
    ...(has(server) && has(uncounted) ? [counters()] : []),
  ];
}

function report(results: readonly RoundsResult[], isProfile: boolean): CaseReport {
  return {
    columns: [
      "variant",
      "deliveries/s",
      "posts accepted/s",
      "deliveries per CPU second",
      ...cpuColumns,
      ...costColumns,
    ],
    rows: results.map(({ variant, recordedPerSecond, acceptedPerSecond, cpu, costs }) => {
      return [
        variant,
        formatRate(recordedPerSecond),
        formatRate(acceptedPerSecond),
        formatPerCpuSecond(recordedPerSecond, cpu),
        ...cpuCells(cpu),
        ...costCells(costs),
      ];
    }),
    figures: isProfile ? [] : figuresOf(results),
    notes: [
      costsNote,
      "deliveries/s: posts accepted, divided by the time from the first post to the last recorded delivery",
      `every variant delivers over ${endpointConnections} keep-alive connections; the relay records nothing`,
      "CPU in percent of one core, from the round with the middle rate; a CPU second is one of the system's own process",
    ],
  };
}

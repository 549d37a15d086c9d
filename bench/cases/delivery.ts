import type { BenchCase, CaseReport } from "../case.ts";
import { costCells, costColumns, costsNote } from "../costs.ts";
import { endpointConnections } from "../measure.ts";
import { peerVariant } from "../peer.ts";
import { cpuCells, cpuColumns, formatPerCpuSecond, formatRate } from "../report.ts";
import { type RoundsResult, ratioOf, runRounds } from "../rounds.ts";
import { deliveringServer } from "../server-variant.ts";

const relay = "(a) bare relay";
const server = "(b) svc";
const graphileWorker = "(c) graphile-worker";
const pgBoss = "(d) pg-boss";

/** The whole way of an event, against a relay that stores nothing and two job queues on the same PostgreSQL. */
export const delivery: BenchCase = {
  name: "delivery",
  about: "deliveries a second, from post to recorded outcome, against a bare relay, graphile-worker and pg-boss",
  run: async (ctx) => {
    const { settings } = ctx;
    const subject = deliveringServer(settings, server);
    const peers = [
      peerVariant("relay", relay),
      subject,
      peerVariant("graphile-worker", graphileWorker),
      peerVariant("pg-boss", pgBoss),
    ];
    const isProfile = settings.profileFolder !== undefined;
    const results = await runRounds(ctx, isProfile ? [subject] : peers, {
      post: settings.post ?? "calendar",
      rounds: settings.rounds ?? (isProfile ? 1 : 3),
      seconds: settings.seconds ?? 6,
    });
    return report(results, isProfile);
  },
};

function report(results: readonly RoundsResult[], isProfile: boolean): CaseReport {
  const ratio = (name: string, under: string, atLeast: number) => {
    return { name, value: ratioOf(results, server, under), unit: "", aim: { atLeast } };
  };
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
    figures: isProfile ? [] : [ratio("b/a", relay, 0.65), ratio("b/c", graphileWorker, 3), ratio("b/d", pgBoss, 3)],
    notes: [
      costsNote,
      "deliveries/s: posts accepted, divided by the time from the first post to the last recorded delivery",
      `every variant delivers over ${endpointConnections} keep-alive connections; the relay records nothing`,
      "CPU in percent of one core, from the round with the middle rate; a CPU second is one of the system's own process",
    ],
  };
}

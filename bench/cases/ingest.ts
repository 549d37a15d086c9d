import type { BenchCase } from "../case.ts";
import { costCells, costColumns, costsNote } from "../costs.ts";
import { peerVariant } from "../peer.ts";
import { cpuCells, cpuColumns, formatRate } from "../report.ts";
import { ratioOf, runRounds } from "../rounds.ts";
import { storingServer } from "../server-variant.ts";

const server = "svc";
const noStore = "node:http, HMAC, no store";
const oneInsert = "node:http, HMAC, one INSERT";

/** Stores and acknowledges posts without any delivery, compared with the simplest handler that a developer would write. */
export const ingest: BenchCase = {
  name: "ingest",
  about:
    "posts acknowledged a second, against a bare node:http handler with an HMAC check, without a store and with one INSERT a post",
  run: async (ctx) => {
    const { settings } = ctx;
    const subject = storingServer(settings, server);
    const peers = [peerVariant("no-store", noStore), peerVariant("one-insert", oneInsert)];
    const isProfile = settings.profileFolder !== undefined;
    const results = await runRounds(ctx, isProfile ? [subject] : [subject, ...peers], {
      post: settings.post ?? "order",
      rounds: settings.rounds ?? (isProfile ? 1 : 3),
      seconds: settings.seconds ?? 6,
    });
    return {
      columns: ["variant", "posts acknowledged/s", ...cpuColumns, ...costColumns],
      rows: results.map(({ variant, acceptedPerSecond, cpu, costs }) => [
        variant,
        formatRate(acceptedPerSecond),
        ...cpuCells(cpu),
        ...costCells(costs),
      ]),
      figures: isProfile
        ? []
        : [
            { name: "svc / no store", value: ratioOf(results, server, noStore), unit: "", aim: { atLeast: 0.55 } },
            { name: "svc / one INSERT", value: ratioOf(results, server, oneInsert), unit: "", aim: { atLeast: 1 } },
          ],
      notes: [
        costsNote,
        "without a store the handler is the limit of node:http: what it acknowledges is lost with the process",
        "every acknowledged post was found in the database after the run",
      ],
    };
  },
};

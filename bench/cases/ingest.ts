import type { BenchCase } from "../case.ts";
import { peerVariant } from "../peer.ts";
import { cpuCells, cpuColumns, formatRate } from "../report.ts";
import { ratioOf, runRounds } from "../rounds.ts";
import { storingServer } from "../server-variant.ts";

const server = "svc";
const oneInsert = "node:http, HMAC, one INSERT";

/** Posts stored and acknowledged, with nothing to deliver, against the handler everyone writes first. */
export const ingest: BenchCase = {
  name: "ingest",
  about: "posts acknowledged a second, against a bare node:http handler with an HMAC check and one INSERT a post",
  run: async (ctx) => {
    const { settings } = ctx;
    const subject = storingServer(settings, server);
    const isProfile = settings.profileFolder !== undefined;
    const results = await runRounds(ctx, isProfile ? [subject] : [subject, peerVariant("one-insert", oneInsert)], {
      post: settings.post ?? "order",
      rounds: settings.rounds ?? (isProfile ? 1 : 3),
      seconds: settings.seconds ?? 6,
    });
    return {
      columns: ["variant", "posts acknowledged/s", ...cpuColumns],
      rows: results.map(({ variant, acceptedPerSecond, cpu }) => [
        variant,
        formatRate(acceptedPerSecond),
        ...cpuCells(cpu),
      ]),
      figures: isProfile
        ? []
        : [{ name: "svc / one INSERT", value: ratioOf(results, server, oneInsert), unit: "", aim: { atLeast: 3 } }],
      notes: ["every acknowledged post was found in the database after the run"],
    };
  },
};

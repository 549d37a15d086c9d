import { callRequest } from "../call-request.ts";
import type { BenchCase, CaseReport } from "../case.ts";
import { costCells, costColumns, costsNote, medianCosts } from "../costs.ts";
import { withSystem } from "../measure.ts";
import { postKind } from "../post-kinds.ts";
import { raiseQuotas } from "../quotas.ts";
import { formatRate, latencyCells, latencyColumns } from "../report.ts";
import { callServer } from "../server.ts";
import { storingServer } from "../server-variant.ts";
import { spreadOf } from "../statistics.ts";
import { type Call, type CallRun, takeTurns } from "./rpc.ts";

const type = "order.changed";
const schemaJson = JSON.stringify({
  type: "object",
  required: ["id", "topic", "order"],
  properties: { id: { type: "string" }, topic: { const: type }, order: { type: "object", required: ["currency"] } },
});
/** Payload of the published events. It equals the body of the compared posts, so both carry the same kilobyte. */
const [, payloadJson = ""] = postKind("order").request(1, 0).split("\r\n\r\n");
const event = { type, payloadJson };
const batchSize = 100;

const posts: Call = { name: "posts of an app, HMAC", posts: "order" };
const single: Call = { name: "PublishEvent", request: callRequest("svc.v1.TriggersService/PublishEvent", event) };
const batch: Call = {
  name: `PublishEvents of ${batchSize}`,
  request: callRequest("svc.v1.TriggersService/PublishEvents", { events: Array<object>(batchSize).fill(event) }),
  eachMakes: batchSize,
};

/**
 * Events that a project publishes itself, compared with webhook posts of an app with the same body. Both are measured by turns on one
 * process.
 */
export const publish: BenchCase = {
  name: "publish",
  about: "events published a second, one a call and in batches, against posts of an app with the same body",
  run: async (ctx) => {
    const runs = await withSystem(ctx, storingServer(ctx.settings, "svc"), { post: "order" }, async (system) => {
      await raiseQuotas(system, { calls: 1_000_000, posts: 1_000_000 });
      await callServer(system.port, "TriggersService/PutEventType", { name: type, schemaJson });
      const before = await system.recorded();
      const found = await takeTurns(ctx, system, [posts, single, batch]);
      const made = [...found.values()].flat().reduce((sum, run) => sum + run.made, 0);
      const stored = (await system.recorded()) - before;
      if (stored < made) throw new Error(`${made} events were answered, and ${stored} are stored`);
      return found;
    });
    return report(runs);
  },
};

function report(runs: ReadonlyMap<Call, CallRun[]>): CaseReport {
  const ratesOf = (call: Call) => (runs.get(call) ?? []).map(({ callsPerSecond }) => callsPerSecond);
  const ratioTo = (call: Call) =>
    spreadOf(ratesOf(call).map((rate, round) => rate / (ratesOf(posts)[round] ?? Number.NaN)));
  return {
    columns: ["way", "events stored/s", ...costColumns, ...latencyColumns],
    rows: [...runs].map(([call, found]) => {
      const last = found.at(-1);
      return [
        call.name,
        formatRate(spreadOf(ratesOf(call))),
        ...costCells(medianCosts(found.map(({ costs }) => costs))),
        ...(last === undefined ? [] : latencyCells(last.latency)),
      ];
    }),
    figures: [
      { name: "PublishEvent / posts", value: ratioTo(single), unit: "", aim: { atLeast: 0.9 } },
      { name: `PublishEvents of ${batchSize} / posts`, value: ratioTo(batch), unit: "", aim: { atLeast: 0.9 } },
    ],
    notes: [
      costsNote,
      "costs are those of one event; every event is checked against the schema of its type",
      "percentiles are those of calls in the last round",
    ],
  };
}

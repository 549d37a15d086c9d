import type { BenchCase, BenchContext } from "../case.ts";
import { costCells, costColumns, costsNote } from "../costs.ts";
import { endpointConnections } from "../measure.ts";
import { postKind } from "../post-kinds.ts";
import type { BenchDatabase } from "../postgres.ts";
import { cpuCells, cpuColumns, formatRate } from "../report.ts";
import { ratioOf, runRounds } from "../rounds.ts";
import { startServer } from "../server.ts";
import { deliveringServer } from "../server-variant.ts";

const pendingDeliveries = 100_000;
const withoutBacklog = "no backlog";
const withBacklog = "100,000 pending deliveries";

/** Fresh deliveries to a healthy endpoint, while very many deliveries wait for another endpoint that is dead. */
export const backlog: BenchCase = {
  name: "backlog",
  about: "fresh deliveries a second with 100,000 pending ones of a dead endpoint, against none",
  run: async (ctx) => {
    const { settings } = ctx;
    const template = await createBacklog(ctx);
    try {
      const variants = [deliveringServer(settings, withoutBacklog), deliveringServer(settings, withBacklog)];
      const isProfile = settings.profileFolder !== undefined;
      const results = await runRounds(ctx, isProfile ? variants.slice(1) : variants, {
        post: "calendar",
        rounds: settings.rounds ?? (isProfile ? 1 : 3),
        seconds: settings.seconds ?? 6,
        templateOf: ({ name }) => (name === withBacklog ? template.name : undefined),
      });
      return {
        columns: ["variant", "fresh deliveries/s", ...cpuColumns, ...costColumns],
        rows: results.map(({ variant, recordedPerSecond, cpu, costs }) => [
          variant,
          formatRate(recordedPerSecond),
          ...cpuCells(cpu),
          ...costCells(costs),
        ]),
        figures: isProfile
          ? []
          : [
              {
                name: "with / without",
                value: ratioOf(results, withBacklog, withoutBacklog),
                unit: "",
                aim: { atLeast: 0.9 },
              },
            ],
        notes: [
          costsNote,
          "the dead endpoint refuses connections; its deliveries came by real posts, and it is retried during the run",
        ],
      };
    } finally {
      await template.drop();
    }
  },
};

/** Creates a database in which the server has stored posts for an endpoint that refuses every connection. */
async function createBacklog(ctx: BenchContext): Promise<BenchDatabase> {
  ctx.progress(`filling a database with ${pendingDeliveries} pending deliveries`);
  const database = await ctx.postgres.createDatabase("bench_backlog_template");
  const { toolkitSlug, triggerSlug } = postKind("order");
  // Nothing serves port 9 (discard) today, and the system assigns it to no program.
  const endpointUrl = "http://127.0.0.1:9/dead";
  const setup = { databaseUrl: database.url, post: "order", endpointUrl, endpointConnections } as const;
  const subscriptions = [{ endpointUrl, toolkitSlug, triggerSlug }];
  const system = await startServer(setup, { subscriptions, counts: "pending", nodeOptions: [] });
  try {
    const { connections } = ctx.settings;
    const { accepted, firstRefusal } = await ctx.load.ask("run", {
      port: system.port,
      post: "order",
      connections,
      seconds: 300,
      postsMax: pendingDeliveries,
    });
    const pending = await system.recorded();
    if (pending !== pendingDeliveries) {
      throw new Error(`${accepted} posts were accepted and ${pending} deliveries are pending: ${firstRefusal}`);
    }
  } finally {
    await system.stop();
  }
  return database;
}

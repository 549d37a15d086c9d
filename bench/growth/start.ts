import type { BenchContext } from "../case.ts";
import { endpointConnections } from "../measure.ts";
import { postKind } from "../post-kinds.ts";
import type { BenchDatabase } from "../postgres.ts";
import { startServer } from "../server.ts";
import { profilerOptions } from "../server-variant.ts";
import type { System } from "../system.ts";

/**
 * Options of a start. `isFirst`: it is the first on its store and creates the subscription. `retention`: how long events are kept. Default:
 * forever.
 */
type StartOptions = { readonly isFirst?: boolean; readonly retention?: string };

/** Starts a server on a store. Results are counted at the sink, because counting millions of rows would affect the measurement. */
export async function startOn(ctx: BenchContext, { url }: BenchDatabase, options: StartOptions): Promise<System> {
  const endpointUrl = `http://127.0.0.1:${await ctx.sink.ask("port", null)}/hook`;
  const { toolkitSlug, triggerSlug } = postKind("order");
  const system = await startServer(
    { databaseUrl: url, post: "order", endpointUrl, endpointConnections },
    {
      subscriptions: options.isFirst ? [{ endpointUrl, toolkitSlug, triggerSlug }] : [],
      counts: "delivered",
      nodeOptions: profilerOptions(ctx.settings),
      environment: { SVC_EVENT_RETENTION: options.retention ?? "P365D" },
    },
  );
  return { ...system, recorded: () => ctx.sink.ask("count", null) };
}

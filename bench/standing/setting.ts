import type { BenchContext } from "../case.ts";
import { endpointConnections } from "../measure.ts";
import type { PostKindName } from "../post-kinds.ts";
import type { BenchDatabase } from "../postgres.ts";
import { raiseQuotas } from "../quotas.ts";
import { callServer, type ServerOptions, startServer } from "../server.ts";
import { profilerOptions } from "../server-variant.ts";
import type { System, Variant } from "../system.ts";

/** How nodes are started whose runs are to be bounded by nothing but what is measured. */
function unboundedRuns({ settings }: Pick<BenchContext, "settings">): ServerOptions {
  return {
    subscriptions: [],
    counts: "runs",
    nodeOptions: profilerOptions(settings),
    // Whose jobs are measured beside them may be another project's.
    environment: { SVC_STANDING_RUNS: "1000000", SVC_STANDING_MAX: "1000000", SVC_WEBHOOK_AUDIENCE: "projects" },
  };
}

/** A program that calls nothing: it starts, and waits for as long as the measurement lasts. */
export function idleProgram(title: string): object {
  return { version: 1, title, steps: [{ id: "pause", wait: "1h" }] };
}

/** Makes one standing program. */
export async function createProgram({ port }: Pick<System, "port">, slug: string, definition: object): Promise<void> {
  const definitionJson = JSON.stringify({ version: 1, ...definition });
  await callServer(port, "StandingService/CreateStandingProgram", { slug, definitionJson });
}

/** The server as a variant in which one standing program starts by each event of the post's trigger. */
export function listeningServer(ctx: BenchContext, name: string, definition: object): Variant {
  return {
    name,
    start: async (setup) => {
      const system = await startServer(setup, unboundedRuns(ctx));
      // They wait for the whole measurement: by default a project may have 20,000 that have not ended.
      await raiseQuotas(system, { jobs: 1_000_000 });
      await createProgram(system, "listens", definition);
      return system;
    },
  };
}

/** Starts nodes over one database, uses them, and stops them. */
export async function withNodes<T>(
  ctx: BenchContext,
  { url }: BenchDatabase,
  { count, post }: { readonly count: number; readonly post: PostKindName },
  use: (nodes: readonly [System, ...System[]]) => Promise<T>,
): Promise<T> {
  const endpointUrl = `http://127.0.0.1:${await ctx.sink.ask("port", null)}/hook`;
  const setup = { databaseUrl: url, post, endpointUrl, endpointConnections } as const;
  const first = await startServer(setup, unboundedRuns(ctx));
  const others: System[] = [];
  try {
    while (others.length < count - 1) others.push(await startServer(setup, unboundedRuns(ctx)));
    return await use([first, ...others]);
  } finally {
    for (const node of [first, ...others]) await node.stop();
  }
}

/** Calls at once while programs are made. */
const creators = 16;

/** Makes standing programs, each by a call. */
export async function createPrograms(
  system: System,
  count: number,
  definitionOf: (index: number) => object,
): Promise<void> {
  let next = 0;
  const create = async () => {
    for (let index = next++; index < count; index = next++)
      await createProgram(system, `program-${index}`, definitionOf(index));
  };
  await Promise.all(Array.from({ length: creators }, create));
}

import type { BenchContext } from "../case.ts";
import { endpointConnections } from "../measure.ts";
import type { PostKindName } from "../post-kinds.ts";
import type { BenchDatabase } from "../postgres.ts";
import { raiseQuotas } from "../quotas.ts";
import { callServer, type ServerOptions, startServer } from "../server.ts";
import { profilerOptions } from "../server-variant.ts";
import type { System, Variant } from "../system.ts";

/** Returns start options for nodes whose runs no quota limits. */
function unboundedRuns({ settings }: Pick<BenchContext, "settings">): ServerOptions {
  return {
    subscriptions: [],
    counts: "runs",
    nodeOptions: profilerOptions(settings),
    // Jobs of another project may be measured at the same time, so posts go to all projects.
    environment: { SVC_STANDING_RUNS: "1000000", SVC_STANDING_MAX: "1000000", SVC_WEBHOOK_AUDIENCE: "projects" },
  };
}

/** Returns a program that makes no calls: it starts and waits longer than the measurement. */
export function idleProgram(title: string): object {
  return { version: 1, title, steps: [{ id: "pause", wait: "1h" }] };
}

/** Creates one standing program. */
export async function createProgram({ port }: Pick<System, "port">, slug: string, definition: object): Promise<void> {
  const definitionJson = JSON.stringify({ version: 1, ...definition });
  await callServer(port, "StandingService/CreateStandingProgram", { slug, definitionJson });
}

/** Returns the server as a variant with one standing program that each event of the post's trigger starts. */
export function listeningServer(ctx: BenchContext, name: string, definition: object): Variant {
  return {
    name,
    start: async (setup) => {
      const system = await startServer(setup, unboundedRuns(ctx));
      // The quota is raised, because all jobs wait during the measurement and a project may have 20,000 unfinished jobs by default.
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

/** Number of calls at a time that create programs. */
const creators = 16;

/** Creates standing programs, one with each call. */
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

import type { BenchContext, BenchSettings } from "../case.ts";
import type { Child } from "../child.ts";
import { loopProbe } from "../loops.ts";
import { delay, monotonicMicros } from "../monotonic.ts";
import { postKind } from "../post-kinds.ts";
import type { providerCommands } from "../provider.ts";
import { callServer, type ServerOptions, startServer } from "../server.ts";
import { profilerOptions } from "../server-variant.ts";
import type { System, Variant } from "../system.ts";

/** What the parts of the case share: the app that jobs call, and where it is. */
export type JobsSetting = {
  readonly ctx: BenchContext;
  readonly provider: Child<typeof providerCommands>;
  readonly origin: string;
};

/** A tool that jobs call, and the request that it makes of the app. */
export type ItemCall = { readonly name: "read" | "write"; readonly tool: string; readonly method: "GET" | "PUT" };

/** A call that reads one item. */
export const readCall: ItemCall = { name: "read", tool: "bench_items.get_item", method: "GET" };

/** A call that changes one item, of an app that takes no idempotency key. */
export const writeCall: ItemCall = { name: "write", tool: "bench_items.close_item", method: "PUT" };

/** The body of the request that a call makes. */
export function bodyOf({ method }: ItemCall): string | undefined {
  return method === "PUT" ? JSON.stringify({ item: { type: "item_reference", state: "closed" } }) : undefined;
}

/** The headers that the app is sent, by hand as by the server. */
export const itemHeaders = { authorization: "Bearer bench", "content-type": "application/json" };

/** Whose account of the app it is. */
export const entityId = "bench";

/** A call step of a program, or a call of its map. */
export function callStep(id: string, { tool }: ItemCall, itemId: unknown): object {
  return { id, call: tool, entity: entityId, args: { item_id: itemId } };
}

/** The whole program as SubmitJob takes it. */
export function submission(title: string, steps: readonly object[], more: object = {}): { programJson: string } {
  return { programJson: JSON.stringify({ version: 1, title, ...more, steps }) };
}

/** How the server is started with an account of the app, counting the jobs that succeeded. */
export function itemsOptions(origin: string): Omit<ServerOptions, "nodeOptions"> {
  // With a deployment, posts would otherwise go to accounts alone.
  const posted = { webhook: { audience: "projects" } };
  const toolkits = { bench_items: { provider_base_url: origin }, calendar: posted, bench_orders: posted };
  return {
    subscriptions: [],
    counts: "jobs",
    deployment: JSON.stringify({ toolkits }),
    calls: [
      [
        "ConnectionsService/InitiateConnection",
        { toolkitSlug: "bench_items", entityId, scheme: "api_key", apiKey: "bench" },
      ],
    ],
  };
}

/** The server with an account of the app, counting the jobs that succeeded. */
export function jobServer(settings: BenchSettings, origin: string): Variant {
  return {
    name: "svc",
    start: (setup) => startServer(setup, { ...itemsOptions(origin), nodeOptions: profilerOptions(settings) }),
  };
}

/** The server with an account of the app and a subscription of the sink to the post's trigger, counting deliveries. */
export function deliveringJobServer(settings: BenchSettings, origin: string): Variant {
  return {
    name: "svc",
    start: (setup) => {
      const { toolkitSlug, triggerSlug } = postKind(setup.post);
      return startServer(setup, {
        ...itemsOptions(origin),
        subscriptions: [{ endpointUrl: setup.endpointUrl, toolkitSlug, triggerSlug }],
        counts: "delivered",
        nodeOptions: [...profilerOptions(settings), ...loopProbe.nodeOptions],
        environment: loopProbe.environment,
      });
    },
  };
}

/** What a job is read as, of what the case looks at. */
export type ReadJob = {
  readonly id: string;
  readonly status: string;
  readonly lastError?: string;
  readonly stepReceipts?: readonly { stepId: string; startedAt?: string; finishedAt?: string }[];
};

/** Submits a program. `waitSeconds`: the answer waits for its end. */
export async function submitJob(
  system: System,
  program: { programJson: string; waitSeconds?: number },
): Promise<ReadJob> {
  return ((await callServer(system.port, "JobsService/SubmitJob", program)) as { job: ReadJob }).job;
}

const patienceMicros = 1_200e6;

/** Waits until a job has the status. Throws when it ends or parks otherwise, or after twenty minutes. */
export async function untilStatus(system: System, id: string, status: string, pollMs: number): Promise<ReadJob> {
  const giveUpAt = monotonicMicros() + patienceMicros;
  for (;;) {
    const { job } = (await callServer(system.port, "JobsService/GetJob", { id })) as { job: ReadJob };
    if (job.status === status) return job;
    const isOver = /PARKED|SUCCEEDED|FAILED|ABORTED|EXPIRED|CANCELLED/.test(job.status);
    if (isOver || monotonicMicros() > giveUpAt) throw new Error(`a job is ${job.status}: ${job.lastError}`);
    await delay(pollMs);
  }
}

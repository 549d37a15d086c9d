import type { BenchContext, BenchSettings } from "../case.ts";
import type { Child } from "../child.ts";
import { loopProbe } from "../loops.ts";
import { delay, monotonicMicros } from "../monotonic.ts";
import { postKind } from "../post-kinds.ts";
import type { providerCommands } from "../provider.ts";
import { callServer, type ServerOptions, startServer } from "../server.ts";
import { profilerOptions } from "../server-variant.ts";
import type { System, Variant } from "../system.ts";

/** Values that the parts of the case share: the benchmark context, the app that jobs call, and its address. */
export type JobsSetting = {
  readonly ctx: BenchContext;
  readonly provider: Child<typeof providerCommands>;
  readonly origin: string;
};

/** A tool that jobs call, and the request that it sends to the app. */
export type ItemCall = { readonly name: "read" | "write"; readonly tool: string; readonly method: "GET" | "PUT" };

/** A call that reads one item. */
export const readCall: ItemCall = { name: "read", tool: "bench_items.get_item", method: "GET" };

/** A call that changes one item in an app without idempotency keys. */
export const writeCall: ItemCall = { name: "write", tool: "bench_items.close_item", method: "PUT" };

/** Returns the body of the request that a call sends to the app. Undefined for a read. */
export function bodyOf({ method }: ItemCall): string | undefined {
  return method === "PUT" ? JSON.stringify({ item: { type: "item_reference", state: "closed" } }) : undefined;
}

/** Headers sent to the app, both by the server and by the direct requests. */
export const itemHeaders = { authorization: "Bearer bench", "content-type": "application/json" };

/** The entity whose account of the app is used. */
export const entityId = "bench";

/** Returns a call step of a program, or the call of a map. */
export function callStep(id: string, { tool }: ItemCall, itemId: unknown): object {
  return { id, call: tool, entity: entityId, args: { item_id: itemId } };
}

/** Returns the message for SubmitJob with a whole program. */
export function submission(title: string, steps: readonly object[], more: object = {}): { programJson: string } {
  return { programJson: JSON.stringify({ version: 1, title, ...more, steps }) };
}

/** Returns the options for a server with an account of the app. Its results are the jobs that succeeded. */
export function itemsOptions(origin: string): Omit<ServerOptions, "nodeOptions"> {
  // A server with a deployment file would otherwise accept posts only for accounts.
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

/** Returns the server with an account of the app. Its results are the jobs that succeeded. */
export function jobServer(settings: BenchSettings, origin: string): Variant {
  return {
    name: "svc",
    start: (setup) => startServer(setup, { ...itemsOptions(origin), nodeOptions: profilerOptions(settings) }),
  };
}

/**
 * Returns the server with an account of the app and a subscription of the sink to the post's trigger. Its results are deliveries.
 * `environment`: further environment variables of the server.
 */
export function deliveringJobServer(
  settings: BenchSettings,
  origin: string,
  { name = "svc", environment = {} }: { name?: string; environment?: Readonly<Record<string, string>> } = {},
): Variant {
  return {
    name,
    start: (setup) => {
      const { toolkitSlug, triggerSlug } = postKind(setup.post);
      return startServer(setup, {
        ...itemsOptions(origin),
        subscriptions: [{ endpointUrl: setup.endpointUrl, toolkitSlug, triggerSlug }],
        counts: "delivered",
        nodeOptions: [...profilerOptions(settings), ...loopProbe.nodeOptions],
        environment: { ...loopProbe.environment, ...environment },
      });
    },
  };
}

/** The fields of a job that the case reads. */
export type ReadJob = {
  readonly id: string;
  readonly status: string;
  readonly lastError?: string;
  readonly stepReceipts?: readonly { stepId: string; startedAt?: string; finishedAt?: string }[];
};

/** Submits a program. With `waitSeconds`, the answer comes at the job's end. */
export async function submitJob(
  system: System,
  program: { programJson: string; waitSeconds?: number },
): Promise<ReadJob> {
  return ((await callServer(system.port, "JobsService/SubmitJob", program)) as { job: ReadJob }).job;
}

const patienceMicros = 1_200e6;

/** Waits until a job has the status. Throws if the job ends or parks with another one, or after twenty minutes. */
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

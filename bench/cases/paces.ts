import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { BenchCase, BenchContext, CaseReport } from "../case.ts";
import { delay, monotonicMicros } from "../monotonic.ts";
import { raiseQuotas } from "../quotas.ts";
import { callServer } from "../server.ts";
import { spreadOf } from "../statistics.ts";
import type { System } from "../system.ts";
import { withNodes } from "./nodes.ts";

const nodeCount = 3;
const type = "order.changed";
/** Limits of the two subscriptions: attempts a second of the first, attempts in flight of the second. */
const [ratePerSecond, atOnce] = [10, 2];
/** Time in milliseconds after which the endpoint of the second subscription answers. */
const answerMs = 1_000;
/** Time before the measurement begins. By then, each node has found work. */
const settleMs = 5_000;

/** What an endpoint has received: the start of each request, the most requests at a time, and the time spent with open requests. */
type Received = { startedAtMicros: number[]; open: number; openMax: number; openMicros: number };

/** Paces of subscriptions: whether several nodes together keep a rate and a number of requests in flight. */
export const paces: BenchCase = {
  name: "paces",
  about: "a rate of 10 a second and 2 requests in flight, kept by 3 nodes together (10 minutes)",
  run: (ctx) => {
    const options = { subscriptions: [], counts: "pending", nodeOptions: [] } as const;
    return withNodes(ctx, nodeCount, options, (systems) => measure(ctx, systems));
  },
};

async function measure(ctx: BenchContext, systems: readonly System[]): Promise<CaseReport> {
  const { seconds = 600 } = ctx.settings;
  const [first] = systems;
  if (first === undefined) throw new Error("a node was started");
  await raiseQuotas(first, { calls: 1_000_000, posts: 1_000_000 });
  await callServer(first.port, "TriggersService/PutEventType", { name: type });
  const paced = await startEndpoint(0);
  const limited = await startEndpoint(answerMs);
  try {
    const slugs = { toolkitSlug: "events", triggerSlug: type };
    const subscribe = (endpointUrl: string, pace: object) =>
      callServer(first.port, "TriggersService/CreateSubscription", { ...slugs, endpointUrl, pace });
    await subscribe(paced.url, { max: ratePerSecond, per: "1s" });
    await subscribe(limited.url, { concurrency: atOnce });
    await publishBacklog(systems, (seconds * 1.2 + settleMs / 500) * ratePerSecond);
    ctx.progress(`${seconds} seconds of deliveries from ${nodeCount} nodes`);
    await delay(settleMs);
    for (const { reset } of [paced, limited]) reset();
    await delay(seconds * 1_000);
    return report(paced.received(), limited.received(), seconds);
  } finally {
    for (const { stop } of [paced, limited]) await stop();
  }
}

/** Publishes more events than are delivered in the time of the measurement, the same number on each node. */
async function publishBacklog(systems: readonly System[], count: number): Promise<void> {
  const eachMax = 500;
  const events = Array.from({ length: eachMax }, () => ({ type, payloadJson: "{}" }));
  for (let made = 0; made < count; made += eachMax * systems.length)
    for (const { port } of systems) await callServer(port, "TriggersService/PublishEvents", { events });
}

/** Starts an endpoint that answers each request after a time in milliseconds. `reset` forgets what it has received so far. */
async function startEndpoint(afterMs: number) {
  let received: Received = { startedAtMicros: [], open: 0, openMax: 0, openMicros: 0 };
  const server = createServer((req, res) => {
    req.resume();
    const into = received;
    const startedAt = monotonicMicros();
    into.startedAtMicros.push(startedAt);
    into.open += 1;
    into.openMax = Math.max(into.openMax, into.open);
    res.on("close", () => {
      into.open -= 1;
      into.openMicros += monotonicMicros() - startedAt;
    });
    setTimeout(() => res.end(), afterMs);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received: () => received,
    reset: () => {
      received = { startedAtMicros: [], open: 0, openMax: 0, openMicros: 0 };
    },
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns the most requests that began within one second. */
function mostInSecond(startedAtMicros: readonly number[]): number {
  let [most, from] = [0, 0];
  for (const [index, at] of startedAtMicros.entries()) {
    while ((startedAtMicros[from] ?? at) <= at - 1e6) from += 1;
    most = Math.max(most, index - from + 1);
  }
  return most;
}

function report(paced: Received, limited: Received, seconds: number): CaseReport {
  const rate = paced.startedAtMicros.length / seconds;
  const mean = limited.openMicros / (seconds * 1e6);
  const figure = (name: string, value: number, aim: { readonly atLeast: number } | { readonly below: number }) =>
    ({ name, value: spreadOf([value]), unit: "", aim }) as const;
  return {
    columns: ["subscription", "requests", "mean", "most"],
    rows: [
      [
        `${ratePerSecond} a second`,
        String(paced.startedAtMicros.length),
        `${rate.toFixed(2)} a second`,
        `${mostInSecond(paced.startedAtMicros)} in a second`,
      ],
      [
        `${atOnce} in flight`,
        String(limited.startedAtMicros.length),
        `${mean.toFixed(2)} in flight`,
        `${limited.openMax} in flight`,
      ],
    ],
    figures: [
      figure("rate / limit", rate / ratePerSecond, { atLeast: 0.95 }),
      figure("rate / limit, upper bound", rate / ratePerSecond, { below: 1.05 }),
      figure("mean in flight / limit", mean / atOnce, { atLeast: 0.95 }),
      figure("most in flight", limited.openMax, { below: atOnce + 1 }),
    ],
    notes: [
      `${nodeCount} nodes, ${seconds} seconds, with more deliveries waiting than can be made in this time`,
      `the endpoint of the second subscription answers after ${answerMs} ms`,
    ],
  };
}

import { callRequest } from "../call-request.ts";
import type { BenchCase, BenchContext, BenchSettings, CaseReport } from "../case.ts";
import { type Child, startChild } from "../child.ts";
import { type Costs, costCells, costColumns, costsEach, costsNote, medianCosts, readCosts } from "../costs.ts";
import { warmUpSeconds, withSystem } from "../measure.ts";
import { formatRate } from "../report.ts";
import { startServer } from "../server.ts";
import { profilerOptions } from "../server-variant.ts";
import { spreadOf } from "../statistics.ts";
import type { System, Variant } from "../system.ts";
import type { LoopOptions, loopCommands } from "../undici-loop.ts";

/** A tool call, and the request that it sends to the app. */
export type CallKind = {
  readonly name: string;
  readonly tool: string;
  readonly args: object;
  /** Aim for calls a second, with everything on two cores. */
  readonly callsAim: number;
  readonly request: Pick<LoopOptions, "method" | "path" | "body">;
};

const entityId = "bench";
/** A call that reads and one that writes. */
export const callKinds: readonly CallKind[] = [
  {
    name: "read",
    tool: "incident_mgmt.get_incident",
    args: { incident_id: "P1" },
    callsAim: 5_500,
    request: { method: "GET", path: "/incidents/P1", body: undefined },
  },
  {
    name: "write",
    tool: "incident_mgmt.acknowledge_incident",
    args: { incident_id: "P1", from_email: "ana@example.com" },
    callsAim: 4_500,
    request: {
      method: "PUT",
      path: "/incidents/P1",
      body: JSON.stringify({ incident: { type: "incident_reference", status: "acknowledged" } }),
    },
  },
];

type Rates = { readonly called: number[]; readonly bare: number[]; readonly costs: Costs[] };

/** Cost of a call through the server, compared with sending the same request directly. */
export const call: BenchCase = {
  name: "call",
  about: "CallTool to a provider on this machine, every call in the ledger, against a bare undici loop",
  run: async (ctx) => {
    const origin = `http://127.0.0.1:${await ctx.sink.ask("port", null)}`;
    const loop = startChild<typeof loopCommands>(new URL("../undici-loop.ts", import.meta.url));
    try {
      const rates = await withSystem(ctx, callingServer(ctx.settings, origin), { post: "calendar" }, (system) =>
        takeTurns(ctx, { system, loop, origin }),
      );
      return report(rates);
    } finally {
      await loop.stop();
    }
  },
};

/** Returns the server as a variant, with an account of the app at `origin`. */
export function callingServer(settings: BenchSettings, origin: string): Variant {
  return {
    name: "calls",
    start: (setup) =>
      startServer(setup, {
        subscriptions: [],
        counts: "events",
        nodeOptions: profilerOptions(settings),
        deployment: JSON.stringify({ toolkits: { incident_mgmt: { provider_base_url: origin } } }),
        calls: [
          [
            "ConnectionsService/InitiateConnection",
            { toolkitSlug: "incident_mgmt", entityId, scheme: "api_key", apiKey: "bench" },
          ],
        ],
      }),
  };
}

type Parts = { readonly system: System; readonly loop: Child<typeof loopCommands>; readonly origin: string };

/** Measures both kinds of calls, through the server and directly, by turns. */
async function takeTurns(ctx: BenchContext, parts: Parts): Promise<ReadonlyMap<CallKind, Rates>> {
  const { rounds = 3, seconds = 6 } = ctx.settings;
  const rates = new Map(callKinds.map((kind): [CallKind, Rates] => [kind, { called: [], bare: [], costs: [] }]));
  for (const kind of callKinds) await makeCalls(ctx, parts, kind, warmUpSeconds);
  for (let round = 1; round <= rounds; round += 1) {
    for (const [kind, { called, bare, costs }] of rates) {
      ctx.progress(`round ${round} of ${rounds}: ${kind.name}`);
      const calls = await makeCalls(ctx, parts, kind, seconds);
      called.push(calls.perSecond);
      costs.push(calls.costs);
      bare.push(await requestsPerSecond(ctx, parts, kind, seconds));
    }
  }
  return rates;
}

/** Returns the request for a call, as it is sent to the server. */
export function requestOf({ tool, args }: CallKind): string {
  const message = { toolSlug: tool, argumentsJson: JSON.stringify(args), entityId };
  return callRequest("svc.v1.ToolsService/CallTool", message);
}

type Calls = { readonly perSecond: number; readonly costs: Costs };

async function makeCalls(ctx: BenchContext, { system }: Parts, kind: CallKind, seconds: number): Promise<Calls> {
  const { connections } = ctx.settings;
  const request = requestOf(kind);
  await ctx.sink.ask("reset", null);
  const before = await readCosts(ctx, system);
  const found = await ctx.load.ask("run", { port: system.port, post: { request }, connections, seconds });
  const costs = costsEach(before, await readCosts(ctx, system), found.accepted);
  const received = await ctx.sink.ask("count", null);
  // A call that fails is also answered with 200, so the requests that reached the app are counted instead.
  if (found.refused > 0 || received < found.accepted) {
    throw new Error(
      `${found.accepted} calls were answered and ${received} reached the provider: ${found.firstRefusal}`,
    );
  }
  return { perSecond: (found.accepted * 1e6) / (found.endedAtMicros - found.startedAtMicros), costs };
}

function requestsPerSecond(ctx: BenchContext, { loop, origin }: Parts, { request }: CallKind, seconds: number) {
  const headers = { authorization: "Token token=bench", from: "ana@example.com", "content-type": "application/json" };
  return loop.ask("run", { origin, ...request, headers, concurrency: ctx.settings.connections, seconds });
}

function report(rates: ReadonlyMap<CallKind, Rates>): CaseReport {
  return {
    columns: ["kind", "CallTool/s", "bare undici/s", ...costColumns],
    rows: [...rates].map(([{ name }, { called, bare, costs }]) => [
      name,
      formatRate(spreadOf(called)),
      formatRate(spreadOf(bare)),
      ...costCells(medianCosts(costs)),
    ]),
    figures: [...rates].map(([{ name, callsAim }, { called }]) => ({
      name: `${name}: CallTool`,
      value: spreadOf(called),
      unit: "a second",
      aim: { atLeast: callsAim },
    })),
    notes: [
      costsNote,
      "a read is one row of the ledger, written when it has ended; a write is committed before it is sent and settled after",
      "the bare loop is one process that sends the same request over as many connections and keeps no account of it",
      ...[...rates].map(([{ name }, { called, bare }]) => {
        const { median } = spreadOf(called.map((rate, round) => rate / (bare[round] ?? Number.NaN)));
        return `${name}s, CallTool / bare loop: ${median.toFixed(2)}; no aim was set`;
      }),
      "the provider answers 200 at once, with no body",
    ],
  };
}

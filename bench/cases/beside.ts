import type { BenchCase, BenchContext, BenchSettings, CaseReport } from "../case.ts";
import { type Child, startChild } from "../child.ts";
import { type Costs, costsEach, medianCosts, readCosts } from "../costs.ts";
import { mapRows } from "../jobs/map.ts";
import { jobServer, readCall, writeCall } from "../jobs/setting.ts";
import { singleJobRequest } from "../jobs/single.ts";
import { measure, withSystem } from "../measure.ts";
import type { PostKindName } from "../post-kinds.ts";
import type { providerCommands } from "../provider.ts";
import { raiseQuotas } from "../quotas.ts";
import { formatRate } from "../report.ts";
import { deliveringServer, storingServer } from "../server-variant.ts";
import { type Spread, spreadOf } from "../statistics.ts";
import type { System, Variant } from "../system.ts";
import { callingServer, callKinds, requestOf } from "./call.ts";
import { getTool, noOp } from "./rpc.ts";

/** Result of one slice (a few seconds) of a workload. */
type Slice = { readonly perSecond: number; readonly costs: Costs };
/** A workload: an action of a user, repeated again and again. */
type Work = {
  readonly name: string;
  /** Factor by which version 0.2 was to exceed the rate of commit 5bf05440, from which its work on speed began. */
  readonly gain?: number;
  slice(system: System, seconds: number): Promise<Slice>;
};
/** Workloads that run on the same server. */
type Group = { readonly server: Variant; readonly post: PostKindName; readonly works: readonly Work[] };
type Side = "before" | "now";
type Slices = Readonly<Record<Side, Slice[]>>;

/**
 * Measures the cost of a change. The servers of two checkouts run at the same time, and each workload runs on them by turns for a few
 * seconds. So a slow minute of the machine affects both.
 */
export const beside: BenchCase = {
  name: "beside",
  about: "this checkout against another, in turn",
  run: async (ctx) => {
    const provider = startChild<typeof providerCommands>(new URL("../provider.ts", import.meta.url));
    try {
      const found = new Map<Work, Slices>();
      for (const group of chosenOf(await groupsOf(ctx, provider), ctx.settings.besideWorks))
        await takeTurns(ctx, group, found);
      return report(found, ctx.settings);
    } finally {
      await provider.stop();
    }
  },
};

async function groupsOf(ctx: BenchContext, provider: Child<typeof providerCommands>): Promise<Group[]> {
  const { settings, sink } = ctx;
  const origin = `http://127.0.0.1:${await provider.ask("port", null)}`;
  const calling = callingServer(settings, `http://127.0.0.1:${await sink.ask("port", null)}`);
  const setting = { ctx, provider, origin };
  return [
    {
      server: storingServer(settings, "storing"),
      post: "order",
      works: [
        recordedWork(ctx, "ingest", "order"),
        answeredWork(ctx, "GetTool", getTool.request),
        { ...answeredWork(ctx, "no-op", noOp.request), gain: 1.4 },
      ],
    },
    {
      server: deliveringServer(settings, "delivering"),
      post: "calendar",
      works: [recordedWork(ctx, "delivery", "calendar")],
    },
    {
      server: calling,
      post: "calendar",
      works: callKinds.map((kind) => ({
        ...answeredWork(ctx, `CallTool, a ${kind.name}`, requestOf(kind)),
        gain: kind.name === "read" ? 1.35 : 1.3,
      })),
    },
    {
      server: jobServer(settings, origin),
      post: "calendar",
      works: [
        recordedWork(ctx, "single-step jobs", { request: singleJobRequest() }),
        ...[readCall, writeCall].map((call) => ({
          name: `rows of a map of ${call.name}s`,
          gain: 1.7,
          slice: async (system: System, seconds: number) => {
            const { rowsPerSecond, costs } = await mapRows(setting, system, call, Math.round(1_500 * seconds));
            return { perSecond: rowsPerSecond, costs };
          },
        })),
      ],
    },
  ];
}

/** Returns the workloads whose names match, or all if no name is given. */
function chosenOf(groups: readonly Group[], names: readonly string[]): Group[] {
  const patterns = names.map((name) => new RegExp(name));
  const isChosen = ({ name }: Work) => patterns.length === 0 || patterns.some((pattern) => pattern.test(name));
  return groups
    .map((group) => ({ ...group, works: group.works.filter(isChosen) }))
    .filter(({ works }) => works.length > 0);
}

/** Returns a workload of posts. A post counts when its result is recorded. */
function recordedWork(ctx: BenchContext, name: string, post: PostKindName | { readonly request: string }): Work {
  return {
    name,
    slice: async (system, seconds) => {
      const { costs, recordedPerSecond } = await measure(ctx, system, {
        post,
        connections: ctx.settings.connections,
        seconds,
      });
      return { perSecond: recordedPerSecond, costs };
    },
  };
}

/** Returns a workload of requests. A request counts when it is answered. */
function answeredWork(ctx: BenchContext, name: string, request: string): Work {
  return {
    name,
    slice: async (system, seconds) => {
      const before = await readCosts(ctx, system);
      const { connections } = ctx.settings;
      const found = await ctx.load.ask("run", { port: system.port, post: { request }, connections, seconds });
      if (found.refused > 0) throw new Error(`${found.refused} calls failed: ${found.firstRefusal}`);
      return {
        perSecond: (found.accepted * 1e6) / (found.endedAtMicros - found.startedAtMicros),
        costs: costsEach(before, await readCosts(ctx, system), found.accepted),
      };
    },
  };
}

const roundsDefault = 10;
const secondsDefault = 2;

async function takeTurns(ctx: BenchContext, { server, post, works }: Group, found: Map<Work, Slices>): Promise<void> {
  const { rounds = roundsDefault, seconds = secondsDefault, besideFolder, processes } = ctx.settings;
  const named = (side: Side): Variant => ({ ...server, name: `${server.name} ${side}` });
  const past = { post, checkout: besideFolder, processes: besideFolder === undefined ? undefined : processes };
  await withSystem(ctx, named("before"), past, (before) =>
    withSystem(ctx, named("now"), { post, processes }, async (now) => {
      const systems = { before, now };
      // The quotas are raised, because a project may make 20,000 requests a second by default, which is too few here.
      for (const system of [before, now]) await raiseQuotas(system, { calls: 1_000_000, posts: 1_000_000 });
      for (const work of works) {
        const { name, slice } = work;
        const slices: Slices = { before: [], now: [] };
        found.set(work, slices);
        // Warm-up, so that the code is compiled.
        for (const system of [before, now]) await slice(system, seconds * 2);
        for (let round = 1; round <= rounds; round += 1) {
          ctx.progress(`round ${round} of ${rounds}: ${name}`);
          // The two sides begin by turns, because the disk writes that one leaves behind slow down the next.
          const sides: readonly Side[] = round % 2 === 0 ? ["now", "before"] : ["before", "now"];
          for (const side of sides) slices[side].push(await slice(systems[side], seconds));
        }
      }
    }),
  );
}

/** Returns the names of the two sides: another checkout and this one, or one process and several. */
function namesOf({ besideFolder, processes }: BenchSettings): Readonly<Record<Side, string>> {
  if (besideFolder !== undefined || processes === undefined) return { before: "before", now: "now" };
  return { before: "1 process", now: processes === 1 ? "1 again" : `${processes} processes` };
}

/** Share of the earlier rate that must remain after a change. */
const keptShare = 0.97;

function report(found: ReadonlyMap<Work, Slices>, settings: BenchSettings): CaseReport {
  const names = namesOf(settings);
  const works = [...found];
  return {
    columns: [
      "work",
      `${names.before}, a second`,
      names.now,
      `CPU us each: system ${names.before}`,
      names.now,
      `PostgreSQL ${names.before}`,
      names.now,
      `commits each ${names.before}`,
      names.now,
      `WAL bytes each ${names.before}`,
      names.now,
    ],
    rows: works.map(([{ name }, { before, now }]) => [name, rate(before), rate(now), ...costPairs(before, now)]),
    figures: works.map(([{ name, gain = keptShare }, slices]) => ({
      name: `${name}: ${names.now} / ${names.before}`,
      value: ratios(slices),
      unit: "",
      aim: { atLeast: settings.areGainsAims ? gain : keptShare },
    })),
    notes: ["both servers are up all the time, each with a database of its own in the same PostgreSQL"],
  };
}

function rate(slices: readonly Slice[]): string {
  return formatRate(spreadOf(slices.map(({ perSecond }) => perSecond)));
}

function ratios({ before, now }: Slices): Spread {
  return spreadOf(now.map(({ perSecond }, round) => perSecond / (before[round]?.perSecond ?? Number.NaN)));
}

function costPairs(before: readonly Slice[], now: readonly Slice[]): string[] {
  const [past, present] = [before, now].map((slices) => medianCosts(slices.map(({ costs }) => costs)));
  const whole = [past?.system, present?.system, past?.store, present?.store];
  return [
    ...whole.map((micros) => (micros === undefined ? "-" : micros.toFixed(0))),
    ...[past?.commits, present?.commits].map((commits) => (commits === undefined ? "-" : commits.toFixed(2))),
    ...[past?.walBytes, present?.walBytes].map((bytes) => (bytes === undefined ? "-" : bytes.toFixed(0))),
  ];
}

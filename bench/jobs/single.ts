import { callRequest } from "../call-request.ts";
import { type Costs, medianCosts } from "../costs.ts";
import { type EngineName, engineNames, engineTitles, engineVariant } from "../engines.ts";
import { type Measurement, measure, warmUpSeconds, withSystem } from "../measure.ts";
import { peerVariant } from "../peer.ts";
import type { EngineWork } from "../peers/engine.ts";
import type { Variant } from "../system.ts";
import { callStep, type ItemCall, type JobsSetting, jobServer, readCall, submission, writeCall } from "./setting.ts";

/** Results of one system over all rounds. */
export type SingleResult = {
  readonly variant: string;
  /** Jobs a second, from the first submission to the last recorded end, one value for each round. Empty if the system is not installed. */
  readonly rates: readonly number[];
  /** Cost of one job, as the medians of the rounds. */
  readonly costs: Costs;
};

/** Names of the systems in the report. */
export const singleNames = {
  server: "svc",
  serverRead: "svc, a read",
  graphileWorker: "graphile-worker",
  pgBoss: "pg-boss",
  ...engineTitles,
} as const;

/** A system, and the request that submits a job to it. */
type Contender = { readonly variant: Variant; readonly request: string };

/** Measures jobs of one step, submitted over HTTP as fast as they are accepted, by turns with job queues and durable engines. */
export async function measureSingles(setting: JobsSetting, hasEngines: boolean): Promise<SingleResult[]> {
  const { settings, progress } = setting.ctx;
  const isProfile = settings.profileFolder !== undefined;
  const rounds = settings.rounds ?? (isProfile ? 1 : 3);
  const contenders = isProfile ? [server(setting)] : contendersOf(setting, hasEngines);
  const found = new Map<Contender, Measurement[]>(contenders.map((contender) => [contender, []]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const [contender, measurements] of found) {
      progress(`round ${round} of ${rounds}: single-step jobs of ${contender.variant.name}`);
      measurements.push(await measureOnce(setting, contender));
    }
  }
  return [...found].map(([{ variant }, measurements]) => ({
    variant: variant.name,
    rates: measurements.map(({ recordedPerSecond }) => recordedPerSecond),
    costs: medianCosts(measurements.map(({ costs }) => costs)),
  }));
}

function contendersOf(setting: JobsSetting, hasEngines: boolean): Contender[] {
  const { ctx, origin } = setting;
  const request = callRequest("jobs", { origin, itemId: "i1" });
  return [
    server(setting),
    {
      variant: { ...jobServer(ctx.settings, origin), name: singleNames.serverRead },
      request: singleJobRequest(readCall),
    },
    { variant: peerVariant("jobs-graphile-worker", singleNames.graphileWorker), request },
    { variant: peerVariant("jobs-pg-boss", singleNames.pgBoss), request },
    ...(hasEngines ? engineNames.map((name) => engine(setting, name)) : []),
  ];
}

function server({ ctx, origin }: JobsSetting): Contender {
  return { variant: jobServer(ctx.settings, origin), request: singleJobRequest() };
}

function engine({ origin }: JobsSetting, name: EngineName): Contender {
  const work: EngineWork = { origin, steps: 1 };
  return { variant: engineVariant(name), request: callRequest("bench/chain", work) };
}

async function measureOnce({ ctx, provider }: JobsSetting, { variant, request }: Contender): Promise<Measurement> {
  const { connections, seconds = 6 } = ctx.settings;
  const post = { request };
  return withSystem(ctx, variant, { post: "calendar" }, async (system) => {
    await measure(ctx, system, { post, connections, seconds: warmUpSeconds });
    return measure(ctx, system, { post, connections, seconds }, provider.pid);
  });
}

/** Returns the request that submits a job of one call to the server. Default: a write. */
export function singleJobRequest(call: ItemCall = writeCall): string {
  const program = submission(`Bench: one ${call.name}`, [callStep("item", call, "i1")]);
  return callRequest("svc.v1.JobsService/SubmitJob", program);
}

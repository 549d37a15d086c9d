import { callRequest } from "../call-request.ts";
import { type CpuShares, type Measurement, measure, withSystem } from "../measure.ts";
import { peerVariant } from "../peer.ts";
import type { Variant } from "../system.ts";
import { callStep, type JobsSetting, jobServer, submission, writeCall } from "./setting.ts";

/** What the rounds of one system gave. */
export type SingleResult = {
  readonly variant: string;
  /** Jobs a second, from the first submission to the last recorded end; a round each. */
  readonly rates: readonly number[];
  readonly cpu: CpuShares;
  /** The rate of the round that `cpu` is of. */
  readonly cpuRate: number;
};

/** The names of the systems, as the report has them. */
export const singleNames = { server: "svc", graphileWorker: "graphile-worker", pgBoss: "pg-boss" } as const;

/** Jobs of one write each, submitted over HTTP as fast as they are taken, in turn with two job queues. */
export async function measureSingles(setting: JobsSetting): Promise<SingleResult[]> {
  const { settings, progress } = setting.ctx;
  const isProfile = settings.profileFolder !== undefined;
  const rounds = settings.rounds ?? (isProfile ? 1 : 3);
  const variants = isProfile ? [jobServer(settings, setting.origin)] : allVariants(setting);
  const found = new Map<Variant, Measurement[]>(variants.map((variant) => [variant, []]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const [variant, measurements] of found) {
      progress(`round ${round} of ${rounds}: single-step jobs of ${variant.name}`);
      measurements.push(await measureOnce(setting, variant));
    }
  }
  return [...found].map(([{ name }, measurements]) => summarize(name, measurements));
}

function allVariants({ ctx, origin }: JobsSetting): Variant[] {
  return [
    jobServer(ctx.settings, origin),
    peerVariant("jobs-graphile-worker", singleNames.graphileWorker),
    peerVariant("jobs-pg-boss", singleNames.pgBoss),
  ];
}

async function measureOnce({ ctx, origin }: JobsSetting, variant: Variant): Promise<Measurement> {
  const { connections, seconds = 6 } = ctx.settings;
  const isServer = variant.name === singleNames.server;
  const post = { request: isServer ? singleJobRequest() : callRequest("jobs", { origin, itemId: "i1" }) };
  return withSystem(ctx, variant, { post: "calendar" }, async (system) => {
    await measure(ctx, system, { post, connections, seconds: 2 });
    return measure(ctx, system, { post, connections, seconds });
  });
}

/** The submission of a job of one write, as it is sent to the server. */
export function singleJobRequest(): string {
  const program = submission("Bench: one write", [callStep("close", writeCall, "i1")]);
  return callRequest("svc.v1.JobsService/SubmitJob", program);
}

function summarize(variant: string, found: readonly Measurement[]): SingleResult {
  const byRate = found.toSorted((a, b) => a.recordedPerSecond - b.recordedPerSecond);
  const middle = byRate[Math.floor(byRate.length / 2)];
  if (middle === undefined) throw new RangeError("a result needs at least one round");
  return {
    variant,
    rates: found.map(({ recordedPerSecond }) => recordedPerSecond),
    cpu: middle.cpu,
    cpuRate: middle.recordedPerSecond,
  };
}

import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { type Clock, optionalId, type ProjectId, requireProject, type Sealer, timeRange } from "@svc/core";
import { type ActivityStep, queryActivity } from "@svc/db/activity/query";
import { readFirstUses } from "@svc/db/activity/start";
import type { Executor } from "@svc/db/connect";
import {
  type LatencyLine,
  LatencyLineSchema,
  type LatencyStep,
  LatencyStepSchema,
  type QuerySeriesRequest,
  type QuerySeriesResponse,
  QuerySeriesResponseSchema,
  Series,
  type SeriesLine,
  SeriesLineSchema,
  type StatsService,
} from "@svc/gen/stats";
import { serverFaults } from "../errors.ts";
import { mcpPath } from "../http/mcp-path.ts";
import { readBacklog } from "./backlog.ts";
import { listFailures } from "./failures.ts";
import { search } from "./trace/search.ts";
import { readTrace, type TraceContext } from "./trace/trace.ts";
import { type WatchContext, watchProject } from "./watch-project.ts";

/** Series counted over time, by their names in the database. */
const activitySeries = ["events", "deliveries", "delivery_latency", "calls", "call_latency", "jobs"] as const;
export type ActivitySeries = (typeof activitySeries)[number];

/**
 * Upper limits of the latency buckets in milliseconds, without the last bucket, which has none. Each limit is 1.6 times the previous one.
 */
export const bucketBounds: readonly number[] = Array.from({ length: 23 }, (_, index) => {
  return Math.round(1.6 ** index * 100) / 100;
});

/** Returns the bucket of a latency, from 0 to 23. */
export function bucketOf(ms: number): number {
  if (ms <= 1) return 0;
  const guess = Math.min(bucketBounds.length, Math.ceil(Math.log(ms) / logOfStep));
  // The first guess may be wrong by one bucket, because the bucket limits and the logarithm are rounded. So the neighboring buckets are
  // also checked.
  if (guess > 0 && ms <= (bucketBounds[guess - 1] ?? 0)) return guess - 1;
  return guess < bucketBounds.length && ms > (bucketBounds[guess] ?? Number.POSITIVE_INFINITY) ? guess + 1 : guess;
}

const logOfStep = Math.log(1.6);

/** Returns a percentile of the latencies in milliseconds, such as the median if `share` is 0.5. Returns 0 if there are no values. */
function percentileOf(buckets: readonly number[], share: number): number {
  const total = buckets.reduce((sum, count) => sum + count, 0);
  const wanted = share * total;
  let below = 0;
  for (const [index, count] of buckets.entries()) {
    if (count > 0 && below + count >= wanted) {
      const low = index === 0 ? 0 : (bucketBounds[index - 1] ?? 0);
      const high = bucketBounds[index] ?? low;
      return low + ((high - low) * (wanted - below)) / count;
    }
    below += count;
  }
  return 0;
}

const names: readonly (readonly [Series, ActivitySeries])[] = [
  [Series.EVENTS, "events"],
  [Series.DELIVERIES, "deliveries"],
  [Series.DELIVERY_LATENCY, "delivery_latency"],
  [Series.CALLS, "calls"],
  [Series.CALL_LATENCY, "call_latency"],
  [Series.JOBS, "jobs"],
];

const minuteMs = 60_000;
const hourMs = 3_600_000;
/**
 * Maximum age in milliseconds for which charts use counts per minute. For older times they use counts per hour. svc deletes counts per
 * minute after 48 hours.
 */
const minutesKeptMs = 47 * hourMs;
const stepsMax = 1_500;
const defaultStepsMax = 200;

/** The parameters of QuerySeries. */
type StatsRequest = {
  readonly series: readonly (readonly [Series, ActivitySeries])[];
  readonly subject: string;
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly stepMs: number;
  readonly by: "minutes" | "hours";
};

/** Returns the answer of QuerySeries: the counts of a project over time. Throws the errors that the API declares for QuerySeries. */
async function querySeries(
  { db, clock }: { readonly db: Executor; readonly clock: Clock },
  projectId: ProjectId,
  request: QuerySeriesRequest,
): Promise<QuerySeriesResponse> {
  const { series, by, ...asked } = readRequest(request, clock.now());
  const wanted = series.map(([, name]) => name);
  const found = await queryActivity(db, projectId, by, { series: wanted, ...asked });
  const steps = Math.max(0, Math.ceil((asked.untilMs - asked.sinceMs) / asked.stepMs));
  const lines: SeriesLine[] = [];
  const latencies: LatencyLine[] = [];
  for (const [number, name] of series) {
    const own = found.filter((one) => one.series === name);
    if (own.length === 0) continue;
    if (name.endsWith("_latency")) latencies.push(latencyLine(number, own, steps));
    else lines.push(...linesOf(number, own, steps));
  }
  return create(QuerySeriesResponseSchema, {
    since: timestampFromMs(asked.sinceMs),
    stepSeconds: asked.stepMs / 1_000,
    steps,
    lines,
    latencies,
    bucketBoundsMs: [...bucketBounds],
  });
}

function readRequest(request: QuerySeriesRequest, nowMs: number): StatsRequest {
  const { sinceMs = nowMs - 24 * hourMs, untilMs = nowMs } = timeRange(request.since, request.until);
  const isOld = sinceMs < nowMs - minutesKeptMs;
  const unitMs = isOld ? hourMs : minuteMs;
  const stepMs = readStep(request.stepSeconds, Math.max(0, untilMs - sinceMs), unitMs);
  const subscriptionId = optionalId("sub", "subscriptionId", request.subscriptionId) ?? "";
  const series = names.filter(([number]) => request.series.length === 0 || request.series.includes(number));
  const ofSubject = request.series.length > 0 ? series : series.filter(([, name]) => isOfSubject(name, request));
  for (const [, name] of ofSubject) {
    if (subscriptionId !== "" && !name.startsWith("delive")) throw serverFaults.SUBJECT_INVALID("subscriptionId", name);
    if (request.toolSlug !== "" && !name.startsWith("call")) throw serverFaults.SUBJECT_INVALID("toolSlug", name);
  }
  const alignedMs = sinceMs - (sinceMs % stepMs);
  return {
    series: ofSubject,
    subject: subscriptionId || request.toolSlug,
    sinceMs: alignedMs,
    untilMs: Math.max(alignedMs, untilMs),
    stepMs,
    by: stepMs % hourMs === 0 ? "hours" : "minutes",
  };
}

/**
 * Decides which series a request gets if it names none. Returns true if the series `name` is among them. A request for one subscription
 * gets the series of deliveries. A request for one tool gets the series of calls. Any other request gets all series.
 */
function isOfSubject(name: ActivitySeries, { subscriptionId, toolSlug }: QuerySeriesRequest): boolean {
  if (subscriptionId !== "" && toolSlug === "") return name.startsWith("delive");
  return toolSlug === "" || subscriptionId !== "" || name.startsWith("call");
}

function readStep(stepSeconds: number, rangeMs: number, unitMs: number): number {
  if (stepSeconds === 0) return Math.max(1, Math.ceil(rangeMs / defaultStepsMax / unitMs)) * unitMs;
  const stepMs = stepSeconds * 1_000;
  if (stepMs % unitMs !== 0) throw serverFaults.STEP_INVALID(stepSeconds, `is not a multiple of ${unitMs / 1_000}`);
  if (rangeMs / stepMs > stepsMax)
    throw serverFaults.STEP_INVALID(stepSeconds, `makes more than ${stepsMax} steps in the time`);
  return stepMs;
}

/** Returns a count, limited to the largest value of the 32-bit number field that contains it in the answer. */
function counted(count: number): number {
  return Math.min(count, 0xffffffff);
}

function linesOf(series: Series, own: readonly ActivityStep[], steps: number): SeriesLine[] {
  const lines = new Map<string, number[]>();
  for (const { outcome, step, count } of own) {
    const counts = lines.get(outcome) ?? Array.from({ length: steps }, () => 0);
    lines.set(outcome, counts);
    if (step < steps) counts[step] = counted(count);
  }
  return [...lines].map(([outcome, counts]) => create(SeriesLineSchema, { series, outcome, counts }));
}

function latencyLine(series: Series, own: readonly ActivityStep[], steps: number): LatencyLine {
  const empty = () => Array.from({ length: bucketBounds.length + 1 }, () => 0);
  const byStep = Array.from({ length: steps }, empty);
  const total = empty();
  for (const { outcome, step, count } of own) {
    const bucket = Number(outcome);
    const buckets = byStep[step];
    if (buckets === undefined) continue;
    buckets[bucket] = (buckets[bucket] ?? 0) + count;
    total[bucket] = (total[bucket] ?? 0) + count;
  }
  return create(LatencyLineSchema, { series, steps: byStep.map(latencyStep), total: latencyStep(total) });
}

function latencyStep(buckets: readonly number[]): LatencyStep {
  const count = buckets.reduce((sum, one) => sum + one, 0);
  return create(LatencyStepSchema, {
    count: counted(count),
    buckets: count === 0 ? [] : buckets.map(counted),
    p50Ms: percentileOf(buckets, 0.5),
    p95Ms: percentileOf(buckets, 0.95),
    p99Ms: percentileOf(buckets, 0.99),
  });
}

/** Dependencies of GetStart. `isSandbox`: true if the sandbox plays apps. `publicUrl`: returns the address of the service. */
type StartOptions = {
  readonly db: Executor;
  readonly isSandbox: boolean;
  readonly publicUrl: () => string;
};

/** Returns the answer of GetStart: when a project first used each part of svc, and the addresses to use next. */
async function readStart({ db, isSandbox, publicUrl }: StartOptions, projectId: ProjectId) {
  const { eventAt, callAt, jobAt, agentCallAt } = await readFirstUses(db, projectId);
  const url = publicUrl().replace(/\/+$/, "");
  return {
    ...(eventAt !== undefined && { firstEventAt: timestampFromMs(eventAt) }),
    ...(callAt !== undefined && { firstCallAt: timestampFromMs(callAt) }),
    ...(jobAt !== undefined && { firstJobAt: timestampFromMs(jobAt) }),
    ...(agentCallAt !== undefined && { firstAgentCallAt: timestampFromMs(agentCallAt) }),
    ...{ sandbox: isSandbox, mcpUrl: `${url}${mcpPath}`, publicUrl: url },
  };
}

/** Creates StatsService. Every method uses the project of the calling key. */
export function createStatsService(
  context: WatchContext & StartOptions & TraceContext & { readonly sealer: Pick<Sealer, "open"> },
): ServiceImpl<typeof StatsService> {
  return {
    getStart: (_request, ctx) => readStart(context, requireProject(ctx).projectId),
    getBacklog: (_request, ctx) => readBacklog(context, requireProject(ctx).projectId),
    querySeries: (request, ctx) => querySeries(context, requireProject(ctx).projectId, request),
    watchProject: (request, ctx) => watchProject(context, request, ctx),
    listFailures: (request, ctx) => listFailures(context, requireProject(ctx).projectId, request),
    search: (request, ctx) => search(context, requireProject(ctx), request),
    trace: (request, ctx) => readTrace(context, requireProject(ctx), request),
  };
}

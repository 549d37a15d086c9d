import { batches, type Sweep } from "@svc/core";
import { sweepFailureGroups } from "@svc/db/activity/failures";
import { sweepActivity } from "@svc/db/activity/write";
import type { Database, Executor } from "@svc/db/connect";
import { hasDueErasure } from "@svc/db/erasures/repo";
import { type ErasureTimes, stepErasure } from "@svc/db/erasures/step";
import { type Dispatcher, eventSweep } from "@svc/delivery";
import { type Jobs, jobRowSweep, jobSweep } from "@svc/jobs";
import { type StandingParts, standingSweep } from "@svc/standing";
import { callPaceSweep, callSweep, vectorSweep } from "@svc/tools";
import {
  agentSubscriptionSweep,
  type Filters,
  quarantineSealSweep,
  replaySweep,
  warningSweep,
  webhookSecretSweep,
} from "@svc/triggers";
import type { Apps } from "./apps.ts";
import { consoleSweep } from "./console-sweep.ts";
import { deadTaskSweep } from "./dead-tasks.ts";
import { grantSweep } from "./grant-sweep.ts";
import { type EngineName, engineNames, type NodeParts } from "./parts.ts";
import { startRetention } from "./retention.ts";
import type { ToolkitSources } from "./sources.ts";

const everyMs = 10_000;

/**
 * Default times of an erasure, in milliseconds. `graceMs`: minimum time before the last deletion, so that running calls can end first.
 * `jobsMs`: maximum wait for cancelled jobs to end. `pollMs`: interval between checks of jobs.
 */
const erasureTimes: ErasureTimes = { graceMs: 120_000, jobsMs: 600_000, pollMs: 10_000 };

/**
 * Returns the sweep that continues erasures of entities (customers or users) and projects, batch by batch. It deletes only what a caller
 * asked to erase; other sweeps delete expired rows.
 */
function erasureSweep({ db, times }: { db: Database; times?: Partial<ErasureTimes> | undefined }): Sweep {
  const all = { ...erasureTimes, ...times };
  return {
    what: "erasures",
    everyMs: Math.min(everyMs, all.pollMs),
    async *round(nowMs) {
      if (!(await hasDueErasure(db, nowMs))) return;
      while ((await stepErasure(db, nowMs, all)) !== undefined) yield true;
    },
  };
}

/**
 * Settings of the sweep that deletes expired activity counters. `eventRetentionMs`: time for which events and hourly counters are kept, in
 * milliseconds.
 */
type ActivitySweepOptions = { readonly db: Executor; readonly eventRetentionMs: number };

/** Time in milliseconds for which activity counters per minute are kept. Activity counters per hour are kept as long as events. */
const minutesKeptMs = 48 * 3_600_000;
/** Time in milliseconds for which groups of failures are kept, from the start of their day. */
const failuresKeptMs = 8 * 86_400_000;
const batchMax = 2_000;

/** Returns the sweep (regular task) that deletes expired activity counters. It runs every hour. */
export function activitySweep({ db, eventRetentionMs }: ActivitySweepOptions): Sweep {
  return {
    what: "activity",
    everyMs: 3_600_000,
    async *round(nowMs) {
      yield* batches(batchMax, () => sweepActivity(db, "minutes", nowMs - minutesKeptMs, batchMax));
      yield* batches(batchMax, () => sweepActivity(db, "hours", nowMs - eventRetentionMs, batchMax));
      yield* batches(batchMax, () => sweepFailureGroups(db, nowMs - failuresKeptMs, batchMax));
    },
  };
}

const standingRunsMsDefault = 30 * 86_400_000;

/**
 * Starts a background engine. Returns a handle that stops the engine. Returns undefined if the engine needs no handle, because the drain of
 * the node (finishing work before shutdown) already stops it.
 */
type Starter = () => { stop(): Promise<void> } | undefined;

/** Everything that the background engines of a node work with. */
type Engines = {
  readonly dispatcher: Dispatcher;
  readonly apps: Apps;
  readonly jobs: Jobs;
  readonly standing: StandingParts;
  readonly sources: Pick<ToolkitSources, "watcher">;
  /** Applies the filters of subscriptions to the warnings that a background task publishes as events. */
  readonly filters: Filters;
};

/**
 * Creates the background engines that this node is configured to run. `start` starts all of them together, and only once. `stop` ends the
 * engines for renewal, sources, schedules and retention. The engines for deliveries and jobs are ended by the node's own shutdown.
 */
export function createEngines(
  { clock, observer, engines: names = engineNames, ...parts }: NodeParts,
  engines: Engines,
): { start(): void; stop(): Promise<void> } {
  const { dispatcher, apps, jobs, standing, sources } = engines;
  const sweeps = sweepsOf({ ...parts, clock }, engines);
  const starters: Readonly<Record<EngineName, Starter>> = {
    deliveries: () => void dispatcher.start(),
    jobs: () => void jobs.engine.start(),
    shortJobs: () => void jobs.engine.start({ claims: false }),
    standing() {
      standing.engine.start();
      return standing.engine;
    },
    renewal() {
      apps.refresher.start();
      return apps.refresher;
    },
    sources() {
      sources.watcher.start();
      return sources.watcher;
    },
    retention: () => startRetention({ clock, sweeps, onError: observer.sweepFailed }),
  };
  let started: ReturnType<Starter>[] = [];
  let isStopped = false;
  return {
    start() {
      if (!isStopped) started = names.map((name) => starters[name]());
    },
    async stop() {
      isStopped = true;
      await Promise.all(started.map((engine) => engine?.stop()));
    },
  };
}

/** Returns the sweeps of a node: loops that delete expired rows. */
function sweepsOf(
  { db, clock, sealer, limits }: Pick<NodeParts, "db" | "clock" | "sealer" | "limits">,
  { dispatcher, filters }: Pick<Engines, "dispatcher" | "filters">,
): readonly Sweep[] {
  const { eventsMs, callsMs, jobRowsMs, jobsMs } = limits.retention;
  return [
    eventSweep({ db, eventRetentionMs: eventsMs }),
    replaySweep({ db, eventRetentionMs: eventsMs }),
    quarantineSealSweep({ db, sealer }),
    webhookSecretSweep({ db }),
    callSweep({ db, callRetentionMs: callsMs }),
    callPaceSweep({ db }),
    vectorSweep({ db }),
    activitySweep({ db, eventRetentionMs: eventsMs }),
    consoleSweep({ db }),
    grantSweep({ db }),
    agentSubscriptionSweep({ db, clock, dispatcher }),
    jobRowSweep({ db, rowRetentionMs: Math.min(jobRowsMs, jobsMs ?? jobRowsMs) }),
    ...(jobsMs === undefined ? [] : [jobSweep({ db, jobRetentionMs: jobsMs })]),
    standingSweep({ db, runRetentionMs: limits.retention.standingRunsMs ?? standingRunsMsDefault }),
    deadTaskSweep(db),
    warningSweep({ db, filters, onDue: () => dispatcher.wake() }),
    erasureSweep({ db, times: limits.erasures }),
  ];
}

import type { Sweep } from "@svc/core";
import { type Dispatcher, eventSweep } from "@svc/delivery";
import { type Jobs, jobRowSweep, jobSweep } from "@svc/jobs";
import { type Standing, standingSweep } from "@svc/standing";
import { callPaceSweep, callSweep, vectorSweep } from "@svc/tools";
import { agentSubscriptionSweep, quarantineSealSweep, replaySweep } from "@svc/triggers";
import { activitySweep } from "./activity-sweep.ts";
import type { Apps } from "./apps.ts";
import { consoleSweep } from "./console-sweep.ts";
import { deadTaskSweep } from "./dead-tasks.ts";
import { erasureSweep } from "./erasure-sweep.ts";
import { grantSweep } from "./grant-sweep.ts";
import { type EngineName, engineNames, type NodeParts } from "./parts.ts";
import { startRetention } from "./retention.ts";

const standingRunsMsDefault = 30 * 86_400_000;

/** How an engine is started and what ends it: those that are drained need no more. */
type Starter = () => { stop(): Promise<void> } | undefined;

/** What works in the background, as the node made it. */
type Engines = {
  readonly dispatcher: Dispatcher;
  readonly apps: Apps;
  readonly jobs: Jobs;
  readonly standing: Standing;
};

/** The engines that a node's parts name: started together, once, and ended where they are not drained. */
export function createEngines(
  { clock, observer, engines: names = engineNames, ...parts }: NodeParts,
  engines: Engines,
): { start(): void; stop(): Promise<void> } {
  const { dispatcher, apps, jobs, standing } = engines;
  const sweeps = sweepsOf({ ...parts, clock }, dispatcher);
  const starters: Readonly<Record<EngineName, Starter>> = {
    deliveries: () => void dispatcher.start(),
    jobs: () => void jobs.engine.start(),
    standing() {
      standing.engine.start();
      return standing.engine;
    },
    renewal() {
      apps.refresher.start();
      return apps.refresher;
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

/** What removes rows that are past their time. */
function sweepsOf(
  { db, clock, sealer, limits }: Pick<NodeParts, "db" | "clock" | "sealer" | "limits">,
  dispatcher: Dispatcher,
): readonly Sweep[] {
  const { eventsMs, callsMs, jobRowsMs, jobsMs } = limits.retention;
  return [
    eventSweep({ db, eventRetentionMs: eventsMs }),
    replaySweep({ db, eventRetentionMs: eventsMs }),
    quarantineSealSweep({ db, sealer }),
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
    erasureSweep({ db, times: limits.erasures }),
  ];
}

import { randomInt } from "node:crypto";
import { type CatalogViews, createCatalogViews } from "@svc/catalog";
import {
  type ConnectLinks,
  createConnectLinks,
  createDeploymentSecrets,
  type DeploymentSecrets,
} from "@svc/connections";
import {
  type AddressGuard,
  createAddressGuard,
  createId,
  createThreadPool,
  createWorkMeter,
  type NodeId,
  type WorkMeter,
} from "@svc/core";
import { createDispatcher, type Dispatcher } from "@svc/delivery";
import { createJobs, type Jobs, readSkillToolkits, readTitledPrograms } from "@svc/jobs";
import { evaluationThread } from "@svc/program";
import { createStanding, type StandingParts } from "@svc/standing";
import {
  type CodeCaller,
  type CodeFinder,
  createMeaningFinder,
  type McpServer,
  type PersonAsker,
  type ToolFinder,
  wordFinder,
} from "@svc/tools";
import {
  createBodyRenderer,
  createEventPolls,
  createFilters,
  createIngest,
  createPrivateWebhooks,
  createQuarantine,
  createReplayEngine,
  createRouting,
  type Ingest,
  operationalToolkit,
  type Quarantine,
  readEventToolkits,
} from "@svc/triggers";
import { createAgents } from "./agents.ts";
import { type Apps, createApps } from "./apps.ts";
import { createEngines } from "./engines.ts";
import type { NodeParts } from "./parts.ts";
import { createServices, type RegisterServices } from "./services.ts";
import { settledWithin } from "./settled-within.ts";
import { createSources } from "./sources.ts";

/**
 * The engines and domain services of one process, working on one database. A node sends requests to apps and endpoints. It does not listen
 * on a port; the server does.
 */
export type Node = {
  readonly nodeId: NodeId;
  /** The tools of the catalog that each project can see. */
  readonly views: CatalogViews;
  /** Checks that svc may connect to the address of an endpoint. */
  readonly guard: AddressGuard;
  readonly dispatcher: Dispatcher;
  readonly apps: Apps;
  readonly jobs: Jobs;
  /** The part of the node that starts schedules: when a time comes, an event arrives or a poll finds new rows. */
  readonly standing: StandingParts;
  /** Receives the posts that providers (apps) send to incoming webhooks. */
  readonly ingest: Ingest;
  readonly quarantine: Quarantine;
  /** The MCP server of this node, which offers tools, tasks and events to agents. */
  readonly mcp: McpServer;
  /** Measures how much time requests and jobs use, and watches for work that blocks the event loop. */
  readonly meter: WorkMeter;
  /** The secrets that belong to the deployment and not to a project. */
  readonly deploymentSecrets: DeploymentSecrets;
  /** Opens connect links, with which people connect accounts. */
  readonly connectLinks: ConnectLinks;
  /**
   * Adds the domain services to a router: catalog, connections, secrets, tools, triggers, jobs, contacts and standing programs (schedules).
   */
  readonly register: RegisterServices;
  /**
   * Starts the engines that the node's parts name. Only the first call has an effect. `released`: a promise; the engines start only when it
   * resolves. It is given if the node runs on a restored backup, and resolves when an operator lets the node work.
   */
  start(released?: Promise<void>): void;
  /**
   * Looks for due jobs and standing programs (schedules) at once. The caller uses it when another node reports due work
   * (`NodeParts.onDueElsewhere`).
   */
  wake(): void;
  /**
   * Finishes work in progress within `graceMs`, in this order: webhook posts (so that their first deliveries can start), deliveries, jobs,
   * calls. Waits for requests that were already sent to an app, to record their outcome. Finally returns the leases (the node's rights to
   * unfinished work), so that other nodes can take the work.
   */
  drain(graceMs: number): Promise<void>;
  /**
   * Stops background work and closes the connections to apps. The results of tool calls that were using these connections are still
   * recorded.
   */
  close(): Promise<void>;
};

/**
 * Creates a node from its parts. The node accepts tool calls and webhook posts at once, but its background engines run only after a call of
 * `start`.
 */
export function createNode(parts: NodeParts): Node {
  const { db, clock, sealer, catalog, limits, observer, onDueElsewhere } = parts;
  const nodeId = parts.nodeId ?? createId("node", clock.now());
  const views = createCatalogViews({
    catalog,
    db,
    clock,
    onBroken: observer.toolkitBroken,
    extraToolkits: async (projectId) => [
      ...(await readSkillToolkits(db, projectId)),
      ...(await readEventToolkits(db, projectId)),
    ],
    titledPrograms: (projectId) => readTitledPrograms(db, projectId),
    commonToolkits: [operationalToolkit()],
  });
  const guard = createAddressGuard({ allowedRanges: parts.ranges.endpoints });
  const meter = createWorkMeter({ memory: limits.memory });
  const filters = createFilters({ db, turns: meter.turns, onFiltered: observer.eventFiltered });
  const renderBody = createBodyRenderer({ turns: meter.turns });
  const dispatcher = createDispatcher({
    ...{ renderBody, filters },
    ...{ db, clock, sealer, guard, nodeId },
    observer: observer.deliveries,
    limits: limits.deliveries,
    random: parts.random ?? systemRandom,
  });
  // A skill is called like a tool: the call starts a job, and the job calls tools.
  const callCode: CodeCaller = (call) => jobs.callSkill(call);
  const findCode: CodeFinder = (projectId, toolSlug) => jobs.findSkill(projectId, toolSlug);
  const askPerson: PersonAsker = (call) => jobs.askPerson(call);
  const apps = createApps({
    ...{ ...parts, nodeId, views, filters, callCode, findCode, askPerson },
    endpointGuard: guard,
    turns: meter.turns,
  });
  const { accounts, caller } = apps;
  meter.onBlocked(observer.heldLoop);
  meter.onBlocked(({ jobId, ms, isMeasured }) => {
    // Reports the job only if the blocking work was measured as its own. If `isMeasured` is false, the job only ran at the same time and
    // may not be the cause.
    if (jobId !== undefined && isMeasured) void jobs.engine.reportHeldLoop(jobId, ms);
  });
  const threads = createThreadPool({ entry: evaluationThread });
  const sources = createSources(parts, { views, apps });
  const jobs = createJobs({
    ...{ db, clock, sealer, nodeId, views, accounts, caller, guard, dispatcher, filters, meter, threads },
    observer: observer.jobs,
    askObserver: observer.asks,
    limits: limits.jobs,
    watchPollMs: limits.watchPollMs,
    jobRetentionMs: limits.retention.jobsMs,
    sandboxMode: parts.sandboxMode,
    consoleUrl: parts.consoleUrl,
    // Passes the end of a rehearsal (the simulation run of a new version of a standing program) to the engine of standing programs. The job
    // engine does not know standing programs.
    onRehearsed: (tx, ended) => standing.settleRehearsal(tx, ended),
    onDueElsewhere,
    onFaultPoint: parts.onFaultPoint,
  });
  const replays = createReplayEngine({
    ...{ db, clock, dispatcher, filters },
    observer: observer.replays,
    onFaultPoint: parts.onReplayFaultPoint,
  });
  const standing: StandingParts = createStanding({
    ...{ db, clock, sealer, nodeId, filters },
    takeReplays: replays.take,
    wakeDeliveries: () => dispatcher.wake(),
    restored: parts.restored,
    ...{ starter: jobs.starter, caller },
    ...{ views, meter, threads },
    observer: observer.standing,
    limits: {
      ...(limits.retention.standingRunsMs !== undefined && { runRetentionMs: limits.retention.standingRunsMs }),
      ...limits.standing,
    },
    onFaultPoint: parts.onStandingFaultPoint,
  });
  const isStandingHere = parts.engines?.includes("standing") ?? true;
  const wakeStanding = isStandingHere ? standing.engine.wake : (onDueElsewhere ?? standing.engine.wake);
  const secretOf = parts.variable;
  const bodyBytesMax = limits.postBytesMax ?? postBytesMaxDefault;
  const privateWebhooks = createPrivateWebhooks({ db, clock, sealer, views });
  const ingest = createIngest({
    ...{ db, catalog, privateWebhooks, clock, sealer, nodeId, dispatcher, filters, secretOf, bodyBytesMax },
    turns: meter.turns,
    onHeard: wakeStanding,
    onStored: observer.eventStored,
  });
  const store = {
    ...{ clock, nodeId, dispatcher, filters, routing: createRouting() },
    ...{ onHeard: wakeStanding, onStored: observer.eventStored },
  };
  const quarantine = createQuarantine({
    ...{ db, catalog, views, clock, sealer, dispatcher, store, bodyBytesMax },
    turns: meter.turns,
  });
  const triggers = {
    ...{ db, catalog, views, clock, sealer, guard, dispatcher, store, filters, renderBody },
    ...{ privateWebhooks, quarantine },
    retryScheduleMs: limits.deliveries.retryScheduleMs,
    turns: meter.turns,
    storeEvent: ingest.storeEvent,
    onPublished: observer.eventPublished,
    polls: createEventPolls({
      db,
      clock,
      filters,
      eventRetentionMs: limits.retention.eventsMs,
      onPolled: observer.eventsPolled,
    }),
    wakeReplays: wakeStanding,
    restored: parts.restored,
    secretOf,
    ...{ cell: parts.cell, portalUrl: parts.portalUrl },
    onKeysEnded: parts.onKeysEnded,
  };
  const { sandboxMode, publicUrl, consoleUrl } = parts;
  const linked = { sandboxMode, publicUrl, consoleUrl };
  const engines = createEngines(parts, { dispatcher, filters, apps, jobs, standing, sources });
  const connecting = { ...apps, views, db, clock, sealer, ...linked };
  const deploymentSecrets = createDeploymentSecrets({ db, sealer, clock });
  const finder = countSearches(createFinder(parts, apps.guard, deploymentSecrets), observer);
  return {
    ...{ nodeId, views, guard, dispatcher, apps, jobs, standing, ingest, meter, quarantine, deploymentSecrets },
    mcp: createAgents(parts, { views, caller, jobs, finder, connecting, triggers, quarantine }),
    connectLinks: createConnectLinks(connecting),
    register: createServices({ ...parts, ...sources, views, apps, jobs, standing, triggers, finder }),
    start(released) {
      meter.start();
      finder.prepare(views.base);
      if (released === undefined) engines.start();
      else void released.then(engines.start);
    },
    wake() {
      jobs.engine.wake();
      standing.engine.wake();
    },
    async drain(graceMs) {
      const untilMs = clock.now() + graceMs;
      // The wait is limited, because a blocked database may never commit the posts. A post that is not committed in time is answered with
      // 503, and its provider sends it again.
      await settledWithin(clock, graceMs, ingest.drain());
      const leftMs = Math.max(0, untilMs - clock.now());
      const called = settledWithin(clock, leftMs, caller.drain());
      const started = standing.engine.stop().then(() => replays.stop());
      await Promise.all([dispatcher.drain(leftMs), started, jobs.engine.drain(leftMs), called]);
    },
    async close() {
      meter.stop();
      await Promise.all([engines.stop(), threads.close(), sources.close(), finder.close()]);
      await apps.close();
    },
  };
}

function createFinder(
  { embeddings: place, variable, db, clock, observer }: NodeParts,
  guard: AddressGuard,
  secrets: DeploymentSecrets,
): ToolFinder {
  if (place === undefined) return wordFinder;
  const key = async () => variable("SVC_EMBEDDINGS_KEY")?.trim() || (await secrets.find("embeddings_key"));
  return createMeaningFinder({ db, clock, guard, place, key, observer: observer.embeddings });
}

/** Returns a finder that reports the confidence of each search to the observer. */
function countSearches(finder: ToolFinder, { toolsSearched }: NodeParts["observer"]): ToolFinder {
  if (toolsSearched === undefined) return finder;
  return {
    ...finder,
    async find(...query) {
      const found = await finder.find(...query);
      toolsSearched(found.confidence ?? "none");
      return found;
    },
  };
}

const postBytesMaxDefault = 1_048_576;

function systemRandom(): number {
  return randomInt(0x1_0000_0000) / 0x1_0000_0000;
}

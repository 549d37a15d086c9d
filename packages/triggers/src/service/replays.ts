import type { ServiceImpl } from "@connectrpc/connect";
import {
  assertExhaustive,
  byId,
  createId,
  type EventId,
  type Fault,
  firstUuidAt,
  type MinuteCount,
  optionalId,
  type ProjectId,
  type ProjectPrincipal,
  projectList,
  type ReplayId,
  requireId,
  requireProject,
  type SubscriptionId,
  timeRange,
} from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { unparkDeliveries } from "@svc/db/deliveries/expire";
import type { ReplayFilter } from "@svc/db/replays/match";
import {
  firstEventAt,
  type NewReplay,
  type ReplayChange,
  type ReplayRecord,
  type ReplayStart,
  replaysForProject,
} from "@svc/db/replays/repo";
import type { StartReplayRequest, TriggersService } from "@svc/gen/triggers";
import { replayCountMessages, replayMessage } from "../convert.ts";
import { triggerFaults } from "../errors.ts";
import { countAccepted } from "../filters/pairs.ts";
import type { TriggersContext } from "./context.ts";
import { replayWarnings } from "./pending-warnings.ts";
import { requireScan, takeScan } from "./portal-limits.ts";
import { askedToolkit, isReachable, requireSubscription, subscriptionsOf, viewOf } from "./portal-scope.ts";
import { requireActive, requireRoom, requireToolkit, triggerSlugOf } from "./request.ts";

type Methods = Pick<
  ServiceImpl<typeof TriggersService>,
  "startReplay" | "getReplay" | "listReplays" | "updateReplay" | "cancelReplay"
>;

const perSecondDefault = 50;
const perSecondMax = 5_000;
/** Maximum deliveries per second of a replay in the portal. A replay has at most 10 seconds' worth of pending deliveries. */
const portalPerSecondMax = 100;
/**
 * Maximum number of unfinished replays in one project. `ofProject`: replays that the project started itself. `ofCustomers`: replays that
 * all its customers together started in the portal. The two are counted separately, so that customers cannot use up the maximum of the
 * project.
 */
const unfinishedMax = { ofProject: 10, ofCustomers: 100 };
/**
 * Maximum time in milliseconds for which StartReplay counts the deliveries of the replay. If a range is too large for it, the rest is
 * counted while the replay runs.
 */
const countMs = 2_000;
/**
 * Maximum number of database statements with which StartReplay counts the deliveries of a replay that a customer starts in the portal. Each
 * statement reads up to 50,000 events.
 */
const portalPartsMax = 10;
const fullStepMs = 1_000;

/**
 * Returns the methods StartReplay, GetReplay, ListReplays, UpdateReplay and CancelReplay. `countScan`: counts what the portal of an entity
 * (customer or user) makes svc read.
 */
export function replayMethods(context: TriggersContext, countScan: MinuteCount): Methods {
  const { db, clock, sealer } = context;
  return {
    async startReplay(req, ctx) {
      const principal = requireProject(ctx);
      const { projectId } = principal;
      const perSecond = perSecondOf(principal, req.perSecond === 0 ? perSecondDefault : req.perSecond);
      const filter = await filterOf(context, principal, req);
      if (!req.dryRun) await requireRoom(context, principal, 1);
      requireScan(principal, countScan);
      const counted = await count(
        context,
        filter,
        boundsOf(context, principal, { req, signal: ctx.signal, countScan }),
      );
      const { counts, next } = counted;
      const total = sumOf(counts);
      const warnings = await warningsOf(context, principal, filter, counted);
      if (req.dryRun) return { total, counts: replayCountMessages(counts), warnings, more: next !== undefined };
      const replay: NewReplay = {
        ...filter,
        ...{ id: createId("rpl", filter.createdAt), perSecond, total, uncountedFromId: next ?? null },
        ...{ pacedAt: clock.now() - fullStepMs, origin: principal.portal === undefined ? "" : "portal" },
      };
      const start = await replaysForProject(db, projectId).start(replay, unfinishedMax);
      if (start.outcome !== "started") throw await refusalOf(db, principal, start);
      context.wakeReplays();
      return { replay: replayMessage(start.replay), warnings };
    },

    async getReplay(req, ctx) {
      return { replay: replayMessage(await requireReplay(context, requireProject(ctx), req.id)) };
    },

    listReplays: projectList(sealer, {
      call: "ListReplays",
      order: byId("rpl"),
      rows: async ({ page, caller }) => {
        const to = caller.portal && (await subscriptionsOf(db, caller).list(everyOwn)).map(({ id }) => id);
        return replaysForProject(db, caller.projectId).list(page, to);
      },
      answer: (rows) => ({ replays: rows.map(replayMessage) }),
    }),

    async updateReplay(req, ctx) {
      const caller = requireProject(ctx);
      const { projectId } = caller;
      const perSecond = req.perSecond === undefined ? undefined : perSecondOf(caller, req.perSecond);
      const { id } = await requireChangeable(context, caller, req.id);
      const row = await replaysForProject(db, projectId).change(id, (before) => ({
        ...requireClosed(before),
        updatedAt: clock.now(),
        ...(perSecond !== undefined && { perSecond }),
        ...(req.paused !== undefined && pauseOf(before, req.paused, clock.now())),
      }));
      if (row?.state === "running") context.wakeReplays();
      return { replay: found(row, req.id) };
    },

    async cancelReplay(req, ctx) {
      const caller = requireProject(ctx);
      const { projectId } = caller;
      const nowMs = clock.now();
      const end = {
        state: "cancelled",
        reason: "requested",
        waitsForId: null,
        endedAt: nowMs,
        updatedAt: nowMs,
      } as const;
      const { id } = await requireChangeable(context, caller, req.id);
      await giveBackParked(context, projectId, id);
      const row = await replaysForProject(db, projectId).change(id, (before) => ({ ...requireClosed(before), ...end }));
      return { replay: found(row, req.id) };
    },
  };
}

/** Bounds with which a read returns all subscriptions that a caller in the portal reaches. */
const everyOwn = { after: undefined, limit: 1_000 };

/** Returns a replay that the caller reaches. In the portal, it is a replay to a subscription of the portal. Throws REPLAY_NOT_FOUND. */
async function requireReplay({ db }: TriggersContext, caller: ProjectPrincipal, text: string): Promise<ReplayRecord> {
  const row = await findReachedReplay(db, caller, requireId("rpl", "id", text));
  if (row === undefined) throw triggerFaults.REPLAY_NOT_FOUND("id", text);
  return row;
}

/** Returns a replay as `requireReplay` does. Throws REPLAY_OF_PROJECT for a caller in the portal if the project started the replay. */
async function requireChangeable(
  context: TriggersContext,
  caller: ProjectPrincipal,
  text: string,
): Promise<ReplayRecord> {
  const row = await requireReplay(context, caller, text);
  if (caller.portal !== undefined && row.origin === "") throw triggerFaults.REPLAY_OF_PROJECT(row.id);
  return row;
}

/**
 * Returns the error for a replay that was not started. For a caller in the portal, the error contains no numbers and ids of replays that
 * belong to the project or to other customers.
 */
async function refusalOf(
  db: Executor,
  caller: ProjectPrincipal,
  start: Exclude<ReplayStart, { outcome: "started" }>,
): Promise<Fault> {
  const { portal } = caller;
  switch (start.outcome) {
    case "running":
      return (await findReachedReplay(db, caller, start.id)) === undefined
        ? triggerFaults.PROJECT_REPLAY_RUNNING()
        : triggerFaults.REPLAY_RUNNING(start.id);
    case "customer_running":
      return triggerFaults.PORTAL_REPLAY_RUNNING(start.id);
    case "too_many":
      return portal === undefined
        ? triggerFaults.REPLAYS_TOO_MANY(unfinishedMax.ofProject)
        : triggerFaults.PORTAL_REPLAYS_TOO_MANY();
    default:
      return assertExhaustive(start);
  }
}

async function findReachedReplay(
  db: Executor,
  caller: ProjectPrincipal,
  id: ReplayId,
): Promise<ReplayRecord | undefined> {
  const row = await replaysForProject(db, caller.projectId).find(id);
  if (row === undefined || caller.portal === undefined) return row;
  return row.subscriptionId !== null && (await isReachable(db, caller, row.subscriptionId)) ? row : undefined;
}

function found(row: ReplayRecord | undefined, id: string) {
  if (row === undefined) throw triggerFaults.REPLAY_NOT_FOUND("id", id);
  return replayMessage(row);
}

/** Throws REPLAY_OF_PAUSE for a replay of the events that a subscription missed during a pause. Otherwise returns an empty object. */
function requireClosed({ id, until }: ReplayRecord): Record<never, never> {
  if (until === null) throw triggerFaults.REPLAY_OF_PAUSE(id);
  return {};
}

/**
 * Returns parked deliveries (stored as waiting, without a task) to their queue, because the replay that would do this is about to be
 * cancelled.
 */
async function giveBackParked({ db, clock }: TriggersContext, projectId: ProjectId, id: ReplayId): Promise<void> {
  const replay = await replaysForProject(db, projectId).find(id);
  if (replay?.ofPause !== true || replay.until === null || replay.subscriptionId === null) return;
  while ((await unparkDeliveries(db, replay.subscriptionId, clock.now(), unparkedMax)) >= unparkedMax);
}

const unparkedMax = 2_000;

function perSecondOf({ portal }: ProjectPrincipal, perSecond: number): number {
  const most = portal === undefined ? perSecondMax : portalPerSecondMax;
  if (perSecond >= 1 && perSecond <= most) return perSecond;
  throw triggerFaults.REPLAY_RATE_INVALID(perSecond, most);
}

/**
 * Returns the changes that pause or resume a replay. After a pause, the replay continues at its normal pace and does not try to catch up.
 */
function pauseOf({ state }: ReplayRecord, paused: boolean, nowMs: number): Partial<ReplayChange> {
  if (paused === (state === "paused")) return {};
  return paused ? { state: "paused", reason: "", waitsForId: null } : { state: "running", pacedAt: nowMs - fullStepMs };
}

type StartedFilter = ReplayFilter & Pick<ReplayRecord, "since" | "onlyFailed"> & { readonly until: number };

async function filterOf(
  context: TriggersContext,
  caller: ProjectPrincipal,
  req: StartReplayRequest,
): Promise<StartedFilter> {
  const { projectId } = caller;
  const createdAt = context.clock.now();
  const { sinceMs, untilMs = createdAt } = timeRange(req.since, req.until);
  if (sinceMs === undefined) throw triggerFaults.FILTER_REQUIRED("since", "since");
  const toolkitSlug = askedToolkit(caller, req.toolkitSlug);
  const view = await viewOf(context, caller);
  requireToolkit(view, toolkitSlug);
  const triggerSlug = triggerSlugOf(toolkitSlug, req.triggerSlug);
  if (caller.portal !== undefined && triggerSlug !== "" && !view.triggers.has(triggerSlug))
    throw triggerFaults.TRIGGER_NOT_FOUND(toolkitSlug, req.triggerSlug);
  const subscriptionId = optionalId("sub", "subscriptionId", req.subscriptionId);
  requireSubscription(caller, subscriptionId);
  if (subscriptionId !== undefined) await requireActive(context, caller, subscriptionId);
  const unknown = req.states.find((state) => state !== "failed");
  if (unknown !== undefined) throw triggerFaults.DELIVERY_STATE_INVALID(unknown, ["failed"]);
  const onlyFailed = req.states.length > 0;
  return {
    ...{ projectId, createdAt, triggerSlug, toolkitSlug },
    ...{ onlyFailed, onlyUndelivered: onlyFailed || req.onlyUndelivered },
    subscriptionId: subscriptionId ?? null,
    since: sinceMs,
    // Events that are received from now on are delivered anyway. With an `until` in the future, the replay would try to catch up with them.
    until: Math.min(untilMs, createdAt),
  };
}

/**
 * Returns the condition for the deliveries that a replay repeats: pairs of event and subscription. It selects the same events as
 * ReplayEvents does.
 */
function matchesOf({ since, until, toolkitSlug, triggerSlug, subscriptionId, onlyUndelivered }: StartedFilter) {
  const range = { fromUuid: firstUuidAt(since), toUuid: firstUuidAt(until) };
  return { ...range, toolkitSlug, triggerSlug, subscriptionId: subscriptionId ?? undefined, onlyUndelivered };
}

/**
 * Returns a function that says if svc must stop counting the deliveries of a replay. A count may take 2 seconds. In the portal, it may also
 * use only 10 statements.
 */
function boundsOf(
  { clock }: TriggersContext,
  caller: ProjectPrincipal,
  { req, signal, countScan }: { req: StartReplayRequest; signal: AbortSignal; countScan: MinuteCount },
): (parts: number) => boolean {
  const isPortal = caller.portal !== undefined;
  const untilMs = req.dryRun && !isPortal ? Number.POSITIVE_INFINITY : clock.now() + countMs;
  return (parts) =>
    (req.dryRun && signal.aborted) ||
    clock.now() >= untilMs ||
    (isPortal && (parts >= portalPartsMax || !takeScan(caller, countScan)));
}

/**
 * Number of deliveries of a replay (`counts`), by subscription. `next`: the first event that is not counted. `parts`: number of queries
 * that counted.
 */
type CountedReplay = {
  readonly counts: ReadonlyMap<SubscriptionId, number>;
  readonly next: EventId | undefined;
  readonly parts: number;
};

/**
 * Counts the matches of a replay (pairs of an event and a subscription) by subscription. Each statement counts one part of the time range.
 * The function stops when all parts are counted, or when `isOver` returns true for the number of counted parts.
 */
async function count(
  context: TriggersContext,
  filter: StartedFilter,
  isOver: (parts: number) => boolean,
): Promise<CountedReplay> {
  const counts = new Map<SubscriptionId, number>();
  let next: EventId | undefined = firstEventAt(filter.since);
  let parts = 0;
  do {
    const part = await countAccepted(context, filter, next);
    for (const [id, more] of part.counts) counts.set(id, (counts.get(id) ?? 0) + more);
    next = part.next;
    parts++;
  } while (next !== undefined && !isOver(parts));
  return { counts, next, parts };
}

/** Returns the warnings about a new replay. */
function warningsOf(
  context: TriggersContext,
  { projectId, portal }: ProjectPrincipal,
  filter: StartedFilter,
  { counts, next, parts }: CountedReplay,
): Promise<string[]> {
  const isPortal = portal !== undefined;
  // In the portal, a count that took several statements is not used: the warning would read the events of the time range again.
  const isCounted = next === undefined && (!isPortal || parts === 1);
  const matches = isCounted ? sumOf(counts) : undefined;
  return replayWarnings(context, projectId, { filter: matchesOf(filter), isPortal, matches });
}

function sumOf(counts: ReadonlyMap<unknown, number>): number {
  return [...counts.values()].reduce((sum, one) => sum + one, 0);
}

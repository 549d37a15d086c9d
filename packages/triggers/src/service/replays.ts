import type { ServiceImpl } from "@connectrpc/connect";
import {
  byId,
  createId,
  type EventId,
  firstUuidAt,
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
  replaysForProject,
} from "@svc/db/replays/repo";
import type { StartReplayRequest, TriggersService } from "@svc/gen/triggers";
import { replayCountMessages, replayMessage } from "../convert.ts";
import { triggerFaults } from "../errors.ts";
import { countAccepted } from "../filters/pairs.ts";
import type { TriggersContext } from "./context.ts";
import { replayWarnings } from "./pending-warnings.ts";
import { askedToolkit, isReachable, requireSubscription, subscriptionsOf, viewOf } from "./portal-scope.ts";
import { requireActive, requireRoom, requireToolkit, triggerSlugOf } from "./request.ts";

type Methods = Pick<
  ServiceImpl<typeof TriggersService>,
  "startReplay" | "getReplay" | "listReplays" | "updateReplay" | "cancelReplay"
>;

const perSecondDefault = 50;
const perSecondMax = 5_000;
const unfinishedMax = 10;
/**
 * Number of unfinished replays of a project from which customers can start no further replay in the portal. So customers cannot use up all
 * replays that the project itself may start.
 */
const portalUnfinishedMax = 5;
/**
 * Maximum time in milliseconds for which StartReplay counts the deliveries of the replay. If a range is too large for it, the rest is
 * counted while the replay runs.
 */
const countMs = 2_000;
const fullStepMs = 1_000;

/** Returns the methods StartReplay, GetReplay, ListReplays, UpdateReplay and CancelReplay. */
export function replayMethods(context: TriggersContext): Methods {
  const { db, clock, sealer } = context;
  return {
    async startReplay(req, ctx) {
      const principal = requireProject(ctx);
      const { projectId } = principal;
      const perSecond = perSecondOf(req.perSecond === 0 ? perSecondDefault : req.perSecond);
      const filter = await filterOf(context, principal, req);
      const asked = { filter: matchesOf(filter), isPortal: principal.portal !== undefined };
      if (req.dryRun) {
        const { counts } = await count(context, filter, { isOver: () => ctx.signal.aborted });
        const total = sumOf(counts);
        const warnings = await replayWarnings(context, projectId, { ...asked, matches: total });
        return { total, counts: replayCountMessages(counts), warnings };
      }
      await requireRoom(context, principal, 1);
      const untilMs = clock.now() + countMs;
      const { counts, next } = await count(context, filter, { isOver: () => clock.now() >= untilMs });
      const matches = next === undefined ? sumOf(counts) : undefined;
      const warnings = await replayWarnings(context, projectId, { ...asked, matches });
      const nowMs = clock.now();
      const replay: NewReplay = {
        ...filter,
        ...{ id: createId("rpl", filter.createdAt), perSecond, total: sumOf(counts), uncountedFromId: next ?? null },
        pacedAt: nowMs - fullStepMs,
      };
      const most = principal.portal === undefined ? unfinishedMax : portalUnfinishedMax;
      const start = await replaysForProject(db, projectId).start(replay, most);
      if (start.outcome === "running") {
        if ((await findReachedReplay(db, principal, start.id)) === undefined) throw triggerFaults.REPLAY_OF_PROJECT();
        throw triggerFaults.REPLAY_RUNNING(start.id);
      }
      if (start.outcome === "too_many") throw triggerFaults.REPLAYS_TOO_MANY(most);
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
      const perSecond = req.perSecond === undefined ? undefined : perSecondOf(req.perSecond);
      const { id } = await requireReplay(context, caller, req.id);
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
      const { id } = await requireReplay(context, caller, req.id);
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

/**
 * Throws REPLAY_OF_PAUSE if the replay delivers the events of a subscription's pause, because without this replay the subscription would
 * lose these events.
 */
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

function perSecondOf(perSecond: number): number {
  if (perSecond >= 1 && perSecond <= perSecondMax) return perSecond;
  throw triggerFaults.REPLAY_RATE_INVALID(perSecond, perSecondMax);
}

/**
 * Returns the changes that pause or resume a replay. After a pause, the replay continues at its normal pace and does not try to catch up.
 */
function pauseOf({ state }: ReplayRecord, paused: boolean, nowMs: number): Partial<ReplayChange> {
  if (paused === (state === "paused")) return {};
  return paused ? { state: "paused", reason: "", waitsForId: null } : { state: "running", pacedAt: nowMs - fullStepMs };
}

type StartedFilter = ReplayFilter & Pick<ReplayRecord, "since"> & { readonly until: number };

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
  return {
    ...{ projectId, createdAt, triggerSlug, toolkitSlug, onlyUndelivered: req.onlyUndelivered },
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
 * Counts the matches of a replay (pairs of an event and a subscription) by subscription. Each statement counts one part of the time range.
 * The function stops when all parts are counted, or when `isOver` returns true.
 */
async function count(
  context: TriggersContext,
  filter: StartedFilter,
  { isOver }: { isOver: () => boolean },
): Promise<{ counts: ReadonlyMap<SubscriptionId, number>; next: EventId | undefined }> {
  const counts = new Map<SubscriptionId, number>();
  let next: EventId | undefined = firstEventAt(filter.since);
  do {
    const part = await countAccepted(context, filter, next);
    for (const [id, more] of part.counts) counts.set(id, (counts.get(id) ?? 0) + more);
    next = part.next;
  } while (next !== undefined && !isOver());
  return { counts, next };
}

function sumOf(counts: ReadonlyMap<unknown, number>): number {
  return [...counts.values()].reduce((sum, one) => sum + one, 0);
}

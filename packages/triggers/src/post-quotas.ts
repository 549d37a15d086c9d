import {
  type Clock,
  type Fault,
  type ProjectId,
  type QuotaName,
  type Quotas,
  quotaFaults,
  quotaOf,
  Rate,
} from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { usageOfProject } from "@svc/db/projects/usage";
import { createMeasured, type MeasuredFigure } from "./measured.ts";

/** Load of one project from webhook posts to this node, since the node started. */
export type PostLoad = {
  readonly projectId: ProjectId;
  readonly posts: Rate;
  postsTotal: number;
  /**
   * Number of webhook posts that the project received although it was over a quota. svc accepted these posts because a second project
   * received the same post and was within its quotas.
   */
  postsBeyond: number;
  /** Number of webhook posts that were refused while the project was over a quota, by quota. */
  readonly refusals: Map<QuotaName, number>;
  readonly deliveries: MeasuredFigure;
  readonly bytes: MeasuredFigure;
};

/** A project that receives a webhook post, and those of its quotas that are set. */
export type ReceiverQuotas = { readonly projectId: ProjectId; readonly quotas: Quotas };

/**
 * A refused webhook post. It contains the error for the app that sent the post and, for each receiving project, the quota that the project
 * exceeded.
 */
export type PostRefusal = {
  readonly fault: Fault;
  readonly over: readonly { readonly projectId: ProjectId; readonly quota: QuotaName }[];
};

/**
 * Quotas of the webhook posts that projects may receive.
 * - A post is refused only if every receiving project is over one of its quotas; the app then sends it again.
 * - If one project has room, all receiving projects get the post, because an accepted post always reaches every receiver.
 * - The post counts for every receiving project. A project without room must then wait longer for its next post.
 */
export type PostQuotas = {
  /**
   * Returns why a webhook post is refused. Returns undefined if the post is accepted; it then counts against the quotas of every receiving
   * project. `isRest`: true for the remaining elements of a list, after its first element was accepted. These are never refused, because
   * the app can only send the whole list again.
   */
  admit(receivers: readonly ReceiverQuotas[], isRest?: boolean): PostRefusal | undefined;
  /** Counts a refused webhook post for each project over its quota. A post is counted once, however often svc tried to store it. */
  refused(refusal: PostRefusal): void;
  /** Adds what was stored for a project to its counts, which are compared with its quotas. */
  stored(projectId: ProjectId, what: { readonly deliveries: number; readonly bytes: number }): void;
  /** Returns how many webhook posts, deliveries and bytes a project has received on this node, or undefined if it received none. */
  loadOf(projectId: ProjectId): PostLoad | undefined;
  loads(): Iterable<PostLoad>;
};

/**
 * Milliseconds between two counts of a project's pending deliveries. `nearMs`: close to the quota. `farMs`: far below the quota. `pauseMs`:
 * minimum.
 */
const deliveryTimes = { nearMs: 5_000, farMs: 60_000, pauseMs: 250 };
/**
 * Milliseconds between two measurements of a project's stored bytes. `nearMs`: close to the quota. `farMs`: far below the quota. `pauseMs`:
 * minimum.
 */
const storageTimes = { nearMs: 600_000, farMs: 3_600_000, pauseMs: 5_000 };

/** Creates the object that applies the quotas of webhook posts on one node. */
export function createPostQuotas({ db, clock }: { db: Executor; clock: Clock }): PostQuotas {
  const loads = new Map<ProjectId, PostLoad>();
  const loadOf = (projectId: ProjectId): PostLoad => {
    let load = loads.get(projectId);
    if (load === undefined) {
      const usage = usageOfProject(db, projectId);
      load = {
        projectId,
        posts: new Rate(),
        postsTotal: 0,
        postsBeyond: 0,
        refusals: new Map(),
        deliveries: createMeasured(clock, deliveryTimes, (most) => usage.countDeliveries(most)),
        bytes: createMeasured(clock, storageTimes, () => usage.measureStorage()),
      };
      loads.set(projectId, load);
    }
    return load;
  };
  return {
    admit(receivers, isRest = false) {
      const nowMs = clock.now();
      const over: Excess[] = [];
      for (const { projectId, quotas } of receivers) {
        const excess = excessOf(loadOf(projectId), quotas, nowMs);
        if (excess !== undefined) over.push(excess);
      }
      if (!isRest && over.length > 0 && over.length === receivers.length) return refusalOf(over);
      for (const { projectId, quotas } of receivers) {
        const load = loadOf(projectId);
        load.posts.charge(quotaOf(quotas, "posts"), nowMs);
        load.postsTotal++;
      }
      for (const { projectId } of over) loadOf(projectId).postsBeyond++;
      return undefined;
    },
    refused({ over }) {
      for (const { projectId, quota } of over) {
        const { refusals } = loadOf(projectId);
        refusals.set(quota, (refusals.get(quota) ?? 0) + 1);
      }
    },
    stored(projectId, { deliveries, bytes }) {
      const load = loadOf(projectId);
      load.deliveries.add(deliveries);
      load.bytes.add(bytes);
    },
    loadOf: (projectId) => loads.get(projectId),
    loads: () => loads.values(),
  };
}

/** A quota that a project has exceeded, and the error for it. */
type Excess = { readonly projectId: ProjectId; readonly quota: QuotaName; readonly fault: Fault };

/**
 * Returns the refusal of a webhook post if quotas are exceeded (`over`); otherwise undefined. Its error is the one with the shortest wait.
 */
function refusalOf(over: readonly Excess[]): PostRefusal | undefined {
  const [first, ...others] = over;
  if (first === undefined) return undefined;
  const waitMs = ({ fault }: Excess) => fault.retryAfterMs ?? Number.POSITIVE_INFINITY;
  const soonest = others.reduce((best, excess) => (waitMs(excess) < waitMs(best) ? excess : best), first);
  return { fault: soonest.fault, over };
}

/** Returns the first quota that a project has exceeded, with its error. Undefined if it has exceeded none. */
function excessOf(load: PostLoad, set: Quotas, nowMs: number): Excess | undefined {
  const perSecond = quotaOf(set, "posts");
  if (!load.posts.hasRoom(perSecond, nowMs))
    return { projectId: load.projectId, quota: "posts", fault: quotaFaults.posts({ most: perSecond }) };
  // Pending deliveries are counted only up to the quota, so the real number may be higher, and the error says "at least".
  const isLeast = true;
  return (
    excessOfMeasured(load, "pendingDeliveries", load.deliveries, set, isLeast) ??
    excessOfMeasured(load, "storedBytes", load.bytes, set, false)
  );
}

function excessOfMeasured(
  { projectId }: PostLoad,
  quota: QuotaName,
  measured: MeasuredFigure,
  set: Quotas,
  isLeast: boolean,
): Excess | undefined {
  const most = quotaOf(set, quota);
  if (most === Number.POSITIVE_INFINITY || !measured.hasReached(most)) return undefined;
  return { projectId, quota, fault: quotaFaults[quota]({ most, used: measured.latest(), isLeast }) };
}

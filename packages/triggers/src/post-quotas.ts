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

/** Load of a project from this node's posts, since the node started. */
export type PostLoad = {
  readonly projectId: ProjectId;
  readonly posts: Rate;
  postsTotal: number;
  /** Posts that it received beyond its quotas because another project was to receive them too. */
  postsBeyond: number;
  /** Posts refused while it was over a quota, by that quota. */
  readonly refusals: Map<QuotaName, number>;
  readonly deliveries: MeasuredFigure;
  readonly bytes: MeasuredFigure;
};

/** A receiver of a post, and its quotas that are set. */
export type ReceiverQuotas = { readonly projectId: ProjectId; readonly quotas: Quotas };

/** A refused post: the error for its provider, and the quota that each receiver has exceeded. */
export type PostRefusal = {
  readonly fault: Fault;
  readonly over: readonly { readonly projectId: ProjectId; readonly quota: QuotaName }[];
};

/**
 * Quotas of what projects may receive. A post is refused if every receiving project is over one of its quotas; its provider posts it again.
 * If one project has room, all of them receive it, because an accepted post reaches every receiver. The others are charged for it, and so
 * wait longer for the next one.
 */
export type PostQuotas = {
  /** Returns the refusal of a post. Returns undefined if it is accepted, and then every receiver is charged. */
  admit(receivers: readonly ReceiverQuotas[]): PostRefusal | undefined;
  /** Counts a refusal for each project over its quota, once for each post however often it was tried. */
  refused(refusal: PostRefusal): void;
  /** Records what was stored for a project. */
  stored(projectId: ProjectId, what: { readonly deliveries: number; readonly bytes: number }): void;
  /** Returns the load of a project, or undefined if it received nothing here. */
  loadOf(projectId: ProjectId): PostLoad | undefined;
  loads(): Iterable<PostLoad>;
};

/** Deliveries also end on other nodes, so a count is soon old. It costs a read of each pending one. */
const deliveryTimes = { nearMs: 5_000, farMs: 60_000, pauseMs: 250 };
/** Measuring the stored bytes reads all of them. */
const storageTimes = { nearMs: 600_000, farMs: 3_600_000, pauseMs: 5_000 };

/** Creates the quotas of posts for one node. */
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
    admit(receivers) {
      const nowMs = clock.now();
      const over: Excess[] = [];
      for (const { projectId, quotas } of receivers) {
        const excess = excessOf(loadOf(projectId), quotas, nowMs);
        if (excess !== undefined) over.push(excess);
      }
      if (over.length > 0 && over.length === receivers.length) return refusalOf(over);
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

/** A quota that a project has exceeded. */
type Excess = { readonly projectId: ProjectId; readonly quota: QuotaName; readonly fault: Fault };

/** The refusal names the quota that is free again soonest. */
function refusalOf(over: readonly Excess[]): PostRefusal | undefined {
  const [first, ...others] = over;
  if (first === undefined) return undefined;
  const waitMs = ({ fault }: Excess) => fault.retryAfterMs ?? Number.POSITIVE_INFINITY;
  const soonest = others.reduce((best, excess) => (waitMs(excess) < waitMs(best) ? excess : best), first);
  return { fault: soonest.fault, over };
}

/** Returns the first quota that a project has exceeded. */
function excessOf(load: PostLoad, set: Quotas, nowMs: number): Excess | undefined {
  const perSecond = quotaOf(set, "posts");
  if (!load.posts.hasRoom(perSecond, nowMs))
    return { projectId: load.projectId, quota: "posts", fault: quotaFaults.posts({ most: perSecond }) };
  // It is counted only up to the quota.
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

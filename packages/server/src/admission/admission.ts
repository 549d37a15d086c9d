import {
  type Clock,
  type Fault,
  type ProjectId,
  type QuotaExcess,
  type QuotaName,
  type Quotas,
  quotaFaults,
  quotaOf,
  quotas,
  Rate,
} from "@svc/core";

/** API calls and streams of one project that run on this node, and the numbers of calls and refusals since the node started. */
export type ProjectLoad = {
  readonly projectId: ProjectId;
  readonly calls: Rate;
  concurrentCalls: number;
  openStreams: number;
  callsTotal: number;
  /** Number of refused requests, by the quota that was reached. */
  readonly refusals: Map<QuotaName, number>;
};

/**
 * Kind of the request that is admitted. `call`: a call, which uses a place among the project's concurrent calls until it is answered.
 * `stream`: a stream, which uses a place among the open streams. `wait`: a call that was admitted as `call` before and now waits, for
 * example for a job. It uses a place among the open streams and is not counted again.
 */
export type RequestKind = "call" | "stream" | "wait";

/** Admits projects' requests within their quotas. Projects do not affect each other. */
export type Admission = {
  /**
   * Admits and counts a request, or returns the fault with which the request is refused. After an admitted request has ended, the caller
   * must call the returned function `leave` once.
   */
  enter(
    projectId: ProjectId,
    set: Quotas | undefined,
    kind: RequestKind,
  ): { readonly leave: () => void } | { readonly refusal: Fault };
  /** Records that a request of a project was answered with a fault. If a quota caused the fault, it is counted as a refusal. */
  noteFault(projectId: ProjectId, fault: Fault): void;
  /**
   * Returns the load of a project on this node: its running calls and its counts. Undefined if the project has made no calls on this node.
   */
  loadOf(projectId: ProjectId): ProjectLoad | undefined;
  loads(): Iterable<ProjectLoad>;
};

const quotaOfReason: ReadonlyMap<string, QuotaName> = new Map(
  Object.entries(quotas).map(([name, { reason }]) => [reason, name as QuotaName]),
);

/** Creates the object that admits requests on a node. It keeps everything in memory, and each request costs one map lookup. */
export function createAdmission({ clock }: { clock: Clock }): Admission {
  // This map grows only with the number of projects, which only an administrator creates.
  const loads = new Map<ProjectId, ProjectLoad>();
  const loadOf = (projectId: ProjectId): ProjectLoad => {
    let load = loads.get(projectId);
    if (load === undefined) {
      load = { projectId, calls: new Rate(), concurrentCalls: 0, openStreams: 0, callsTotal: 0, refusals: new Map() };
      loads.set(projectId, load);
    }
    return load;
  };
  const count = ({ refusals }: ProjectLoad, quota: QuotaName) => refusals.set(quota, (refusals.get(quota) ?? 0) + 1);
  const refuse = (load: ProjectLoad, name: QuotaName, excess: QuotaExcess) => {
    count(load, name);
    return { refusal: quotaFaults[name](excess) };
  };
  return {
    enter(projectId, set, kind) {
      const load = loadOf(projectId);
      const held = kind === "call" ? "concurrentCalls" : "openStreams";
      const most = quotaOf(set, held);
      if (load[held] >= most) return refuse(load, held, { most, used: load[held] });
      if (kind !== "wait") {
        const perSecond = quotaOf(set, "calls");
        const retryAfterMs = load.calls.take(perSecond, clock.now());
        if (retryAfterMs !== undefined) return refuse(load, "calls", { most: perSecond, retryAfterMs });
        load.callsTotal++;
      }
      load[held]++;
      return { leave: once(() => load[held]--) };
    },
    noteFault(projectId, { details }) {
      const quota = quotaOfReason.get(details[0]?.reason ?? "");
      if (quota !== undefined) count(loadOf(projectId), quota);
    },
    loadOf: (projectId) => loads.get(projectId),
    loads: () => loads.values(),
  };
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) act();
    isDone = true;
  };
}

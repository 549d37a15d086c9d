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

/** What a project has under way at this node, and what it did since the node began. */
export type ProjectLoad = {
  readonly projectId: ProjectId;
  readonly calls: Rate;
  concurrentCalls: number;
  openStreams: number;
  callsTotal: number;
  /** Refusals by the quota they are of. */
  readonly refusals: Map<QuotaName, number>;
};

/** What is admitted: a call that ends with its answer, or a stream that is open as long as its caller likes. */
export type RequestKind = "call" | "stream";

/** Lets the requests of projects in, each within the project's quotas. What one project has under way is nothing to another. */
export type Admission = {
  /** Lets a request in, or says why not, and counts that. What is let in is given back once, by `leave`. */
  enter(
    projectId: ProjectId,
    set: Quotas | undefined,
    kind: RequestKind,
  ): { readonly leave: () => void } | { readonly refusal: Fault };
  /** Notes a fault that a method answered a project: refusals by quotas are counted. */
  noteFault(projectId: ProjectId, fault: Fault): void;
  /** What a project has under way here; undefined for one that has called nothing. */
  loadOf(projectId: ProjectId): ProjectLoad | undefined;
  loads(): Iterable<ProjectLoad>;
};

const quotaOfReason: ReadonlyMap<string, QuotaName> = new Map(
  Object.entries(quotas).map(([name, { reason }]) => [reason, name as QuotaName]),
);

/** Makes the admission of a node. Everything is in memory: a request costs a look into a map. */
export function createAdmission({ clock }: { clock: Clock }): Admission {
  // As many as there are projects, which an administrator makes.
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
      const held = kind === "stream" ? "openStreams" : "concurrentCalls";
      const most = quotaOf(set, held);
      if (load[held] >= most) return refuse(load, held, { most, used: load[held] });
      const perSecond = quotaOf(set, "calls");
      const retryAfterMs = load.calls.take(perSecond, clock.now());
      if (retryAfterMs !== undefined) return refuse(load, "calls", { most: perSecond, retryAfterMs });
      load[held]++;
      load.callsTotal++;
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

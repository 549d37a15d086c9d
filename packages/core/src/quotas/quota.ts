import { defineFaults } from "../faults/define-faults.ts";
import { call, type FaultText, text, waitAs } from "../faults/fault-text.ts";

/** A resource that a project's policy limits by a number. */
export type QuotaName = (typeof quotaNames)[number];

/** All quotas, in display order. */
export const quotaNames = [
  "calls",
  "concurrentCalls",
  "posts",
  "subscriptions",
  "pendingDeliveries",
  "jobs",
  "openStreams",
  "privateToolkits",
  "storedBytes",
] as const;

/** Configured quotas of a project: a missing name has its default. `unlimited` is a value too. */
export type Quotas = { readonly [Name in QuotaName]?: number };

/** The value of a quota without a limit. */
export const unlimited = -1;

/** The properties of a quota. */
export type Quota = {
  readonly reason: string;
  readonly default: number;
  /** `node`: each node counts separately. `deployment`: the total of all nodes. */
  readonly scope: "node" | "deployment";
  /** Counted unit: a plural that fits after a number, and without one. */
  readonly unit: string;
  /** The same after the number 1. */
  readonly unitOfOne: string;
  /** Time after which a retry may help, milliseconds; undefined if only the project or its administrator can help. */
  readonly retryAfterMs: number | undefined;
  /** Advice for the caller. */
  readonly help: FaultText;
};

const raise = text`or have its administrator raise the quota (${call("SetProjectPolicy")})`;

/**
 * The quotas. The default rates are above what a node with two cores can reach. Fair sharing between projects comes from turns; rates are
 * for operators to set.
 */
export const quotas: Readonly<Record<QuotaName, Quota>> = {
  calls: {
    reason: "QUOTA_CALLS",
    default: 20_000,
    scope: "node",
    unit: "calls a second at this node",
    unitOfOne: "call a second at this node",
    retryAfterMs: 1_000,
    help: text`Send calls more slowly, ${raise}.`,
  },
  concurrentCalls: {
    reason: "QUOTA_CONCURRENT_CALLS",
    default: 1_024,
    scope: "node",
    unit: "calls under way at this node",
    unitOfOne: "call under way at this node",
    retryAfterMs: 1_000,
    help: text`Wait for answers before sending more, ${raise}.`,
  },
  posts: {
    reason: "QUOTA_POSTS",
    default: 20_000,
    scope: "node",
    unit: "posts a second at this node",
    unitOfOne: "post a second at this node",
    retryAfterMs: 1_000,
    help: text`Send the same post again ${waitAs("after the time in Retry-After")}; an administrator may raise the quota (${call("SetProjectPolicy")}).`,
  },
  subscriptions: {
    reason: "QUOTA_SUBSCRIPTIONS",
    default: 1_000,
    scope: "deployment",
    unit: "subscriptions",
    unitOfOne: "subscription",
    retryAfterMs: undefined,
    help: text`Delete those that are not used, ${raise}.`,
  },
  pendingDeliveries: {
    reason: "QUOTA_PENDING_DELIVERIES",
    default: 1_000_000,
    scope: "deployment",
    unit: "pending deliveries",
    unitOfOne: "pending delivery",
    retryAfterMs: 5_000,
    help: text`Mend or deactivate the endpoints that fail, and wait until what is pending was sent, ${raise}.`,
  },
  jobs: {
    reason: "QUOTA_JOBS",
    default: 20_000,
    scope: "deployment",
    unit: "jobs that have not ended",
    unitOfOne: "job that has not ended",
    retryAfterMs: 5_000,
    help: text`Wait for jobs to end, cancel some, ${raise}.`,
  },
  openStreams: {
    reason: "QUOTA_OPEN_STREAMS",
    default: 500,
    scope: "node",
    unit: "open streams at this node",
    unitOfOne: "open stream at this node",
    retryAfterMs: 5_000,
    help: text`Close streams that are not read, ${raise}.`,
  },
  privateToolkits: {
    reason: "QUOTA_PRIVATE_TOOLKITS",
    default: 100,
    scope: "deployment",
    unit: "private toolkits",
    unitOfOne: "private toolkit",
    retryAfterMs: undefined,
    help: text`Delete one that is not used any more, publish over one of the same slug, ${raise}.`,
  },
  storedBytes: {
    reason: "QUOTA_STORED_BYTES",
    default: unlimited,
    scope: "deployment",
    unit: "stored bytes",
    unitOfOne: "stored byte",
    retryAfterMs: undefined,
    help: text`Wait until retention has removed what is old, ${raise}.`,
  },
};

/** Returns a project's limit: its own value or the default. Infinity for no limit. */
export function quotaOf(set: Quotas | undefined, name: QuotaName): number {
  const value = set?.[name] ?? quotas[name].default;
  return value === unlimited ? Number.POSITIVE_INFINITY : value;
}

/** Details of an exceeded quota. */
export type QuotaExcess = {
  readonly most: number;
  /** Current usage; undefined for a rate, which keeps no usage. */
  readonly used?: number;
  /** True if `used` is a lower bound, because counting stopped early. */
  readonly isLeast?: boolean;
  /** Default: the quota's own. */
  readonly retryAfterMs?: number;
};

/** Refusals because of a project's quotas. */
export const quotaFaults = defineFaults({
  calls: rowOf("calls"),
  concurrentCalls: rowOf("concurrentCalls"),
  posts: rowOf("posts"),
  subscriptions: rowOf("subscriptions"),
  pendingDeliveries: rowOf("pendingDeliveries"),
  jobs: rowOf("jobs"),
  openStreams: rowOf("openStreams"),
  privateToolkits: rowOf("privateToolkits"),
  storedBytes: rowOf("storedBytes"),
});

function rowOf(name: QuotaName) {
  const { reason, unit, unitOfOne, help, retryAfterMs: ownMs } = quotas[name];
  return {
    code: "resource_exhausted" as const,
    reason,
    says: ({ most, used, isLeast = false }: QuotaExcess) =>
      used === undefined
        ? `the project is over its quota of ${unit}, which is ${most}`
        : `the project may have ${most} ${most === 1 ? unitOfOne : unit}, and has ${used}${isLeast ? " or more" : ""}`,
    help,
    retryAfterMs: ({ retryAfterMs = ownMs }: QuotaExcess) => retryAfterMs,
  };
}

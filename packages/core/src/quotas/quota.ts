import { defineFaults } from "../faults/define-faults.ts";
import { Fault } from "../faults/errors.ts";
import { call, type FaultText, text, wait, waitAs } from "../faults/fault-text.ts";

/** Name of a quota: a number that limits a resource for a project. */
export type QuotaName = (typeof quotaNames)[number];

/** Names of all quotas, in display order. */
export const quotaNames = [
  "calls",
  "concurrentCalls",
  "posts",
  "subscriptions",
  "entitySubscriptions",
  "pendingDeliveries",
  "jobs",
  "openStreams",
  "privateToolkits",
  "privateToolkitBytes",
  "storedBytes",
] as const;

/** Configured quotas of a project, by name. A quota that is missing has its default value. The value `unlimited` (-1) means no limit. */
export type Quotas = { readonly [Name in QuotaName]?: number };

/** Value of a quota that has no limit. */
export const unlimited = -1;

/** Properties of a quota that are the same for all projects, such as its default value and its unit. */
export type Quota = {
  readonly reason: string;
  readonly default: number;
  /**
   * How the usage is counted. `node`: each node counts its own usage and compares it with the limit. `deployment`: the usage of all nodes
   * together counts.
   */
  readonly scope: "node" | "deployment";
  /** Name of the counted unit: a plural that can be shown with or without a number. */
  readonly unit: string;
  /** Name of the unit that the quota counts, in the singular. It is used after the number 1 (for example `call under way at this node`). */
  readonly unitOfOne: string;
  /**
   * Time after which a retry may succeed, in milliseconds. Undefined if waiting does not help, because the project or its administrator
   * must act.
   */
  readonly retryAfterMs: number | undefined;
  /** Advice for a caller that exceeds the quota. */
  readonly help: FaultText;
};

const raise = text`or have its administrator raise the quota (${call("SetProjectPolicy")})`;

/**
 * All quotas with their defaults. A node with two cores cannot reach the default rates, so they only stop extreme use. They do not share a
 * node fairly between projects; svc does this by serving projects in turn. Operators may set lower rates.
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
    unit: "subscriptions without an entity",
    unitOfOne: "subscription without an entity",
    retryAfterMs: undefined,
    help: text`Delete those that are not used, ${raise}.`,
  },
  entitySubscriptions: {
    reason: "QUOTA_ENTITY_SUBSCRIPTIONS",
    default: 100_000,
    scope: "deployment",
    unit: "subscriptions with an entity",
    unitOfOne: "subscription with an entity",
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
    help: text`Repair or deactivate the endpoints that fail, and wait until pending deliveries were sent, ${raise}.`,
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
    unit: "open streams and waiting calls at this node",
    unitOfOne: "open stream or waiting call at this node",
    retryAfterMs: 5_000,
    help: text`Close streams that are not read, wait for fewer jobs at once, ${raise}.`,
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
  privateToolkitBytes: {
    reason: "QUOTA_PRIVATE_TOOLKIT_BYTES",
    default: 33_554_432,
    scope: "deployment",
    unit: "bytes of private toolkits",
    unitOfOne: "byte of private toolkits",
    retryAfterMs: undefined,
    help: text`Delete a private toolkit that is not used any more, import fewer tools, ${raise}.`,
  },
  storedBytes: {
    reason: "QUOTA_STORED_BYTES",
    default: unlimited,
    scope: "deployment",
    unit: "stored bytes",
    unitOfOne: "stored byte",
    retryAfterMs: undefined,
    help: text`Wait until retention has removed old data, ${raise}.`,
  },
};

/** Returns a project's limit for a quota: its configured value, or the default. Returns Infinity if there is no limit. */
export function quotaOf(set: Quotas | undefined, name: QuotaName): number {
  const value = set?.[name] ?? quotas[name].default;
  return value === unlimited ? Number.POSITIVE_INFINITY : value;
}

/** Data about a quota that a call exceeds. */
export type QuotaExcess = {
  readonly most: number;
  /** Current usage; undefined if the quota is a rate, for which svc stores no usage. */
  readonly used?: number;
  /** True if the project's real usage of the quota may be higher than `used`, because svc stopped counting early. */
  readonly isLeast?: boolean;
  /** Time after which a retry may succeed, in milliseconds. If absent, the `retryAfterMs` of the exceeded quota's definition applies. */
  readonly retryAfterMs?: number;
};

/** Errors for calls that exceed a project's quota. */
export const quotaFaults = defineFaults({
  calls: rowOf("calls"),
  concurrentCalls: rowOf("concurrentCalls"),
  posts: rowOf("posts"),
  subscriptions: rowOf("subscriptions"),
  entitySubscriptions: rowOf("entitySubscriptions"),
  pendingDeliveries: rowOf("pendingDeliveries"),
  jobs: rowOf("jobs"),
  openStreams: rowOf("openStreams"),
  privateToolkits: rowOf("privateToolkits"),
  privateToolkitBytes: rowOf("privateToolkitBytes"),
  storedBytes: rowOf("storedBytes"),
});

const quotaReasons: ReadonlySet<string> = new Set(Object.values(quotas).map(({ reason }) => reason));

/**
 * Returns the error that a customer in the portal receives instead of `fault`. An exceeded quota of the project keeps its reason and its
 * time of retry, but its texts have no numbers of the project. Every other error stays as it is: it names a field, or is about the customer.
 */
export function faultForCustomer(fault: Fault): Fault {
  const { code, details, retryAfterMs } = fault;
  const [detail] = details;
  if (detail === undefined || detail.field !== "" || !quotaReasons.has(detail.reason)) return fault;
  const help = retryAfterMs === undefined ? "Ask the project to raise its limit." : text`Try again ${wait}.`;
  return new Fault(code, "the project has reached a limit", [{ reason: detail.reason, help }], retryAfterMs);
}

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

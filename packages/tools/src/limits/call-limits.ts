import { createHash } from "node:crypto";
import type { AccessClass, Toolkit } from "@svc/catalog";
import { type Clock, createBatcher, type Id, LeastRecentlyUsed, type NodeId, type ProjectId } from "@svc/core";
import { findCallLimits } from "@svc/db/call-limits/find";
import type { CallLimitRow } from "@svc/db/call-limits/repo";
import type { Database } from "@svc/db/connect";
import { isUnavailable } from "@svc/db/driver";
import { compileKeyExpression, type KeyOf } from "./key-expression.ts";
import type { RuledKey } from "./limiters.ts";
import type { PaceRules } from "./pace.ts";
import { type EntryOutcome, Pacer } from "./pacer.ts";

/** A tool call that is about to be sent, with the values from which svc finds the call limits that apply to it. */
export type LimitedCall = {
  readonly projectId: ProjectId;
  readonly toolkit: Toolkit;
  readonly toolSlug: string;
  readonly accessClass: AccessClass;
  readonly account: { readonly id: string; readonly entityId: string };
  /** The job that makes the call, if any. If the call limits have no room for the call, the job tries again by itself. */
  readonly jobId: Id<"job"> | undefined;
};

/** Enforces the projects' call limits. The calls of all nodes count together. */
export type CallLimits = {
  /**
   * Waits up to `waitMs` until the call's limits have room, and returns the outcome. Returns undefined at once if no limit applies. Rejects
   * if the database is unavailable.
   */
  enter(call: LimitedCall, waitMs: number): Promise<EntryOutcome> | undefined;
  /**
   * Removes a project's limits from the cache, so that a change applies at once on this node. Other nodes apply the change within 500 ms.
   */
  forget(projectId: ProjectId): void;
  /** Stops accepting calls, and records in the database that this node has released its slots of the limits. */
  close(): Promise<void>;
};

/** Maximum age of cached limits, in milliseconds. `renewMs`: age at which they are read again in the background. */
const freshMs = 500;
const renewMs = 250;
const projectsMax = 10_000;
const keyCharactersMax = 200;

/** A call limit of a project, ready to be applied. `keyOf`: computes the key of a call; calls with the same key share the limit. */
type Limit = {
  readonly name: string;
  readonly toolkitSlug: string;
  readonly keyOf: KeyOf;
  readonly rules: PaceRules;
};

type Known = { readonly limits: readonly Limit[]; readonly text: string; readAtMs: number };

/** Creates the object that enforces the call limits of all projects on one node. */
export function createCallLimits(options: {
  readonly db: Database;
  readonly clock: Clock;
  readonly nodeId: NodeId;
}): CallLimits {
  const { db, clock } = options;
  const pacer = new Pacer(options);
  const known = new LeastRecentlyUsed<ProjectId, Known>(projectsMax);
  const reading = new Map<ProjectId, Promise<readonly Limit[]>>();
  const ratesOf = new WeakMap<Toolkit, PaceRules>();
  const rows = createBatcher<ProjectId, CallLimitRow[]>({
    run: (ids) => findCallLimits(db, ids),
    sizeMax: 200,
    concurrency: 2,
    besideMin: 32,
    splits: (error) => !isUnavailable(error),
  });

  const read = (projectId: ProjectId): Promise<readonly Limit[]> => {
    const before = reading.get(projectId);
    if (before !== undefined) return before;
    const readAtMs = clock.now();
    const started = rows.add(projectId).then((found) => {
      // If `forget` was called during the read, the result may be out of date. It is not cached, so the next request reads the limits
      // again.
      const isCurrent = reading.get(projectId) === started;
      const text = JSON.stringify(found);
      const kept = known.get(projectId);
      const limits = kept?.text === text ? kept.limits : found.map(limitOf);
      if (isCurrent) known.set(projectId, { limits, text, readAtMs });
      return limits;
    });
    const end = () => {
      if (reading.get(projectId) === started) reading.delete(projectId);
    };
    started.then(end, end);
    reading.set(projectId, started);
    return started;
  };
  /**
   * Returns a project's limits, from the cache if they are fresh. They are renewed in the background before they are too old, so a project
   * with frequent calls does not wait for them.
   */
  const limitsOf = (projectId: ProjectId): readonly Limit[] | Promise<readonly Limit[]> => {
    const current = known.get(projectId);
    const ageMs = current === undefined ? freshMs : clock.now() - current.readAtMs;
    if (current === undefined || ageMs >= freshMs) return read(projectId);
    // An error is ignored here. The next caller that waits for the limits gets the error.
    if (ageMs >= renewMs) read(projectId).catch(() => {});
    return current.limits;
  };
  const rateOf = (toolkit: Toolkit): PaceRules | undefined => {
    if (toolkit.rate === undefined) return undefined;
    const rules = ratesOf.get(toolkit) ?? { concurrency: 0, rate: toolkit.rate, isPaused: false };
    ratesOf.set(toolkit, rules);
    return rules;
  };
  const enterAll = (limits: readonly Limit[], call: LimitedCall, waitMs: number) => {
    const keys = keysOf(limits, call, rateOf(call.toolkit));
    return keys.length === 0 ? undefined : pacer.enter(keys, { waitMs, jobId: call.jobId });
  };
  return {
    enter(call, waitMs) {
      const limits = limitsOf(call.projectId);
      if (!("then" in limits)) return enterAll(limits, call, waitMs);
      return limits.then((found) => enterAll(found, call, waitMs) ?? unlimited);
    },
    forget(projectId) {
      known.delete(projectId);
      reading.delete(projectId);
    },
    close: () => pacer.close(),
  };
}

/** Result for a tool call to which no call limit applies: it may start at once. */
const unlimited: EntryOutcome = { kind: "entered", leave() {}, again: async () => true };

function limitOf({ name, toolkitSlug, keyExpression, concurrency, rateMax, ratePerMs, isPaused }: CallLimitRow): Limit {
  const compiled = compileKeyExpression(keyExpression);
  return {
    name,
    toolkitSlug,
    // Returns the limiter key of a call; calls with equal keys are counted together. If this version cannot read the key expression of an
    // earlier version, the key is always empty. The limit then counts all its calls together.
    keyOf: "keyOf" in compiled ? compiled.keyOf : () => "",
    rules: {
      concurrency,
      rate: rateMax === 0 ? undefined : { max: rateMax, perMs: ratePerMs },
      isPaused,
    },
  };
}

/**
 * Returns the keys of the counters that limit a call (limiter keys). Calls with the same key are counted together. There is one key for
 * each limit of the project that applies to the call. There is one more for the rate that the app's toolkit declares, which is counted per
 * account.
 */
function keysOf(limits: readonly Limit[], call: LimitedCall, rate: PaceRules | undefined): RuledKey[] {
  const { projectId, toolkit, toolSlug, accessClass, account } = call;
  const bindings = { toolSlug, accessClass, accountId: account.id, entityId: account.entityId };
  const named = limits.flatMap(({ name, toolkitSlug, keyOf, rules }) => {
    if (toolkitSlug !== "" && toolkitSlug !== toolkit.slug) return [];
    const key = keyOf(bindings);
    return key === undefined ? [] : [{ projectId, limitName: name, key: shortKey(key), rules }];
  });
  if (rate === undefined) return named;
  return [...named, { projectId, limitName: rateName(toolkit.slug), key: account.id, rules: rate }];
}

/**
 * Returns the limit name that svc uses for the rate limit in the definition of an app's toolkit. A project cannot give this name to one of
 * its own limits.
 */
function rateName(toolkitSlug: string): string {
  return `@${toolkitSlug}`;
}

/**
 * Returns the key under which a limit counts a call, in a form that the database can store. If the key is too long or contains U+0000, the
 * result is its SHA-256 digest.
 */
function shortKey(key: string): string {
  if (key.length <= keyCharactersMax && !key.includes("\0")) return key.toWellFormed();
  return `sha256:${createHash("sha256").update(key).digest("hex")}`;
}

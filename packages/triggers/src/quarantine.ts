import type { Catalog } from "@svc/catalog";
import type { Clock, QuarantineId, Sealer } from "@svc/core";
import {
  type Executor,
  findQuarantinedPost,
  listQuarantinedPosts,
  markReleased,
  noteQuarantine,
  type QuarantinedPost,
  type QuarantineFilter,
  withTransaction,
} from "@svc/db";
import type { Dispatcher } from "@svc/delivery";
import { noProjectDetail, webhookToolkit } from "./ingest.ts";
import { type Normalized, normalize } from "./normalize.ts";
import { quarantineContext, storable } from "./quarantined-row.ts";
import { type StoreOptions, storePosts } from "./store.ts";

/** What became of one post in a release; `accepted` counts the events it stored, `reason` says why it stays. */
export type ReleaseResult = {
  id: string;
  outcome: "released" | "ignored" | "quarantined" | "already_released" | "missing";
  accepted: number;
  reason: string;
};

/** The quarantine of the deployment, for its administrator. */
export type Quarantine = {
  list(filter: QuarantineFilter, page: { after: QuarantineId | undefined; limit: number }): Promise<QuarantinedPost[]>;
  /** The post and its opened body, if there is such a post. */
  find(id: QuarantineId): Promise<{ post: QuarantinedPost; body: Buffer } | undefined>;
  /** Runs one post through the definitions as they are now, in a transaction of its own. */
  release(id: QuarantineId, options: { dryRun: boolean }): Promise<ReleaseResult>;
};

/** What the quarantine is made of. */
export type QuarantineOptions = {
  db: Executor;
  catalog: Catalog;
  clock: Clock;
  sealer: Sealer;
  dispatcher: Pick<Dispatcher, "wake">;
  store: StoreOptions;
};

/** Thrown to undo what a dry run has done. */
class DryRunOver extends Error {
  readonly result: ReleaseResult;

  constructor(result: ReleaseResult) {
    super("dry run");
    this.result = result;
  }
}

/** Makes the administrator's view of the quarantine. */
export function createQuarantine(options: QuarantineOptions): Quarantine {
  const { db, sealer, dispatcher } = options;
  return {
    list: (filter, page) => listQuarantinedPosts(db, filter, page),
    async find(id) {
      const post = await findQuarantinedPost(db, id);
      return post === undefined ? undefined : { post, body: openBody(sealer, post) };
    },
    async release(id, { dryRun }) {
      try {
        const result = await withTransaction(db, async (tx) => {
          const released = await releaseOne(options, tx, id);
          if (dryRun) throw new DryRunOver(released);
          return released;
        });
        if (result.accepted > 0) dispatcher.wake();
        return result;
      } catch (error) {
        if (error instanceof DryRunOver) return error.result;
        throw error;
      }
    },
  };
}

/** The mark and the events commit together; the mark is taken first, so that two releases at once store one event. */
async function releaseOne(options: QuarantineOptions, tx: Executor, id: QuarantineId): Promise<ReleaseResult> {
  const post = await findQuarantinedPost(tx, id);
  if (post === undefined) return { id, outcome: "missing", accepted: 0, reason: "" };
  if (!(await markReleased(tx, id, options.clock.now())))
    return { id, outcome: "already_released", accepted: 0, reason: "" };
  const normalized = normalizeAgain(options, post);
  if (normalized.outcome === "quarantined") return stay(tx, id, normalized);
  if (normalized.outcome !== "event") return { id, outcome: "ignored", accepted: 0, reason: "" };
  // It becomes known now, so it is received now: whoever reads events by receivedAt must not miss it.
  const event = { ...normalized.event, receivedAtMs: options.clock.now() };
  const [stored] = await storePosts(options.store, tx, [event], { lease: false });
  if (stored?.outcome !== "stored") return stay(tx, id, { reason: "no_project", detail: noProjectDetail(event) });
  return { id, outcome: "released", accepted: stored.fresh, reason: "" };
}

function normalizeAgain(options: QuarantineOptions, post: QuarantinedPost): Normalized {
  const toolkit = webhookToolkit(options.catalog, post.toolkitSlug);
  if (toolkit === undefined) {
    return {
      outcome: "quarantined",
      reason: "no_trigger",
      detail: `The catalog has no toolkit ${post.toolkitSlug} with a webhook any more.`,
    };
  }
  const inbound = {
    toolkitSlug: post.toolkitSlug,
    headers: post.headers,
    query: new URLSearchParams(post.query),
    body: openBody(options.sealer, post),
  };
  return normalize(toolkit, inbound, post.receivedAt);
}

async function stay(tx: Executor, id: QuarantineId, why: { reason: string; detail: string }): Promise<ReleaseResult> {
  await noteQuarantine(tx, id, { reason: why.reason, detail: storable(why.detail) });
  return { id, outcome: "quarantined", accepted: 0, reason: why.reason };
}

function openBody(sealer: Sealer, post: QuarantinedPost): Buffer {
  return sealer.open(post.body, quarantineContext(post.id));
}

import type { Catalog, CatalogViews } from "@svc/catalog";
import {
  type BodyDecoder,
  type Clock,
  createBodyDecoder,
  type QuarantineId,
  type Sealer,
  storableText,
  type Turns,
} from "@svc/core";
import { type Executor, withTransaction } from "@svc/db/connect";
import { listQuarantinedPosts } from "@svc/db/quarantine/list";
import {
  findQuarantinedPost,
  markQuarantinedPostReleased,
  noteQuarantinedPost,
  type PostOwner,
  type QuarantinedPost,
  type QuarantineFilter,
} from "@svc/db/quarantine/repo";
import type { Dispatcher } from "@svc/delivery";
import { brokenDetail, noProjectDetail } from "./ingest.ts";
import { eachPath, type ItemResult, type NormalizeResult, normalize, turnGroup } from "./normalize.ts";
import { privateWebhookToolkit, type WebhookToolkit, webhookToolkit } from "./private-webhooks.ts";
import {
  itemsDetail,
  type KeptItem,
  openEnvelope,
  type PostEnvelope,
  quarantineContext,
  sealEnvelope,
} from "./quarantined-row.ts";
import { type NormalizedEvent, type StoreOptions, storePosts } from "./store.ts";

/**
 * Result of releasing one quarantined post (a post kept for inspection). `accepted`: number of events that were stored. If the post is a
 * list of posts, some of its elements can become events while the rest stay in quarantine. `reason`: why something stays in quarantine.
 */
export type ReleaseResult = {
  id: string;
  outcome: "released" | "ignored" | "quarantined" | "already_released" | "missing";
  accepted: number;
  reason: string;
};

/** A quarantined webhook post (which svc could not turn into an event) with its headers and query decrypted, and without its body. */
export type OpenedPost = Omit<QuarantinedPost, "envelope" | "body"> & PostEnvelope;

/**
 * The quarantine: webhook posts that svc could not turn into events and keeps for inspection. Posts to shared toolkits (apps of all
 * projects) belong to the deployment, and its administrator decides about them. Posts to a private toolkit (defined by one project) belong
 * to its project. `owner`: undefined for the deployment.
 */
export type Quarantine = {
  list(filter: QuarantineFilter, page: { after: QuarantineId | undefined; limit: number }): Promise<OpenedPost[]>;
  /**
   * Returns a quarantined webhook post (which svc could not turn into an event) and its body as received. Undefined if the given owner (a
   * project, or the deployment) has no such post.
   */
  find(id: QuarantineId, owner?: PostOwner): Promise<{ post: OpenedPost; body: Buffer } | undefined>;
  /**
   * Reads one quarantined webhook post (which svc could not turn into an event) again by the current definitions and stores its events, in
   * its own transaction. With `dryRun`, the transaction is rolled back.
   */
  release(id: QuarantineId, options: { owner?: PostOwner; dryRun: boolean }): Promise<ReleaseResult>;
};

/** Dependencies and limits of the quarantine (refused webhook posts that are kept for inspection). */
export type QuarantineOptions = {
  db: Executor;
  catalog: Catalog;
  /** The catalogs of projects, with their private toolkits (apps that a project defined for itself). */
  views: Pick<CatalogViews, "forProject">;
  clock: Clock;
  sealer: Sealer;
  /**
   * Maximum size in bytes that the compressed body of a webhook post may have after decoding. A post with a larger body is not released.
   */
  bodyBytesMax: number;
  /** Lets other work run while a large webhook post is read. */
  turns: Pick<Turns, "next">;
  dispatcher: Pick<Dispatcher, "wake">;
  store: StoreOptions;
};

/**
 * Dependencies of releasing quarantined posts. `owner`: project that the posts belong to; undefined for posts of the deployment.
 * `toolkitOf`: returns the toolkit with a slug, if it receives posts.
 */
type ReleaseContext = QuarantineOptions & {
  readonly decoder: BodyDecoder;
  readonly owner: PostOwner;
  readonly toolkitOf: (slug: string) => WebhookToolkit | undefined;
};

/** Thrown at the end of a dry run of a release, so that its transaction is rolled back. Contains the result of the dry run. */
class DryRunOver extends Error {
  readonly result: ReleaseResult;

  constructor(result: ReleaseResult) {
    super("dry run");
    this.result = result;
  }
}

/** Creates the functions of a node for quarantined posts (authentic webhook posts that could not be read, kept for inspection). */
export function createQuarantine(options: QuarantineOptions): Quarantine {
  const { db, sealer, dispatcher } = options;
  const releasing = { ...options, decoder: createBodyDecoder(options.bodyBytesMax) };
  return {
    async list(filter, page) {
      if (filter.owner !== undefined) await sealer.ready([filter.owner]);
      const posts = await listQuarantinedPosts(db, filter, page);
      return posts.map((post) => openPost(sealer, post));
    },
    async find(id, owner) {
      if (owner !== undefined) await sealer.ready([owner]);
      const post = await findQuarantinedPost(db, id, owner);
      return post === undefined ? undefined : { post: openPost(sealer, post), body: openBody(sealer, post) };
    },
    async release(id, { owner, dryRun }) {
      // Before the transaction, so that a definition is not read while rows are locked.
      const catalog = owner === undefined ? options.catalog : await options.views.forProject(owner);
      if (owner !== undefined) await sealer.ready([owner]);
      const toolkitOf = (slug: string) =>
        owner === undefined ? webhookToolkit(catalog, slug) : privateWebhookToolkit(catalog, owner, slug);
      try {
        const result = await withTransaction(db, async (tx) => {
          const released = await releaseOne({ ...releasing, owner, toolkitOf }, tx, id);
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

/**
 * Releases one quarantined webhook post (processes it again). The post is marked as released in the transaction that stores its events. The
 * mark comes first, so that two simultaneous releases store only one event.
 */
async function releaseOne(options: ReleaseContext, tx: Executor, id: QuarantineId): Promise<ReleaseResult> {
  const post = await findQuarantinedPost(tx, id, options.owner);
  if (post === undefined) return { id, outcome: "missing", accepted: 0, reason: "" };
  if (!(await markQuarantinedPostReleased(tx, id, options.clock.now())))
    return { id, outcome: "already_released", accepted: 0, reason: "" };
  const envelope = openEnvelope(options.sealer, post);
  const normalized = await normalizeAgain(options, post, envelope);
  if (normalized.outcome === "quarantined") return stay(tx, id, normalized);
  if (normalized.outcome === "items") return releaseItems(options, tx, post, { ...envelope, read: normalized.items });
  if (normalized.outcome !== "event") return { id, outcome: "ignored", accepted: 0, reason: "" };
  const event = receivedNow(normalized.event, options.clock);
  const [stored] = await storePosts(options.store, tx, [event], { lease: false });
  if (stored?.outcome !== "stored") return stay(tx, id, { reason: "no_project", detail: noProjectDetail(event) });
  return { id, outcome: "released", accepted: stored.fresh, reason: "" };
}

/**
 * Returns the event of a released webhook post with the present time as its time of receipt, because it becomes visible only now.
 * Otherwise, a reader of events in the order of receivedAt could miss it.
 */
function receivedNow(event: NormalizedEvent, clock: Clock): NormalizedEvent {
  return { ...event, receivedAtMs: clock.now() };
}

/**
 * Releases a quarantined post (a refused post kept for inspection) whose list has several elements. Elements that can now be read become
 * events. Elements that fail again remain in quarantine, and only they are listed in the stored post.
 */
async function releaseItems(
  options: ReleaseContext,
  tx: Executor,
  post: QuarantinedPost,
  { read, headers, query }: PostEnvelope & { readonly read: readonly ItemResult[] },
): Promise<ReleaseResult> {
  const { id } = post;
  const made = read.filter((item) => item.outcome === "event");
  const events = made.map(({ event }) => receivedNow(event, options.clock));
  const stored = await storePosts(options.store, tx, events, { lease: false });
  const homeless = made.flatMap(({ index, event }, at): KeptItem[] =>
    stored[at]?.outcome === "stored" ? [] : [{ index, reason: "no_project", detail: noProjectDetail(event) }],
  );
  const accepted = stored.reduce((sum, result) => sum + (result.outcome === "stored" ? result.fresh : 0), 0);
  const kept = [...read.filter((item) => item.outcome === "quarantined"), ...homeless];
  if (kept.length === 0) return { id, outcome: made.length === 0 ? "ignored" : "released", accepted, reason: "" };
  const each = options.toolkitOf(post.toolkitSlug)?.webhook.body.each ?? [];
  const { items, ...why } = itemsDetail(eachPath(each), kept);
  const envelope = sealEnvelope(options.sealer, post, { headers, query, items });
  return { ...(await stay(tx, id, { ...why, envelope })), accepted };
}

async function normalizeAgain(
  options: ReleaseContext,
  post: QuarantinedPost,
  { headers, query, items }: PostEnvelope,
): Promise<NormalizeResult> {
  const toolkit = options.toolkitOf(post.toolkitSlug);
  if (toolkit === undefined) {
    return {
      outcome: "quarantined",
      reason: "no_trigger",
      detail: `The ${post.projectId === null ? "catalog" : "project"} has no toolkit ${post.toolkitSlug} with a webhook any more.`,
    };
  }
  const decoded = await options.decoder.decode(openBody(options.sealer, post), headers["content-encoding"]);
  if (decoded.outcome !== "decoded") return { outcome: "quarantined", reason: "unreadable_body", detail: brokenDetail };
  const inbound = {
    toolkitSlug: post.toolkitSlug,
    headers,
    query: new URLSearchParams(query),
    body: decoded.body,
  };
  decoded.done();
  const turn = () => options.turns.next(turnGroup(toolkit));
  const reading = { bodyBytesMax: options.bodyBytesMax, turn, secrets: [] };
  return normalize(toolkit, inbound, post.receivedAt, reading, items);
}

async function stay(
  tx: Executor,
  id: QuarantineId,
  { detail, ...why }: Pick<QuarantinedPost, "reason" | "detail"> & { readonly envelope?: Buffer },
): Promise<ReleaseResult> {
  await noteQuarantinedPost(tx, id, { ...why, detail: storableText(detail) });
  return { id, outcome: "quarantined", accepted: 0, reason: why.reason };
}

function openPost(sealer: Sealer, kept: QuarantinedPost): OpenedPost {
  const { body: _body, envelope: _envelope, ...post } = kept;
  return { ...post, ...openEnvelope(sealer, kept) };
}

function openBody(sealer: Sealer, post: QuarantinedPost): Buffer {
  return sealer.open(post.body, quarantineContext(post));
}

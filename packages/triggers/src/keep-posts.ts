import {
  type Clock,
  coreFaults,
  createBatcher,
  createId,
  type Fault,
  type ProjectId,
  type Sealer,
  storableText,
} from "@svc/core";
import { type Executor, withTransaction } from "@svc/db/connect";
import { isUnavailable } from "@svc/db/driver";
import { type OperationalEvent, occurrenceOf, publishOperationalEvents } from "@svc/db/events/operational";
import { lockUnheld } from "@svc/db/moves/hold";
import { putQuarantinedPosts, type QuarantinedPost } from "@svc/db/quarantine/repo";
import type { Filters } from "./filters/filters.ts";
import { turnOfLarge } from "./normalize.ts";
import type { InboundPost, IngestOutcome } from "./outcome.ts";
import type { PostQuotas } from "./post-quotas.ts";
import type { WebhookToolkit } from "./private-webhooks.ts";
import { type PostEnvelope, quarantineContext, sealEnvelope } from "./quarantined-row.ts";
import type { Routing } from "./routing.ts";

/** Maximum number of webhook posts that are stored in one batch. */
export const batchMax = 500;
/**
 * Maximum size of all bodies in one batch of webhook posts, in bytes. A larger post forms a batch alone. The limit is needed because one
 * SQL statement sends the whole batch to PostgreSQL.
 */
export const batchBytesMax = 1_048_576;

/**
 * Names of headers that contain credentials or signatures. Names that end in `-token` are not included, because apps send routing data in
 * such headers. Releasing a quarantined webhook post (which svc could not turn into an event) requires this data.
 */
const secretNames = /^(cookie|(proxy-)?authorization)$|(^|-)(api-?key|secret|password|signature)$/;

/**
 * Dependencies of the object that puts webhook posts into quarantine. `turnOf`: returns a function that waits until work for this toolkit
 * may continue.
 */
type KeeperOptions = {
  readonly db: Executor;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly filters: Filters;
  readonly quotas: PostQuotas;
  readonly routing: Routing;
  turnOf(toolkit: WebhookToolkit): () => Promise<void>;
};

/** Puts webhook posts into quarantine (kept for inspection, not delivered), in batches. */
type Keeper = {
  /**
   * Puts a post into quarantine for the reason `why`. The outcome is `over_quota` if the project that defined the toolkit is over a quota.
   */
  keep(toolkit: WebhookToolkit, post: InboundPost, why: QuarantineCause): Promise<IngestOutcome>;
  /** Resolves when every post that was passed to `keep` is stored. */
  idle(): Promise<void>;
};

/** Creates the part of a node that puts webhook posts into quarantine. */
export function createKeeper(options: KeeperOptions): Keeper {
  const { clock, sealer, turnOf } = options;
  const splits = (error: unknown) => !isUnavailable(error);
  const quarantine = createBatcher<ReturnType<typeof quarantinedRow>, void>({
    sizeMax: batchMax,
    concurrency: 1,
    weight: { max: batchBytesMax, of: ({ bodyBytes }) => bodyBytes },
    splits,
    run: async (rows) => {
      await storeQuarantined(options, rows);
      return rows.map(() => undefined);
    },
  });
  const keep: Keeper["keep"] = async (toolkit, post, why) => {
    await turnOfLarge(post.body, turnOf(toolkit));
    const { ownerProjectId: owner } = toolkit;
    if (owner !== "") await sealer.ready([owner]);
    const refusal = owner === "" ? undefined : await chargeQuarantined(options, owner, toolkit.slug);
    if (refusal !== undefined) return { outcome: "over_quota", refusal };
    await quarantine.add(quarantinedRow(sealer, toolkit, post, why, clock.now()));
    return { outcome: "quarantined", reason: why.reason };
  };
  return { keep, idle: () => quarantine.idle() };
}

/**
 * Counts a quarantined webhook post against the quotas of the project that owns the private toolkit. Returns the refusal if the project is
 * over a quota.
 */
async function chargeQuarantined(
  { db, routing, quotas }: { readonly db: Executor; readonly routing: Routing; readonly quotas: PostQuotas },
  projectId: ProjectId,
  toolkitSlug: string,
): Promise<Fault | undefined> {
  const post = { toolkitSlug, triggerSlug: "", to: { projectId, entityId: "" } };
  const view = await routing.prepare(db, [post]);
  const moving = view.holdOf(projectId);
  if (moving !== undefined) return coreFaults.PROJECT_MOVING(moving.hold, moving.to);
  const refusal = quotas.admit([{ projectId, quotas: view.quotasOf(projectId) }]);
  if (refusal !== undefined) quotas.refused(refusal);
  return refusal?.fault;
}

/**
 * The reason why a webhook post is put into quarantine (kept for inspection, not delivered). `items`: the elements of the post's list that
 * are kept; absent if the whole post is kept.
 */
type QuarantineCause = Pick<QuarantinedPost, "reason" | "detail"> & Pick<PostEnvelope, "items">;

/**
 * Stores webhook posts in quarantine (kept for inspection, not delivered). For a post to a project's own toolkit (an app that it defined),
 * it publishes an operational event to the project in the same transaction.
 */
async function storeQuarantined(
  { db, clock, filters }: Pick<KeeperOptions, "db" | "clock" | "filters">,
  rows: readonly QuarantinedPost[],
): Promise<void> {
  const own = rows.flatMap(({ projectId, ...row }) => (projectId === null ? [] : [{ ...row, projectId }]));
  if (own.length === 0) return putQuarantinedPosts(db, rows);
  const nowMs = clock.now();
  await withTransaction(db, async (tx) => {
    // The locks keep a move of these projects from beginning before the posts are stored.
    await lockUnheld(
      tx,
      own.map(({ projectId }) => projectId),
    );
    await putQuarantinedPosts(tx, rows);
    await publishOperationalEvents(tx, own, (received) => quarantineEvents(received, nowMs), { filters, nowMs });
  });
}

type OwnPost = Pick<QuarantinedPost, "toolkitSlug" | "reason" | "detail"> & { readonly projectId: ProjectId };

/**
 * Returns an operational event (an event of svc about a project) for each project, toolkit (app) and reason of quarantined webhook posts.
 */
function quarantineEvents(posts: readonly OwnPost[], nowMs: number): OperationalEvent[] {
  const groups = Map.groupBy(posts, ({ projectId, toolkitSlug, reason }) => `${projectId} ${toolkitSlug} ${reason}`);
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const { projectId, toolkitSlug, reason, detail } = first;
    const occurrence = occurrenceOf(projectId, toolkitSlug, reason, Math.floor(nowMs / 60_000));
    const payload = { toolkitSlug, reason, count: 1 + others.length, detail };
    return [{ name: "posts_quarantined" as const, projectId, entityId: "", occurrence, payload }];
  });
}

/**
 * Returns the encrypted database row of a verified webhook post that goes into quarantine (kept, because svc could not turn it into an
 * event). Headers with credentials and signatures are removed first.
 */
function quarantinedRow(
  sealer: Sealer,
  { slug, webhook, ownerProjectId }: WebhookToolkit,
  post: InboundPost,
  why: QuarantineCause,
  receivedAtMs: number,
): QuarantinedPost {
  const id = createId("qrn", receivedAtMs);
  const projectId = ownerProjectId === "" ? null : ownerProjectId;
  const place = { id, projectId };
  const isSecret = (name: string) => webhook.secretHeaders.has(name) || secretNames.test(name);
  return {
    id,
    toolkitSlug: slug,
    reason: why.reason,
    detail: storableText(why.detail),
    headers: {},
    query: {},
    envelope: sealEnvelope(sealer, place, {
      headers: keptEntries(Object.entries(post.headers), isSecret),
      query: keptEntries([...post.query], (name) => name === webhook.parameter),
      ...(why.items && { items: why.items }),
    }),
    body: sealer.seal(post.body, quarantineContext(place)),
    bodyBytes: post.body.byteLength,
    receivedAt: receivedAtMs,
    releasedAt: null,
    projectId,
  };
}

function keptEntries(entries: [string, string][], isSecret: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(
    entries.filter(([name]) => !isSecret(name)).map(([name, value]) => [storableText(name), storableText(value)]),
  );
}

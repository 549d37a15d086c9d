import type { Catalog } from "@svc/catalog";
import {
  assertExhaustive,
  beginSpan,
  type Clock,
  createBatcher,
  createBodyDecoder,
  currentTrace,
  type NodeId,
  type ProjectId,
  type Sealer,
  type SpanStart,
  spanned,
  type Turns,
} from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { isUnavailable } from "@svc/db/driver";
import type { Dispatcher } from "@svc/delivery";
import { type AdmittedPost, createAdmission, type PostAdmitter } from "./admit-posts.ts";
import type { Filters } from "./filters/filters.ts";
import { batchBytesMax, batchMax, createKeeper } from "./keep-posts.ts";
import { eachPath, type ItemResult, normalize, turnGroup, turnOfLarge, unsignedHandshake } from "./normalize.ts";
import type { InboundPost, IngestOutcome } from "./outcome.ts";
import { createPostQuotas, type PostQuotas } from "./post-quotas.ts";
import type { PrivateWebhooks, WebhookToolkit } from "./private-webhooks.ts";
import { itemsDetail, type KeptItem } from "./quarantined-row.ts";
import { createRouting } from "./routing.ts";
import { type NormalizedEvent, type StoreOutcome, storePosts } from "./store.ts";
import { publicUrlOf } from "./verify.ts";

/** Dependencies and limits of receiving posts (ingest). */
export type IngestOptions = {
  db: Executor;
  catalog: Catalog;
  privateWebhooks: PrivateWebhooks;
  clock: Clock;
  sealer: Sealer;
  nodeId: NodeId;
  dispatcher: Pick<Dispatcher, "room" | "submit" | "endpoints" | "leaseMs">;
  filters: Filters;
  /** Maximum size in bytes that the compressed body of a webhook post may have after decoding. A post with a larger body is refused. */
  bodyBytesMax: number;
  /** Lets the node do other work between the parts of the work on a large webhook post. */
  turns: Pick<Turns, "next">;
  /** Returns the current value of an environment variable of the deployment, for example one that contains the secret of a webhook. */
  secretOf(name: string): string | undefined;
  /** Called after events were stored that start standing programs (programs that start jobs on a schedule or event). */
  onHeard?: (() => void) | undefined;
  /** Called for every event that was stored, but not for duplicates of events that were stored before. */
  onStored?: ((projectId: ProjectId, toolkitSlug: string) => void) | undefined;
};

/** Receives the webhook posts of apps and stores them as events. */
export type Ingest = PostAdmitter & {
  /**
   * Verifies a webhook post, converts it into an event, and commits the event. Rejects only if the database fails. In that case, nothing of
   * the post is stored, with one exception. If the post is a list, the first elements may already be committed. They have dedupe keys, so
   * the app can post the list again without duplicates. `admitted`: result of `admit` for the same post. If `admit` has verified the
   * sender, `accept` does not verify it again, as long as the secrets do not change.
   */
  accept(post: InboundPost, admitted?: AdmittedPost): Promise<IngestOutcome>;
  /** Stores an event that a project publishes, in a batch with webhook posts and other events. Rejects only if the database fails. */
  storeEvent(event: NormalizedEvent): Promise<StoreOutcome>;
  /** The webhook posts that this node has received, by project, for the projects' quotas. */
  readonly quotas: Pick<PostQuotas, "loadOf" | "loads">;
  /** Resolves when every webhook post in progress is answered. */
  drain(): Promise<void>;
};

/**
 * Maximum number of webhook posts that may wait for a commit. If more wait, the database is too slow, and svc asks the app to post again
 * later.
 */
const waitingMax = 20_000;
/**
 * Maximum number of batches that are committed at the same time. PostgreSQL can compute one commit while another waits for the disk, which
 * is only useful if both batches are large.
 */
const batchConcurrency = 2;
const besideMin = 24;
/**
 * Maximum events, and maximum bytes, that svc stores together from one webhook post with a list. So posts of other apps need not wait for
 * the whole list.
 */
const together = { events: 100, bytes: 262_144 };
/**
 * Under load, a batch waits for more webhook posts: `ms` milliseconds, if the previous batch had `fromSize` posts or more. A commit costs
 * about as much as ten rows, so larger batches are better.
 */
const linger = { ms: 1, fromSize: 4 };

/** Creates the part of a node that receives webhook posts from apps. It checks each post, and stores the post's events. */
export function createIngest(options: IngestOptions): Ingest {
  const { clock, db } = options;
  const quotas = createPostQuotas({ db, clock });
  const storing = { ...options, quotas, routing: createRouting() };
  const decoder = createBodyDecoder(options.bodyBytesMax);
  const splits = (error: unknown) => !isUnavailable(error);
  const events = createBatcher<NormalizedEvent, StoreOutcome>({
    sizeMax: batchMax,
    concurrency: batchConcurrency,
    besideMin,
    linger,
    waitingMax,
    weight: { max: batchBytesMax, of: ({ payload }) => payload.length },
    splits,
    run: (posts) => spanned(beginSpan(commitSpan, posts), () => storePosts(storing, db, posts)),
  });
  /** Stores an event in a batch. Its span is kept with it, so that the deliveries and runs of the event continue the trace of the post. */
  const record = (event: NormalizedEvent, describe: (event: NormalizedEvent) => SpanStart) => {
    const span = beginSpan(describe, event);
    if (span === undefined) return events.add(event);
    const { traceparent } = span;
    const failureOf = ({ outcome }: StoreOutcome) => (outcome === "stored" ? undefined : outcome);
    return spanned(span, () => events.add({ ...event, traceparent }), failureOf);
  };
  const turnOf = (toolkit: WebhookToolkit) => () => options.turns.next(turnGroup(toolkit));
  const keeper = createKeeper({ ...storing, turnOf });
  const admission = createAdmission(options);
  const readingOf = ({ toolkit, secrets }: Receiver) => {
    return { bodyBytesMax: options.bodyBytesMax, turn: turnOf(toolkit), secrets };
  };
  const store = async (
    receiver: Receiver,
    post: InboundPost,
    body: Buffer,
    receivedAtMs: number,
  ): Promise<IngestOutcome> => {
    const { toolkit } = receiver;
    const inbound = body === post.body ? post : { ...post, body };
    const normalized = await normalize(toolkit, inbound, receivedAtMs, readingOf(receiver));
    if (normalized.outcome === "quarantined") return keeper.keep(toolkit, post, normalized);
    if (normalized.outcome === "items") return storeItems(toolkit, post, normalized.items);
    if (normalized.outcome !== "event") return normalized;
    const stored = await record(normalized.event, recordSpan);
    if (stored.outcome === "stored") return { outcome: "accepted", events: stored.events };
    if (stored.outcome === "over_quota") return stored;
    return keeper.keep(toolkit, post, { reason: "no_project", detail: noProjectDetail(normalized.event) });
  };
  /**
   * Stores the events made from the elements of a list in a webhook post. Elements that did not become events are put into quarantine (kept
   * for inspection), with one row for each reason, because each row contains the whole post. If a quota refuses an element, nothing is put
   * into quarantine. The app then posts the list again, and svc recognizes the events that are already stored.
   */
  const storeItems = async (
    toolkit: WebhookToolkit,
    post: InboundPost,
    items: readonly ItemResult[],
  ): Promise<IngestOutcome> => {
    const made = items.filter((item) => item.outcome === "event");
    const kept: KeptItem[] = items.filter((item) => item.outcome === "quarantined");
    const roomy = new Set<ProjectId>();
    let [stored, projects] = [0, 0];
    let refused: IngestOutcome | undefined;
    for (const chunk of chunksOf(made)) {
      for (const [at, result] of (
        await Promise.all(
          chunk.map(({ event }) => record({ ...event, roomy }, made.length === 1 ? recordSpan : partSpan)),
        )
      ).entries()) {
        const item = chunk[at];
        // A project whose quota is full must not prevent that the elements of other projects are stored.
        if (result.outcome === "over_quota") refused ??= result;
        if (item === undefined || result.outcome === "over_quota") continue;
        if (result.outcome === "no_project")
          kept.push({ index: item.index, reason: "no_project", detail: noProjectDetail(item.event) });
        else [stored, projects] = [stored + 1, projects + result.events];
      }
    }
    if (refused !== undefined) return refused;
    const each = eachPath(toolkit.webhook.body.each ?? []);
    for (const ofReason of Map.groupBy(kept, ({ reason }) => reason).values())
      await keeper.keep(toolkit, post, itemsDetail(each, ofReason));
    if (stored > 0) return { outcome: "accepted", events: projects, items: stored };
    const [first] = kept;
    return first === undefined ? { outcome: "ignored" } : { outcome: "quarantined", reason: first.reason };
  };
  /**
   * Decompresses the body of a webhook post, and stores the post with the decompressed body. The signature is verified before, because it
   * covers the compressed bytes.
   */
  const storeDecoded = async (
    receiver: Receiver,
    post: InboundPost,
    encoding: string,
    receivedAtMs: number,
  ): Promise<IngestOutcome> => {
    const decoded = await decoder.decode(post.body, encoding);
    switch (decoded.outcome) {
      case "decoded":
        return store(receiver, post, decoded.body, receivedAtMs).finally(decoded.done);
      case "broken":
        return keeper.keep(receiver.toolkit, post, { reason: "unreadable_body", detail: brokenDetail });
      case "unsupported":
        return { outcome: "encoding_unsupported", encoding: decoded.encoding };
      case "too_large":
        return { outcome: "too_large" };
      case "no_room":
        return { outcome: "unavailable" };
      default:
        return assertExhaustive(decoded);
    }
  };
  const admitAgain = ({ projectId, ...post }: InboundPost) =>
    projectId === undefined
      ? admission.admit(post.toolkitSlug, post.query, post.headers)
      : admission.admitPrivate({ ...post, projectId });
  return {
    quotas,
    admit: admission.admit,
    admitPrivate: admission.admitPrivate,
    greet: admission.greet,
    greetPrivate: admission.greetPrivate,
    storeEvent: (event) => record(event, recordSpan),
    async accept(post, admitted) {
      const found = admitted !== undefined && admission.isKnown(admitted) ? admitted : await admitAgain(post);
      if (found.outcome !== "admitted") return found;
      const { toolkit, secrets } = found;
      const receivedAtMs = clock.now();
      await turnOfLarge(post.body, turnOf(toolkit));
      const at = {
        nowMs: receivedAtMs,
        publicUrl: toolkit.webhook.needsUrl ? publicUrlOf(options.secretOf) : undefined,
      };
      const span = found.isVerified ? undefined : beginSpan(verifySpan, undefined);
      const isVerified = found.isVerified || toolkit.webhook.isVerified(post, secrets, at);
      span?.end(isVerified ? undefined : "unverified");
      if (!isVerified) {
        const answer = await unsignedHandshake(toolkit.webhook, post, readingOf(found));
        if (answer !== undefined) return { outcome: "challenge", answer };
        return { outcome: "unverified", why: () => toolkit.webhook.whyUnverified(post, secrets, at) };
      }
      const encoding = post.headers["content-encoding"];
      if (encoding !== undefined) return storeDecoded(found, post, encoding, receivedAtMs);
      return store(found, post, post.body, receivedAtMs);
    },
    async drain() {
      await events.idle();
      await keeper.idle();
      await options.filters.idle();
    },
  };
}

/** Describes the span of an event. A toolkit of a project's own is not named, because the project chose the name. */
function recordSpan({ toolkitSlug, to }: NormalizedEvent): SpanStart {
  return { name: "record", kind: "producer", facts: { "svc.toolkit": to === undefined ? toolkitSlug : "private" } };
}

/** Describes the span of one of many events of a post. Each event has a trace of its own, which is linked with the trace of the post. */
function partSpan(event: NormalizedEvent): SpanStart {
  return { ...recordSpan(event), parent: null, links: [currentTrace()] };
}

/** Describes the span of a commit, which is linked with the events that it stores. */
function commitSpan(posts: readonly NormalizedEvent[]): SpanStart {
  const links = posts.map(({ traceparent }) => traceparent);
  return { name: "batch commit", parent: null, links, facts: { "svc.events": posts.length } };
}

function verifySpan(): SpanStart {
  return { name: "verify" };
}

/** A toolkit (app) that receives a webhook post, and the secrets that verify the post. */
type Receiver = Pick<AdmittedPost, "toolkit" | "secrets">;

/**
 * Divides the events of the list in a webhook post into groups. The events of one group are stored together, before the next group is
 * stored.
 */
function chunksOf<Item extends { readonly event: NormalizedEvent }>(items: readonly Item[]): Item[][] {
  const chunks: Item[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const item of items) {
    bytes += item.event.payload.length;
    if (bytes > together.bytes || chunks.at(-1)?.length === together.events) {
      chunks.push([]);
      bytes = item.event.payload.length;
    }
    chunks.at(-1)?.push(item);
  }
  return chunks;
}

/** The reason for quarantining (keeping for inspection) a webhook post whose body cannot be decoded. */
export const brokenDetail = "Its body is not compressed as its Content-Encoding says.";

/** Returns the reason why no project received a webhook post. */
export function noProjectDetail(event: NormalizedEvent): string {
  if (event.audience !== "accounts") return "The deployment has no project.";
  if (event.account === "")
    return `${event.triggerSlug}: the post names no account, and the toolkit's audience is accounts.`;
  return `${event.triggerSlug}: no project holds an account with the reference that the post names.`;
}

import type { Catalog, Webhook, WebhookSecret } from "@svc/catalog";
import {
  assertExhaustive,
  type Clock,
  createBatcher,
  createBodyDecoder,
  createId,
  type Fault,
  type NodeId,
  type ProjectId,
  type Sealer,
  storableText,
  type Turns,
} from "@svc/core";
import { type Executor, withTransaction } from "@svc/db/connect";
import { isUnavailable } from "@svc/db/driver";
import { type OperationalEvent, occurrenceOf, publishOperationalEvents } from "@svc/db/events/operational";
import { putQuarantinedPosts, type QuarantinedPost } from "@svc/db/quarantine/repo";
import type { Dispatcher } from "@svc/delivery";
import type { Filters } from "./filters/filters.ts";
import { eachPath, type ItemResult, normalize, turnGroup, turnOfLarge, unsignedHandshake } from "./normalize.ts";
import type { InboundPost, IngestOutcome } from "./outcome.ts";
import { createPostQuotas, type PostQuotas } from "./post-quotas.ts";
import { type PrivateWebhook, type PrivateWebhooks, type WebhookToolkit, webhookToolkit } from "./private-webhooks.ts";
import { itemsDetail, type KeptItem, type PostEnvelope, quarantineContext, sealEnvelope } from "./quarantined-row.ts";
import { createRouting, type Routing } from "./routing.ts";
import { type NormalizedEvent, type StoreOutcome, storePosts } from "./store.ts";
import { faultOfPrivateWebhook, faultOfWebhook, isSecretSet, publicUrlOf, secretsOf } from "./verify.ts";

/**
 * Names of headers that contain credentials or signatures. Names that end in `-token` are not included, because apps send routing data in
 * such headers. Releasing a quarantined webhook post (which svc could not turn into an event) requires this data.
 */
const secretNames = /^(cookie|(proxy-)?authorization)$|(^|-)(api-?key|secret|password|signature)$/;

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
  /** Largest decoded size of a compressed body, in bytes. */
  bodyBytesMax: number;
  /** Lets the node do other work between the parts of the work on a large webhook post. */
  turns: Pick<Turns, "next">;
  /** Returns the current value of a deployment variable. */
  secretOf(name: string): string | undefined;
  /** Called after events were stored that start standing programs (programs that start jobs on a schedule or event). */
  onHeard?: (() => void) | undefined;
  /** Called for every new event. */
  onStored?: ((projectId: ProjectId, toolkitSlug: string) => void) | undefined;
};

/** Receives the webhook posts of apps and stores them as events. */
export type Ingest = {
  /**
   * Checks a webhook post to a shared toolkit (an app of all projects) before its body is read. Returns the final answer if the body is not
   * needed for it. Otherwise returns the admission, the permission to read the body.
   */
  admit(toolkitSlug: string, query: URLSearchParams, headers?: InboundPost["headers"]): PostAdmission;
  /**
   * Checks a webhook post to a private toolkit (an app that one project defined) before its body is read. Returns the final answer, or the
   * permission to read the body. Returns a promise if the project exists; it rejects if the database fails.
   */
  admitPrivate(post: PrivatePostHead): PostAdmission | Promise<PostAdmission>;
  /**
   * Returns the answer to a request with a method other than POST. The answer is `no_handshake` if no handshake (check of the webhook URL
   * by the app) matches.
   */
  greet(method: string, request: PostHead): Greeting;
  /**
   * Returns the answer to a request for a private toolkit (defined by one project) with a method other than POST. The answer is
   * `no_handshake` if no handshake (check of the webhook URL by the app) matches. Returns a promise if the project exists; it rejects if
   * the database fails.
   */
  greetPrivate(method: string, request: PrivatePostHead): Greeting | Promise<Greeting>;
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

/** A webhook post without its body. */
export type PostHead = Omit<InboundPost, "body">;

/** A webhook post to a private toolkit (an app that one project defined for itself) without its body. */
export type PrivatePostHead = PostHead & { readonly projectId: ProjectId };

/**
 * Result of a request with a method other than POST. Apps send such a request to verify that a webhook address belongs to their customer.
 */
export type Greeting = IngestOutcome | NoHandshake;

/**
 * Result of the check before the body is read. It is the final answer if the app's toolkit takes no webhook posts, is not ready, or the
 * token is wrong. Otherwise it is the permission to read the body.
 */
export type PostAdmission = IngestOutcome | AdmittedPost;

/**
 * The request asks for a handshake (a check of the address by the app) that the definition of the app's toolkit does not have. `methods`:
 * HTTP methods that the webhook path accepts.
 */
export type NoHandshake = { readonly outcome: "no_handshake"; readonly methods: readonly string[] };

/** A webhook post that passed all checks that are possible before its body is read. */
export type AdmittedPost = {
  readonly outcome: "admitted";
  readonly toolkit: WebhookToolkit;
  readonly secrets: readonly WebhookSecret[];
  /** True if the headers or the query have already proved who sent the webhook post. Then the signature of the body is not checked. */
  readonly isVerified: boolean;
};

const batchMax = 500;
/**
 * Maximum size of all bodies in one batch of webhook posts, in bytes. A larger post forms a batch alone. The limit is needed because one
 * SQL statement sends the whole batch to PostgreSQL.
 */
const batchBytesMax = 1_048_576;
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
 * Maximum number and size of a list's events that are committed together, so that webhook posts of other apps need not wait for a whole
 * list.
 */
const together = { events: 100, bytes: 262_144 };
/**
 * Under load, a batch waits for more webhook posts: `ms` milliseconds, if the previous batch had `fromSize` posts or more. A commit costs
 * about as much as ten rows, so larger batches are better.
 */
const linger = { ms: 1, fromSize: 4 };

/** Creates the part of a node that receives webhook posts from apps. It checks each post, and stores the post's events. */
export function createIngest(options: IngestOptions): Ingest {
  const { catalog, clock, db, sealer, privateWebhooks } = options;
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
    run: (posts) => storePosts(storing, db, posts),
  });
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
  const turnOf = (toolkit: WebhookToolkit) => () => options.turns.next(turnGroup(toolkit));
  const secretsNow = createSecrets(options.secretOf);
  const readingOf = ({ toolkit, secrets }: Receiver) => {
    return { bodyBytesMax: options.bodyBytesMax, turn: turnOf(toolkit), secrets };
  };
  const keep = async (toolkit: WebhookToolkit, post: InboundPost, why: QuarantineCause): Promise<IngestOutcome> => {
    await turnOfLarge(post.body, turnOf(toolkit));
    const { ownerProjectId: owner } = toolkit;
    if (owner !== "") await sealer.ready([owner]);
    const refusal = owner === "" ? undefined : await chargeQuarantined(storing, owner, toolkit.slug);
    if (refusal !== undefined) return { outcome: "over_quota", refusal };
    await quarantine.add(quarantinedRow(sealer, toolkit, post, why, clock.now()));
    return { outcome: "quarantined", reason: why.reason };
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
    if (normalized.outcome === "quarantined") return keep(toolkit, post, normalized);
    if (normalized.outcome === "items") return storeItems(toolkit, post, normalized.items);
    if (normalized.outcome !== "event") return normalized;
    const stored = await events.add(normalized.event);
    if (stored.outcome === "stored") return { outcome: "accepted", events: stored.events };
    if (stored.outcome === "over_quota") return stored;
    return keep(toolkit, post, { reason: "no_project", detail: noProjectDetail(normalized.event) });
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
        await Promise.all(chunk.map(({ event }) => events.add({ ...event, roomy })))
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
      await keep(toolkit, post, itemsDetail(each, ofReason));
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
        return keep(receiver.toolkit, post, { reason: "unreadable_body", detail: brokenDetail });
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
  const ready = (toolkit: WebhookToolkit): IngestOutcome | readonly WebhookSecret[] => {
    const { webhook } = toolkit;
    const secrets = secretsNow(webhook);
    if (secrets.length > 0 && !webhook.needsUrl) return secrets;
    const fault = faultOfWebhook(webhook, options.secretOf);
    if (fault === undefined) return secrets;
    return isSecretSet(webhook, options.secretOf)
      ? { outcome: "not_ready", fault }
      : { outcome: "secret_unset", secretEnv: webhook.secretEnv };
  };
  const readyPrivate = (found: PrivateWebhook): IngestOutcome | readonly WebhookSecret[] => {
    const fault = faultOfPrivateWebhook(found, options.secretOf);
    if (fault === undefined) return found.secrets;
    return found.isSecretSet ? { outcome: "not_ready", fault } : { outcome: "secret_unset", secretEnv: "" };
  };
  const admitTo = (
    toolkit: WebhookToolkit,
    secrets: IngestOutcome | readonly WebhookSecret[],
    post: Pick<PostHead, "headers" | "query">,
  ): PostAdmission => {
    if ("outcome" in secrets) return secrets;
    const isRight = toolkit.webhook.isHeadVerified(post, secrets);
    if (isRight === false && !toolkit.webhook.hasUnsignedHandshakes) {
      const why = () => toolkit.webhook.whyUnverified({ ...post, body: noBytes }, secrets, { nowMs: clock.now() });
      return { outcome: "unverified", why };
    }
    return { outcome: "admitted", toolkit, secrets, isVerified: isRight === true };
  };
  const admit: Ingest["admit"] = (toolkitSlug, query, headers = {}) => {
    const toolkit = webhookToolkit(catalog, toolkitSlug);
    return toolkit === undefined ? unknownToolkit : admitTo(toolkit, ready(toolkit), { headers, query });
  };
  const admitPrivate: Ingest["admitPrivate"] = (post) => {
    const finding = privateWebhooks.find(post.projectId, post.toolkitSlug);
    if (finding === undefined) return unknownToolkit;
    return finding.then((found) =>
      found === undefined ? unknownToolkit : admitTo(found.toolkit, readyPrivate(found), post),
    );
  };
  const admitAgain = ({ projectId, ...post }: InboundPost) =>
    projectId === undefined ? admit(post.toolkitSlug, post.query, post.headers) : admitPrivate({ ...post, projectId });
  // A private toolkit or its secrets may have changed on another node while the body arrived, so it is looked up again.
  const isKnown = ({ toolkit, secrets }: AdmittedPost) =>
    catalog.toolkits.get(toolkit.slug) === toolkit && secretsNow(toolkit.webhook) === secrets;
  const greetAs = (
    toolkit: WebhookToolkit,
    secrets: IngestOutcome | readonly WebhookSecret[],
    { method, headers, query }: Pick<PostHead, "headers" | "query"> & { readonly method: string },
  ): Greeting => {
    const { methods } = toolkit.webhook;
    if (!methods.includes(method)) return { outcome: "no_handshake", methods };
    if ("outcome" in secrets) return secrets;
    const answer = toolkit.webhook.handshake({ method, headers, query, body: undefined }, secrets, false);
    if (answer === undefined) return { outcome: "no_handshake", methods };
    return answer === "refused" ? { outcome: "unverified" } : { outcome: "challenge", answer };
  };
  return {
    quotas,
    admit,
    storeEvent: (event) => events.add(event),
    admitPrivate,
    greet(method, post) {
      const toolkit = webhookToolkit(catalog, post.toolkitSlug);
      return toolkit === undefined ? notGreeted : greetAs(toolkit, ready(toolkit), { ...post, method });
    },
    greetPrivate(method, post) {
      const finding = privateWebhooks.find(post.projectId, post.toolkitSlug);
      if (finding === undefined) return notGreeted;
      return finding.then((found) =>
        found === undefined ? notGreeted : greetAs(found.toolkit, readyPrivate(found), { ...post, method }),
      );
    },
    async accept(post, admitted) {
      const admission = admitted !== undefined && isKnown(admitted) ? admitted : await admitAgain(post);
      if (admission.outcome !== "admitted") return admission;
      const { toolkit, secrets } = admission;
      const receivedAtMs = clock.now();
      await turnOfLarge(post.body, turnOf(toolkit));
      const at = {
        nowMs: receivedAtMs,
        publicUrl: toolkit.webhook.needsUrl ? publicUrlOf(options.secretOf) : undefined,
      };
      if (!admission.isVerified && !toolkit.webhook.isVerified(post, secrets, at)) {
        const answer = await unsignedHandshake(toolkit.webhook, post, readingOf(admission));
        if (answer !== undefined) return { outcome: "challenge", answer };
        return { outcome: "unverified", why: () => toolkit.webhook.whyUnverified(post, secrets, at) };
      }
      const encoding = post.headers["content-encoding"];
      if (encoding !== undefined) return storeDecoded(admission, post, encoding, receivedAtMs);
      return store(admission, post, post.body, receivedAtMs);
    },
    async drain() {
      await events.idle();
      await quarantine.idle();
      await options.filters.idle();
    },
  };
}

const noBytes = Buffer.alloc(0);
const unknownToolkit: IngestOutcome = { outcome: "unknown_toolkit" };
const notGreeted: NoHandshake = { outcome: "no_handshake", methods: ["POST"] };

/** A toolkit (app) that receives a webhook post, and the secrets that verify the post. */
type Receiver = Pick<AdmittedPost, "toolkit" | "secrets">;

/**
 * Counts a webhook post that becomes no event for the quotas of the project that defined the private toolkit (app). Returns the refusal if
 * the project is over a quota. Without this check, such posts could fill the quarantine (posts kept for inspection).
 */
async function chargeQuarantined(
  { db, routing, quotas }: { readonly db: Executor; readonly routing: Routing; readonly quotas: PostQuotas },
  projectId: ProjectId,
  toolkitSlug: string,
): Promise<Fault | undefined> {
  const post = { toolkitSlug, triggerSlug: "", to: { projectId, entityId: "" } };
  const view = await routing.prepare(db, [post]);
  const refusal = quotas.admit([{ projectId, quotas: view.quotasOf(projectId) }]);
  if (refusal !== undefined) quotas.refused(refusal);
  return refusal?.fault;
}

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
  { db, clock, filters }: Pick<IngestOptions, "db" | "clock" | "filters">,
  rows: readonly QuarantinedPost[],
): Promise<void> {
  const own = rows.flatMap(({ projectId, ...row }) => (projectId === null ? [] : [{ ...row, projectId }]));
  if (own.length === 0) return putQuarantinedPosts(db, rows);
  const nowMs = clock.now();
  await withTransaction(db, async (tx) => {
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

/**
 * Returns a function that returns the secrets by which a webhook's posts are verified. They come from an environment variable. As long as
 * its value does not change, the function returns the same list object.
 */
function createSecrets(read: (variable: string) => string | undefined): (webhook: Webhook) => readonly WebhookSecret[] {
  const known = new WeakMap<
    Webhook,
    { readonly value: string | undefined; readonly secrets: readonly WebhookSecret[] }
  >();
  return (webhook) => {
    const value = read(webhook.secretEnv);
    const last = known.get(webhook);
    if (last !== undefined && last.value === value) return last.secrets;
    const secrets = secretsOf(webhook, value);
    known.set(webhook, { value, secrets });
    return secrets;
  };
}

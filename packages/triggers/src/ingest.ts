import type { Catalog, Toolkit, Webhook } from "@svc/catalog";
import {
  assertExhaustive,
  type Clock,
  createBatcher,
  createBodyDecoder,
  createId,
  type NodeId,
  type ProjectId,
  type Sealer,
  storableText,
  type Turns,
} from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { isUnavailable } from "@svc/db/driver";
import { putQuarantinedPosts, type QuarantinedPost } from "@svc/db/quarantine/repo";
import type { Dispatcher } from "@svc/delivery";
import { normalize, turnOfLarge } from "./normalize.ts";
import type { InboundPost, IngestOutcome } from "./outcome.ts";
import { createPostQuotas, type PostQuotas } from "./post-quotas.ts";
import { quarantineContext, sealEnvelope } from "./quarantined-row.ts";
import { createRouting } from "./routing.ts";
import { type NormalizedEvent, type Stored, storePosts } from "./store.ts";
import { isQueryVerified, isVerified, secretsOf, type WebhookSecret } from "./verify.ts";

/** Names of headers that carry credentials or signatures. Not `-token`: apps send routing data under that name, and a release needs it. */
const secretNames = /^(cookie|(proxy-)?authorization)$|(^|-)(api-?key|secret|password|signature)$/;

/** What ingest is made of. */
export type IngestOptions = {
  db: Executor;
  catalog: Catalog;
  clock: Clock;
  sealer: Sealer;
  nodeId: NodeId;
  dispatcher: Pick<Dispatcher, "room" | "submit" | "endpoints" | "leaseMs">;
  /** Bytes that a compressed body may decode to. */
  bodyBytesMax: number;
  /** Gives out the time in which large posts are read. */
  turns: Pick<Turns, "next">;
  /** The present value of a deployment variable. */
  secretOf(name: string): string | undefined;
  /** Told of events that standing programs listen to, once they are stored. */
  onHeard?: (() => void) | undefined;
  /** Told of every event that is new. */
  onStored?: ((projectId: ProjectId, toolkitSlug: string) => void) | undefined;
};

/** The inbound side: a provider's post to stored events. */
export type Ingest = {
  /** What is known of a post before its body is read. */
  admit(toolkitSlug: string, query: URLSearchParams): PostAdmission;
  /**
   * Verifies, normalizes and commits a post. Rejects only when the store does: then nothing of the post is stored. What `admitted`
   * says of its query holds for as long as the secrets are the same.
   */
  accept(post: InboundPost, admitted?: Admitted): Promise<IngestOutcome>;
  /** What projects received by this node. */
  readonly quotas: Pick<PostQuotas, "loadOf" | "loads">;
  /** Resolves once every post under way is answered. */
  drain(): Promise<void>;
};

/** The answer that needs no body: nobody takes such posts, no secret is set, or the token is wrong. Else go on and read it. */
export type PostAdmission = IngestOutcome | Admitted;

/** A post of which nothing is wrong before its body is read. */
export type Admitted = {
  readonly outcome: "admitted";
  readonly toolkit: WebhookToolkit;
  readonly secrets: readonly WebhookSecret[];
  /** Whether the query has shown that it is the provider's: then the body says no more of that. */
  readonly isVerified: boolean;
};

const batchMax = 500;
/** Of the bodies of a batch, beyond which it has one post: a statement is written in one go. */
const batchBytesMax = 1_048_576;
/** Posts that wait for a commit; beyond, the store does not keep up, and a provider is better told to come again. */
const waitingMax = 20_000;
/** Two commits overlap, one worked out while the other waits for the disk, as long as neither becomes small by it. */
const batchConcurrency = 2;
const besideMin = 24;
/** A commit costs the store and us about as much as ten rows, so under load a post waits a moment for company. */
const linger = { ms: 1, fromSize: 4 };

/** Makes the inbound side of one node. */
export function createIngest(options: IngestOptions): Ingest {
  const { catalog, clock, db, sealer } = options;
  const quotas = createPostQuotas({ db, clock });
  const storing = { ...options, quotas, routing: createRouting() };
  const decoder = createBodyDecoder(options.bodyBytesMax);
  const splits = (error: unknown) => !isUnavailable(error);
  const events = createBatcher<NormalizedEvent, Stored>({
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
      await putQuarantinedPosts(db, rows);
      return rows.map(() => undefined);
    },
  });
  const turnOf =
    ({ slug }: WebhookToolkit) =>
    () =>
      options.turns.next(`toolkit:${slug}`);
  const keep = async (
    toolkit: WebhookToolkit,
    post: InboundPost,
    why: Pick<QuarantinedPost, "reason" | "detail">,
  ): Promise<IngestOutcome> => {
    await turnOfLarge(post.body, turnOf(toolkit));
    await quarantine.add(quarantinedRow(sealer, toolkit.webhook, post, why, clock.now()));
    return { outcome: "quarantined", reason: why.reason };
  };
  const store = async (
    toolkit: WebhookToolkit,
    post: InboundPost,
    body: Buffer,
    receivedAtMs: number,
  ): Promise<IngestOutcome> => {
    const reading = { bodyBytesMax: options.bodyBytesMax, turn: turnOf(toolkit) };
    const normalized = await normalize(toolkit, body === post.body ? post : { ...post, body }, receivedAtMs, reading);
    if (normalized.outcome === "quarantined") return keep(toolkit, post, normalized);
    if (normalized.outcome !== "event") return normalized;
    const stored = await events.add(normalized.event);
    if (stored.outcome === "stored") return { outcome: "accepted", events: stored.events };
    if (stored.outcome === "over_quota") return stored;
    return keep(toolkit, post, { reason: "no_project", detail: noProjectDetail(normalized.event) });
  };
  /** `body` of what is stored is what the post's own bytes, which were signed, decode to. */
  const storeDecoded = async (
    toolkit: WebhookToolkit,
    post: InboundPost,
    encoding: string,
    receivedAtMs: number,
  ): Promise<IngestOutcome> => {
    const decoded = await decoder.decode(post.body, encoding);
    switch (decoded.outcome) {
      case "decoded":
        return store(toolkit, post, decoded.body, receivedAtMs).finally(decoded.done);
      case "broken":
        return keep(toolkit, post, { reason: "invalid_payload", detail: brokenDetail });
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
  const secretsOf = createSecrets(options.secretOf);
  const admit = (toolkitSlug: string, query: URLSearchParams): PostAdmission => {
    const toolkit = webhookToolkit(catalog, toolkitSlug);
    if (toolkit === undefined) return { outcome: "unknown_toolkit" };
    const { secretEnv } = toolkit.webhook;
    const secrets = secretsOf(secretEnv);
    if (secrets.length === 0) return { outcome: "secret_unset", secretEnv };
    const isRight = isQueryVerified(toolkit.webhook, query, secrets);
    if (isRight === false) return { outcome: "unverified" };
    return { outcome: "admitted", toolkit, secrets, isVerified: isRight === true };
  };
  const isKnown = ({ toolkit, secrets }: Admitted) =>
    catalog.toolkits.get(toolkit.slug) === toolkit && secretsOf(toolkit.webhook.secretEnv) === secrets;
  return {
    quotas,
    admit,
    async accept(post, admitted) {
      const admission = admitted !== undefined && isKnown(admitted) ? admitted : admit(post.toolkitSlug, post.query);
      if (admission.outcome !== "admitted") return admission;
      const { toolkit, secrets } = admission;
      const receivedAtMs = clock.now();
      await turnOfLarge(post.body, turnOf(toolkit));
      if (!admission.isVerified && !isVerified(toolkit.webhook, post, secrets, receivedAtMs))
        return { outcome: "unverified" };
      const encoding = post.headers["content-encoding"];
      if (encoding !== undefined) return storeDecoded(toolkit, post, encoding, receivedAtMs);
      return store(toolkit, post, post.body, receivedAtMs);
    },
    async drain() {
      await events.idle();
      await quarantine.idle();
    },
  };
}

/** A toolkit that takes posts. */
export type WebhookToolkit = Toolkit & { webhook: Webhook };

/** The toolkit of that slug, if it takes posts. */
export function webhookToolkit(catalog: Catalog, slug: string): WebhookToolkit | undefined {
  const toolkit = catalog.toolkits.get(slug);
  return toolkit?.webhook === undefined ? undefined : (toolkit as WebhookToolkit);
}

/** Why a post whose body cannot be decoded stays. */
export const brokenDetail = "Its body is not compressed as its Content-Encoding says.";

/** Why no project received a post. */
export function noProjectDetail(event: NormalizedEvent): string {
  if (event.audience === "projects") return "The deployment has no project.";
  if (event.account === "")
    return `${event.triggerSlug}: the post names no account, and the toolkit's audience is accounts.`;
  return `${event.triggerSlug}: no project holds an account with the reference that the post names.`;
}

/** The row that keeps a verified post: whole, but for credentials and signatures, and sealed. */
function quarantinedRow(
  sealer: Sealer,
  webhook: Webhook,
  post: InboundPost,
  why: Pick<QuarantinedPost, "reason" | "detail">,
  receivedAtMs: number,
): QuarantinedPost {
  const id = createId("qrn", receivedAtMs);
  const secretParameter = webhook.scheme === "token_query" ? webhook.parameter : undefined;
  const secretHeader = webhook.scheme === "hmac_sha256" ? webhook.header : undefined;
  const isSecret = (name: string) => name === secretHeader || secretNames.test(name);
  return {
    id,
    toolkitSlug: post.toolkitSlug,
    reason: why.reason,
    detail: storableText(why.detail),
    headers: {},
    query: {},
    envelope: sealEnvelope(sealer, id, {
      headers: keptEntries(Object.entries(post.headers), isSecret),
      query: keptEntries([...post.query], (name) => name === secretParameter),
    }),
    body: sealer.seal(post.body, quarantineContext(id)),
    bodyBytes: post.body.byteLength,
    receivedAt: receivedAtMs,
    releasedAt: null,
  };
}

function keptEntries(entries: [string, string][], isSecret: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(
    entries.filter(([name]) => !isSecret(name)).map(([name, value]) => [storableText(name), storableText(value)]),
  );
}

/** `secretsOf` the variables that `read` gives: the same list for as long as a variable's value is the same. */
function createSecrets(read: (variable: string) => string | undefined): (variable: string) => readonly WebhookSecret[] {
  const known = new Map<string, { readonly value: string | undefined; readonly secrets: readonly WebhookSecret[] }>();
  return (variable) => {
    const value = read(variable);
    const last = known.get(variable);
    if (last !== undefined && last.value === value) return last.secrets;
    const secrets = secretsOf(value);
    known.set(variable, { value, secrets });
    return secrets;
  };
}

import { createHash } from "node:crypto";
import {
  type BodyReading,
  elementsOf,
  type HandshakeAnswer,
  type NormalizedPost,
  type Post,
  readPostBody,
  type Toolkit,
  type Trigger,
  type Webhook,
  type WebhookSecret,
} from "@svc/catalog";
import { createSlices } from "@svc/core";
import type { QuarantinedPost } from "@svc/db/quarantine/repo";
import type { InboundPost } from "./outcome.ts";
import type { NormalizedEvent } from "./store.ts";

/**
 * Result of reading a verified webhook post, or one element of its list, by the current definition of its app: it became an event, was
 * ignored, or was put into quarantine (kept for inspection).
 */
type OneResult =
  | { outcome: "event"; event: NormalizedEvent }
  | { outcome: "ignored" }
  | ({ outcome: "quarantined" } & Pick<QuarantinedPost, "reason" | "detail">);

/** Result of reading one element of the list in a webhook post. `index`: position of the element, from 0. */
export type ItemResult = OneResult & { readonly index: number };

/** Result of reading a verified webhook post. `items`: if the post contains a list of posts, one result for each of them. */
export type NormalizeResult =
  | OneResult
  | { outcome: "challenge"; answer: HandshakeAnswer }
  | { outcome: "items"; items: readonly ItemResult[] };

/** The events to read from a webhook post that contains a list of events. `each`: path of the list. `indexes`: positions in the list. */
export type ItemChoice = { readonly each: string; readonly indexes: readonly number[] };

type Receiving = Toolkit & { readonly webhook: Webhook };

/**
 * Data needed for reading webhook posts. `secrets`: secrets with which svc answers handshakes (requests by which an app tests a new
 * webhook).
 */
export type PostReading = BodyReading & { readonly secrets: readonly WebhookSecret[] };

/**
 * Returns the name of the queue in which webhook posts to a toolkit (app) wait to be read. Each shared toolkit has its own queue. All
 * private toolkits of a project share one queue. The queues take turns, so that a busy queue does not delay the others.
 */
export function turnGroup({ slug, ownerProjectId }: Toolkit): string {
  return ownerProjectId === "" ? `toolkit:${slug}` : `project:${ownerProjectId}`;
}

/** Size of a body, in bytes, from which each part of the work on it waits for a turn, so that other work can run. */
const largeBytes = 65_536;

/**
 * For a large body, returns a promise that resolves after other work has run. Returns undefined for a small body, so that the caller
 * continues at once.
 */
export function turnOfLarge(body: Buffer, turn: () => Promise<void>): Promise<void> | undefined {
  return body.byteLength > largeBytes ? turn() : undefined;
}

/**
 * Reads a verified, decompressed webhook post, and returns the event of the first trigger that matches. If the toolkit declares that posts
 * contain a list, each element of the list becomes an event. `chosen`: the elements to read; default: all.
 */
export async function normalize(
  toolkit: Receiving,
  post: InboundPost,
  receivedAtMs: number,
  reading: PostReading,
  chosen?: ItemChoice,
): Promise<NormalizeResult> {
  const { webhook } = toolkit;
  const read = await readPostBody(webhook.body, post, reading);
  await turnOfLarge(post.body, reading.turn);
  const parsed = { headers: post.headers, query: post.query, body: "value" in read ? read.value : undefined };
  const answer = webhook.handshake({ method: "POST", ...parsed }, reading.secrets, true);
  if (answer !== undefined && answer !== "refused") return { outcome: "challenge", answer };
  if (webhook.ignores(parsed)) return { outcome: "ignored" };
  if ("fault" in read) return quarantined("unreadable_body", sentence(read.fault));
  const { each } = webhook.body;
  if (each === undefined || post.body.byteLength === 0) return normalizeOne(toolkit, post, parsed, receivedAtMs);
  return normalizeItems({ toolkit, post, parsed, receivedAtMs, reading, each, chosen });
}

/** Maximum number of elements in the list of a webhook post. A post with a longer list is put into quarantine. */
const itemsMax = 1_000;
/**
 * Maximum size of all payloads of the events of one webhook post together, as a multiple of the maximum size of a body. The payloads may be
 * larger than the body, because each element may repeat other fields of the body.
 */
const payloadsMax = 8;

type ListedPost = {
  readonly toolkit: Receiving;
  readonly post: InboundPost;
  readonly parsed: Post;
  readonly receivedAtMs: number;
  readonly reading: BodyReading;
  readonly each: readonly string[];
  readonly chosen: ItemChoice | undefined;
};

async function normalizeItems(listed: ListedPost): Promise<NormalizeResult> {
  const { toolkit, post, parsed, receivedAtMs, reading, each, chosen } = listed;
  const path = eachPath(each);
  const list = elementsOf(toolkit.webhook.body, parsed.body);
  if (list === undefined) return quarantined("invalid_payload", `${path} is not a list.`);
  if (list.length > itemsMax) {
    return quarantined("invalid_payload", `${path} has ${list.length} elements, and a post may have ${itemsMax}.`);
  }
  if (list.length === 0) return { outcome: "ignored" };
  const digest = createHash("sha256").update(post.body).digest("hex");
  // The chosen elements count only if the definition still names the same list.
  const indexes = chosen?.each === path ? chosen.indexes.filter((index) => index < list.length) : [...list.keys()];
  const items: ItemResult[] = [];
  let room = payloadsMax * reading.bodyBytesMax;
  const { rest } = createSlices(reading.turn);
  for (const index of indexes) {
    const result = room < 0 ? tooMuch : normalizeOne(toolkit, post, { ...parsed, item: list[index] }, receivedAtMs);
    room -= result.outcome === "event" ? result.event.payload.length : 0;
    items.push({ index, ...(room < 0 ? tooMuch : withItemKey(result, `each:${digest}:${index}`)) });
    await rest();
  }
  return { outcome: "items", items };
}

const tooMuch = quarantined(
  "invalid_payload",
  "The payloads of the post's other elements have the size that a post may have.",
);

/**
 * Returns the path of a list in a webhook post, as definitions of toolkits write it, such as `body.items`. `each`: the field names of the
 * path.
 */
export function eachPath(each: readonly string[]): string {
  return ["body", ...each].join(".");
}

/**
 * Returns the result for one element of a list in a webhook post. If the element's event has no dedupe key, it gets the key `key`. So a
 * post that is sent again makes no second event.
 */
function withItemKey(result: OneResult, key: string): OneResult {
  return result.outcome === "event" && result.event.dedupe === ""
    ? { ...result, event: { ...result.event, dedupe: key } }
    : result;
}

function normalizeOne(toolkit: Receiving, post: InboundPost, parsed: Post, receivedAtMs: number): OneResult {
  if (parsed.item !== undefined && toolkit.webhook.ignores(parsed)) return { outcome: "ignored" };
  const trigger = toolkit.triggers.find((candidate) => candidate.matches(parsed));
  if (trigger === undefined) return quarantined("no_trigger", noTriggerDetail(toolkit, post.body));
  const fault = emptyFault(trigger, post);
  if (fault !== undefined) return quarantined("invalid_payload", faultDetail(trigger, fault));
  const normalized = trigger.normalize(parsed);
  if ("fault" in normalized) return quarantined("invalid_payload", faultDetail(trigger, normalized.fault));
  const payload = payloadText(normalized.payload);
  if (payload === undefined)
    return quarantined("invalid_payload", faultDetail(trigger, "the payload is nested too deeply to be written"));
  return {
    outcome: "event",
    event: {
      toolkitSlug: toolkit.slug,
      triggerSlug: trigger.slug,
      ...receiverOf(toolkit, normalized),
      payload,
      dedupe: normalized.dedupe,
      occurredAtMs: normalized.occurredAt ?? receivedAtMs,
      receivedAtMs,
    },
  };
}

/**
 * Returns who receives an event. For a private toolkit (defined by one project), this is the project that owns the toolkit. Otherwise the
 * account in the webhook post decides which projects receive it.
 */
function receiverOf({ ownerProjectId, webhook }: Receiving, { account, entityId }: NormalizedPost) {
  if (ownerProjectId !== "") return { to: { projectId: ownerProjectId, entityId } };
  return { audience: webhook.audience, account };
}

function quarantined(
  reason: QuarantinedPost["reason"],
  detail: string,
): Extract<OneResult, { outcome: "quarantined" }> {
  return { outcome: "quarantined", reason, detail };
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}

/**
 * Returns an event's payload as JSON text. Returns undefined if it is nested too deeply: JSON can be parsed at a greater depth than it can
 * be written.
 */
function payloadText(payload: unknown): string | undefined {
  try {
    return JSON.stringify(payload);
  } catch {
    return undefined;
  }
}

/** Returns the error for an empty body if the headers declare JSON and the trigger needs the body. Returns undefined otherwise. */
function emptyFault(trigger: Trigger, { body, headers }: InboundPost): string | undefined {
  if (body.byteLength > 0 || !trigger.readsBody) return undefined;
  const isJson = /^[^;]*[/+]json\s*(?:;|$)/i.test(headers["content-type"] ?? "");
  return isJson ? "the body is empty, and its content-type says that it is JSON" : undefined;
}

/**
 * Maximum size in bytes of a body without a correct signature that svc still reads. The limit is low, because anyone can send such a body.
 */
const unsignedBytesMax = 16_384;

/**
 * Returns the answer to a webhook post without a correct signature, if the definition of the app's toolkit allows such posts for a
 * handshake. (In a handshake, the app checks the address.) A compressed body is not read.
 */
export async function unsignedHandshake(
  webhook: Webhook,
  post: InboundPost,
  reading: PostReading,
): Promise<HandshakeAnswer | undefined> {
  const { headers, query, body } = post;
  const isLarge = body.byteLength > unsignedBytesMax || headers["content-encoding"] !== undefined;
  if (!webhook.hasUnsignedHandshakes || isLarge) return undefined;
  const read = await readPostBody(webhook.body, post, reading);
  const request = { method: "POST", headers, query, body: "value" in read ? read.value : undefined };
  const answer = webhook.handshake(request, reading.secrets, false);
  return answer === "refused" ? undefined : answer;
}

function noTriggerDetail(toolkit: Toolkit, body: Buffer): string {
  const slugs = toolkit.triggers.map((trigger) => trigger.slug).join(", ");
  const shape = body.byteLength === 0 ? "Its body is empty." : "";
  return `No trigger of the toolkit matches the post (it has ${slugs === "" ? "none" : slugs}). ${shape}`.trim();
}

function faultDetail(trigger: Trigger, fault: string): string {
  return `${trigger.slug}: ${fault}`.slice(0, 2_000);
}

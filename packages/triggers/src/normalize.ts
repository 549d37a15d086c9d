import type { Toolkit, Trigger, Webhook } from "@svc/catalog";
import { type ForeignText, JsonTooLargeError, parseExactJson, parseJsonInTurns, readForeignText } from "@svc/core";
import type { InboundPost } from "./outcome.ts";
import type { NormalizedEvent } from "./store.ts";

/** Result of reading a verified post with the toolkit's current definition. */
export type NormalizeResult =
  | { outcome: "event"; event: NormalizedEvent }
  | { outcome: "ignored" }
  | { outcome: "challenge"; challenge: string }
  | { outcome: "quarantined"; reason: "no_trigger" | "invalid_payload"; detail: string };

/**
 * How posts are read. `bodyBytesMax`: maximum size of a body, in bytes. `turn`: returns a promise for a scheduling turn; large posts wait
 * for one repeatedly.
 */
export type PostReading = { readonly bodyBytesMax: number; readonly turn: () => Promise<void> };

/** Size from which a body is read in slices, in bytes. A body may contain more values than its size suggests. */
const smallBytes = 16_384;
/** Size from which a body waits for a scheduling turn before each part of the work, in bytes. */
const largeBytes = 65_536;

/** Returns a promise for a scheduling turn if the body is large. Returns undefined if it is small, so that the caller continues at once. */
export function turnOfLarge(body: Buffer, turn: () => Promise<void>): Promise<void> | undefined {
  return body.byteLength > largeBytes ? turn() : undefined;
}

/**
 * Parses a verified, decoded post and normalizes it with the first trigger that matches. For an empty body, the headers can match a
 * trigger. A body that cannot be parsed never becomes an event.
 */
export async function normalize(
  toolkit: Toolkit & { webhook: Webhook },
  post: InboundPost,
  receivedAtMs: number,
  reading: PostReading,
): Promise<NormalizeResult> {
  const read = await readBody(post, reading);
  await turnOfLarge(post.body, reading.turn);
  return normalizeRead(toolkit, post, read, receivedAtMs);
}

function normalizeRead(
  toolkit: Toolkit & { webhook: Webhook },
  post: InboundPost,
  read: ReadBody,
  receivedAtMs: number,
): NormalizeResult {
  const parsed = { headers: post.headers, query: post.query, body: "value" in read ? read.value : undefined };
  const challenge = slackChallenge(toolkit.webhook, parsed.body);
  if (challenge !== undefined) return { outcome: "challenge", challenge };
  if (toolkit.webhook.ignores(parsed)) return { outcome: "ignored" };
  const trigger = toolkit.triggers.find((candidate) => candidate.matches(parsed));
  if (trigger === undefined)
    return { outcome: "quarantined", reason: "no_trigger", detail: noTriggerDetail(toolkit, read) };
  const unread = "value" in read ? emptyFault(trigger, post) : read.fault;
  if (unread !== undefined)
    return { outcome: "quarantined", reason: "invalid_payload", detail: faultDetail(trigger, unread) };
  const normalized = trigger.normalize(parsed);
  if ("fault" in normalized)
    return { outcome: "quarantined", reason: "invalid_payload", detail: faultDetail(trigger, normalized.fault) };
  const payload = payloadText(normalized.payload);
  if (payload === undefined)
    return {
      outcome: "quarantined",
      reason: "invalid_payload",
      detail: faultDetail(trigger, "the payload is nested too deeply to be written"),
    };
  return {
    outcome: "event",
    event: {
      toolkitSlug: toolkit.slug,
      triggerSlug: trigger.slug,
      audience: toolkit.webhook.audience,
      account: normalized.account,
      payload,
      dedupe: normalized.dedupe,
      occurredAtMs: normalized.occurredAt ?? receivedAtMs,
      receivedAtMs,
    },
  };
}

/** Returns a payload as JSON text. Returns undefined if it cannot be written: parsing allows deeper nesting than writing does. */
function payloadText(payload: unknown): string | undefined {
  try {
    return JSON.stringify(payload);
  } catch {
    return undefined;
  }
}

/** The value of a body, undefined if the body is empty; or the reason why the body cannot be read, as a sentence. */
type ReadBody = { readonly value: unknown } | { readonly fault: string };

async function readBody({ body, headers }: InboundPost, reading: PostReading): Promise<ReadBody> {
  const read: ForeignText = readForeignText(body, headers["content-type"]);
  if ("fault" in read) return { fault: `the body ${read.fault}` };
  if (read.text === "") return { value: undefined };
  try {
    return { value: await parse(read.text, reading) };
  } catch (error) {
    if (error instanceof JsonTooLargeError) return { fault: `the body's ${error.message}` };
    // The message of the parser is not used, because it quotes the body. Short texts are parsed on the runtime's stack, so deep nesting
    // causes a RangeError.
    if (error instanceof RangeError) return { fault: "the body is nested too deeply to be read" };
    if (error instanceof SyntaxError) return { fault: `the body is not JSON${formOf(read.text)}` };
    throw error;
  }
}

/**
 * `rawMax`: how many numbers keep all their digits. `digitsMax`: how many digits each of them may have. Such numbers cost far more than
 * other values.
 */
const [rawMax, digitsMax] = [10_000, 10_000];
const membersMax = 20_000;

function parse(text: string, { bodyBytesMax, turn }: PostReading): unknown {
  if (text.length <= smallBytes) return parseExactJson(text, { depthMax: Number.POSITIVE_INFINITY });
  // `values` allows one value in every ten bytes of a body of the maximum size. Real posts have one value in twenty to forty bytes.
  const bounds = { values: Math.ceil(bodyBytesMax / 10), members: membersMax, raw: rawMax, digits: digitsMax };
  return parseJsonInTurns(text, { bounds, turn });
}

/** Returns a description of a text that is not JSON, so that the sender sees what to change. */
function formOf(text: string): string {
  if (text.includes("\0")) return ", and has bytes as UTF-16 has them: its content-type must declare the charset";
  if (/^\s*</.test(text)) return " but XML or HTML";
  if (/^[\w.%+[\]-]+=/.test(text)) return " but a form";
  return "";
}

/** Returns the error of an empty body, if the headers declare JSON and the trigger reads the body. Undefined otherwise. */
function emptyFault(trigger: Trigger, { body, headers }: InboundPost): string | undefined {
  if (body.byteLength > 0 || !trigger.readsBody) return undefined;
  const isJson = /^[^;]*[/+]json\s*(?:;|$)/i.test(headers["content-type"] ?? "");
  return isJson ? "the body is empty, and its content-type says that it is JSON" : undefined;
}

function slackChallenge(webhook: Webhook, body: unknown): string | undefined {
  if (webhook.scheme !== "slack_v0" || typeof body !== "object" || body === null) return undefined;
  const { type, challenge } = body as { type?: unknown; challenge?: unknown };
  return type === "url_verification" && typeof challenge === "string" ? challenge : undefined;
}

function noTriggerDetail(toolkit: Toolkit, read: ReadBody): string {
  const slugs = toolkit.triggers.map((trigger) => trigger.slug).join(", ");
  const shape = "fault" in read ? `Besides, ${read.fault}.` : read.value === undefined ? "Its body is empty." : "";
  return `No trigger of the toolkit matches the post (it has ${slugs === "" ? "none" : slugs}). ${shape}`.trim();
}

function faultDetail(trigger: Trigger, fault: string): string {
  return `${trigger.slug}: ${fault}`.slice(0, 2_000);
}

import type { Toolkit, Trigger, Webhook } from "@svc/catalog";
import type { InboundPost } from "./outcome.ts";
import type { NormalizedEvent } from "./store.ts";

/** What a verified post is, by the toolkit's definition as it is now. */
export type Normalized =
  | { outcome: "event"; event: NormalizedEvent }
  | { outcome: "ignored" }
  | { outcome: "challenge"; challenge: string }
  | { outcome: "quarantined"; reason: "no_trigger" | "invalid_payload"; detail: string };

/** The latest time that RFC 3339 can write: a provider's time beyond it is not believed. */
const timeMaxMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Parses and normalizes a verified post with the first trigger that matches. A body that is empty or not JSON can still match by headers. */
export function normalize(
  toolkit: Toolkit & { webhook: Webhook },
  post: InboundPost,
  receivedAtMs: number,
): Normalized {
  const parsed = { headers: post.headers, query: post.query, body: parseBody(post.body) };
  const challenge = slackChallenge(toolkit.webhook, parsed.body);
  if (challenge !== undefined) return { outcome: "challenge", challenge };
  if (toolkit.webhook.ignores(parsed)) return { outcome: "ignored" };
  const trigger = toolkit.triggers.find((candidate) => candidate.matches(parsed));
  if (trigger === undefined)
    return { outcome: "quarantined", reason: "no_trigger", detail: noTriggerDetail(toolkit, parsed.body) };
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
  const { occurredAt } = normalized;
  const isCredible = occurredAt !== undefined && occurredAt >= 0 && occurredAt <= timeMaxMs;
  return {
    outcome: "event",
    event: {
      toolkitSlug: toolkit.slug,
      triggerSlug: trigger.slug,
      audience: toolkit.webhook.audience,
      account: normalized.account,
      payload,
      dedupe: normalized.dedupe,
      occurredAtMs: isCredible ? occurredAt : receivedAtMs,
      receivedAtMs,
    },
  };
}

/** JSON can be read more deeply nested than it can be written. */
function payloadText(payload: unknown): string | undefined {
  try {
    return JSON.stringify(payload);
  } catch {
    return undefined;
  }
}

function parseBody(body: Buffer): unknown {
  if (body.byteLength === 0) return undefined;
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined; // not JSON: headers may still tell what it is
  }
}

function slackChallenge(webhook: Webhook, body: unknown): string | undefined {
  if (webhook.scheme !== "slack_v0" || typeof body !== "object" || body === null) return undefined;
  const { type, challenge } = body as { type?: unknown; challenge?: unknown };
  return type === "url_verification" && typeof challenge === "string" ? challenge : undefined;
}

function noTriggerDetail(toolkit: Toolkit, body: unknown): string {
  const slugs = toolkit.triggers.map((trigger) => trigger.slug).join(", ");
  const shape = body === undefined ? "Its body is empty or not JSON." : "";
  return `No trigger of the toolkit matches the post (it has ${slugs === "" ? "none" : slugs}). ${shape}`.trim();
}

function faultDetail(trigger: Trigger, fault: string): string {
  return `${trigger.slug}: ${fault}`.slice(0, 2_000);
}

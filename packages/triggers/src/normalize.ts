import type { Toolkit, Trigger, Webhook } from "@svc/catalog";
import { parseExactJson } from "@svc/core";
import type { InboundPost } from "./outcome.ts";
import type { NormalizedEvent } from "./store.ts";

/** What a verified post is, by the toolkit's definition as it is now. */
export type Normalized =
  | { outcome: "event"; event: NormalizedEvent }
  | { outcome: "ignored" }
  | { outcome: "challenge"; challenge: string }
  | { outcome: "quarantined"; reason: "no_trigger" | "invalid_payload"; detail: string };

/** Parses and normalizes a verified post, its body decoded, with the first trigger that matches. A body that is empty or not JSON can still match by headers. */
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

/** JSON can be read more deeply nested than it can be written. */
function payloadText(payload: unknown): string | undefined {
  try {
    return JSON.stringify(payload);
  } catch {
    return undefined;
  }
}

function parseBody(body: Buffer): unknown {
  // A byte order mark is no JSON, and parsers may ignore it (RFC 8259, 8.1).
  const text = body.toString("utf8").replace(/^\ufeff/, "");
  if (text === "") return undefined;
  try {
    return parseExactJson(text, { depthMax: Number.POSITIVE_INFINITY });
  } catch {
    return undefined; // not JSON, or too deep to keep its digits: headers may still tell what it is
  }
}

function slackChallenge(webhook: Webhook, body: unknown): string | undefined {
  if (webhook.scheme !== "slack_v0" || typeof body !== "object" || body === null) return undefined;
  const { type, challenge } = body as { type?: unknown; challenge?: unknown };
  return type === "url_verification" && typeof challenge === "string" ? challenge : undefined;
}

function noTriggerDetail(toolkit: Toolkit, body: unknown): string {
  const slugs = toolkit.triggers.map((trigger) => trigger.slug).join(", ");
  const shape = body === undefined ? "Its body is empty, not JSON, or nested too deeply to be read." : "";
  return `No trigger of the toolkit matches the post (it has ${slugs === "" ? "none" : slugs}). ${shape}`.trim();
}

function faultDetail(trigger: Trigger, fault: string): string {
  return `${trigger.slug}: ${fault}`.slice(0, 2_000);
}

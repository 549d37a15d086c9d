import type { Webhook } from "@svc/catalog";
import { createId, type QuarantineId, type Sealer } from "@svc/core";
import type { QuarantinedPost } from "@svc/db";
import type { InboundPost } from "./outcome.ts";

/** Names of headers that carry credentials or signatures. Not `-token`: apps send routing data under that name, and a release needs it. */
const secretNames = /^(cookie|(proxy-)?authorization)$|(^|-)(api-?key|secret|password|signature)$/;

/** The context a quarantined body is sealed for. */
export function quarantineContext(id: QuarantineId): string {
  return `deployment/quarantined_posts/${id}`;
}

/** The row that keeps a verified post: whole, but for credentials and signatures; its body sealed. */
export function quarantinedRow(
  sealer: Sealer,
  webhook: Webhook,
  post: InboundPost,
  why: { reason: string; detail: string },
  receivedAtMs: number,
): QuarantinedPost {
  const id = createId("qrn", receivedAtMs);
  const secretParameter = webhook.scheme === "token_query" ? webhook.parameter : undefined;
  const secretHeader = webhook.scheme === "hmac_sha256" ? webhook.header : undefined;
  return {
    id,
    toolkitSlug: post.toolkitSlug,
    reason: why.reason,
    detail: storable(why.detail),
    headers: keptEntries(Object.entries(post.headers), (name) => name === secretHeader || secretNames.test(name)),
    query: keptEntries([...post.query], (name) => name === secretParameter),
    body: sealer.seal(post.body, quarantineContext(id)),
    bodyBytes: post.body.byteLength,
    receivedAt: receivedAtMs,
    releasedAt: null,
  };
}

function keptEntries(entries: [string, string][], isSecret: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(
    entries.filter(([name]) => !isSecret(name)).map(([name, value]) => [storable(name), storable(value)]),
  );
}

/** The text as PostgreSQL can hold it: its text and jsonb take every character but U+0000 and lone surrogates. */
export function storable(text: string): string {
  return text.replaceAll("\0", "�").toWellFormed();
}

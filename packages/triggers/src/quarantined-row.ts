import type { Webhook } from "@svc/catalog";
import { createId, type QuarantineId, readJsonObject, type Sealer, storableText } from "@svc/core";
import type { QuarantinedPost } from "@svc/db/quarantine/repo";
import type { InboundPost } from "./outcome.ts";

/** Names of headers that carry credentials or signatures. Not `-token`: apps send routing data under that name, and a release needs it. */
const secretNames = /^(cookie|(proxy-)?authorization)$|(^|-)(api-?key|secret|password|signature)$/;

/** The context a quarantined body is sealed for. */
export function quarantineContext(id: QuarantineId): string {
  return `deployment/quarantined_posts/${id}`;
}

/** What of a post stands around its body. */
export type Envelope = Pick<QuarantinedPost, "headers" | "query">;

function envelopeContext(id: QuarantineId): string {
  return `${quarantineContext(id)}/envelope`;
}

/** Seals the envelope of a post: apps put names, addresses and tokens of people into headers and queries, too. */
export function sealEnvelope(sealer: Sealer, id: QuarantineId, { headers, query }: Envelope): Buffer {
  return sealer.seal(Buffer.from(JSON.stringify({ headers, query }), "utf8"), envelopeContext(id));
}

/** The envelope of a post, also of one that was kept before envelopes were sealed. Throws SealError. */
export function openEnvelope(sealer: Sealer, { id, headers, query, envelope }: QuarantinedPost): Envelope {
  if (envelope === null) return { headers, query };
  return readJsonObject(sealer.open(envelope, envelopeContext(id)).toString("utf8"), "an envelope") as Envelope;
}

/** The row that keeps a verified post: whole, but for credentials and signatures, and sealed. */
export function quarantinedRow(
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

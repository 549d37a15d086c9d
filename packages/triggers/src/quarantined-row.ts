import { type QuarantineId, readJsonObject, type Sealer } from "@svc/core";
import type { QuarantinedPost } from "@svc/db/quarantine/repo";

/** The context a quarantined body is sealed for. */
export function quarantineContext(id: QuarantineId): string {
  return `deployment/quarantined_posts/${id}`;
}

/** What of a post stands around its body. */
export type PostEnvelope = Pick<QuarantinedPost, "headers" | "query">;

function envelopeContext(id: QuarantineId): string {
  return `${quarantineContext(id)}/envelope`;
}

/** Seals the envelope of a post: apps put names, addresses and tokens of people into headers and queries, too. */
export function sealEnvelope(sealer: Sealer, id: QuarantineId, { headers, query }: PostEnvelope): Buffer {
  return sealer.seal(Buffer.from(JSON.stringify({ headers, query }), "utf8"), envelopeContext(id));
}

/** The envelope of a post, also of one that was kept before envelopes were sealed. Throws SealError. */
export function openEnvelope(sealer: Sealer, { id, headers, query, envelope }: QuarantinedPost): PostEnvelope {
  if (envelope === null) return { headers, query };
  return readJsonObject(sealer.open(envelope, envelopeContext(id)).toString("utf8"), "an envelope") as PostEnvelope;
}

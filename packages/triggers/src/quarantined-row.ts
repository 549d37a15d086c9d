import { type QuarantineId, readJsonObject, type Sealer } from "@svc/core";
import type { QuarantinedPost } from "@svc/db/quarantine/repo";

/** Returns the context (the place in the database) for which a quarantined body is sealed. */
export function quarantineContext(id: QuarantineId): string {
  return `deployment/quarantined_posts/${id}`;
}

/** Headers and query of a post. */
export type PostEnvelope = Pick<QuarantinedPost, "headers" | "query">;

function envelopeContext(id: QuarantineId): string {
  return `${quarantineContext(id)}/envelope`;
}

/** Seals the headers and query of a post, because apps put names, addresses and tokens of people into them. */
export function sealEnvelope(sealer: Sealer, id: QuarantineId, { headers, query }: PostEnvelope): Buffer {
  return sealer.seal(Buffer.from(JSON.stringify({ headers, query }), "utf8"), envelopeContext(id));
}

/**
 * Returns the headers and query of a post. It can also read posts of versions that did not seal them. Throws SealError if they cannot be
 * opened.
 */
export function openEnvelope(sealer: Sealer, { id, headers, query, envelope }: QuarantinedPost): PostEnvelope {
  if (envelope === null) return { headers, query };
  return readJsonObject(sealer.open(envelope, envelopeContext(id)).toString("utf8"), "an envelope") as PostEnvelope;
}

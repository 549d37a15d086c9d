import { type QuarantineId, readJsonObject, type Sealer } from "@svc/core";
import type { QuarantinedPost } from "@svc/db/quarantine/repo";

/** Returns the context that a quarantined body is sealed for. */
export function quarantineContext(id: QuarantineId): string {
  return `deployment/quarantined_posts/${id}`;
}

/** Headers and query of a post. */
export type PostEnvelope = Pick<QuarantinedPost, "headers" | "query">;

function envelopeContext(id: QuarantineId): string {
  return `${quarantineContext(id)}/envelope`;
}

/** Seals headers and query of a post, because apps put names, addresses and tokens of people into them. */
export function sealEnvelope(sealer: Sealer, id: QuarantineId, { headers, query }: PostEnvelope): Buffer {
  return sealer.seal(Buffer.from(JSON.stringify({ headers, query }), "utf8"), envelopeContext(id));
}

/** Returns headers and query of a post, also of one kept before they were sealed. Throws SealError. */
export function openEnvelope(sealer: Sealer, { id, headers, query, envelope }: QuarantinedPost): PostEnvelope {
  if (envelope === null) return { headers, query };
  return readJsonObject(sealer.open(envelope, envelopeContext(id)).toString("utf8"), "an envelope") as PostEnvelope;
}

import { readJsonObject, type Sealer } from "@svc/core";
import type { QuarantinedPost } from "@svc/db/quarantine/repo";
import type { ItemChoice } from "./normalize.ts";

/** Returns the text that identifies a quarantined webhook post for the encryption of its body. */
export function quarantineContext({ id, projectId }: PostPlace): string {
  return `${projectId ?? "deployment"}/quarantined_posts/${id}`;
}

/** Id and project of a quarantined webhook post. svc encrypts the post for exactly these two values. */
type PostPlace = Pick<QuarantinedPost, "id" | "projectId">;

/**
 * Headers and query of a quarantined webhook post (which svc could not turn into an event). `items`: if the post contains a list, the
 * elements of the list that are in quarantine. Absent if the whole post is in quarantine.
 */
export type PostEnvelope = Pick<QuarantinedPost, "headers" | "query"> & { readonly items?: ItemChoice };

/** An element of a list in a webhook post, from which svc made no event. `index`: its place in the list, from 0. */
export type KeptItem = Pick<QuarantinedPost, "reason" | "detail"> & { readonly index: number };

/** The description of a quarantined list element names at most this many other quarantined elements of the same webhook post. */
const namedMax = 20;

/**
 * Returns the reason why elements of the list in a webhook post are in quarantine (kept for inspection). The list is at the path `each`.
 * There must be at least one element. The result has the reason of the first element and the positions of all of them.
 */
export function itemsDetail(
  each: string,
  kept: readonly KeptItem[],
): Pick<QuarantinedPost, "reason" | "detail"> & { readonly items: ItemChoice } {
  const indexes = kept.map(({ index }) => index).sort((a, b) => a - b);
  const first = kept[0] ?? { reason: "invalid_payload", detail: "", index: 0 };
  const others = indexes.filter((index) => index !== first.index);
  const named = others.slice(0, namedMax).map((index) => `[${index}]`);
  const more = others.length > namedMax ? [`${others.length - namedMax} more`] : [];
  const also = others.length === 0 ? "" : ` Also in quarantine: ${[...named, ...more].join(", ")}.`;
  const detail = `${each}[${first.index}]: ${first.detail.replace(/\.?$/, ".")}${also}`;
  return { reason: first.reason, detail, items: { each, indexes } };
}

function envelopeContext(place: PostPlace): string {
  return `${quarantineContext(place)}/envelope`;
}

/** Encrypts the headers and query of a webhook post, because apps put names, addresses and tokens of people into them. */
export function sealEnvelope(sealer: Sealer, place: PostPlace, { headers, query, items }: PostEnvelope): Buffer {
  return sealer.seal(Buffer.from(JSON.stringify({ headers, query, items }), "utf8"), envelopeContext(place));
}

/**
 * Returns the decrypted headers and query of a quarantined webhook post. Posts from older versions of svc are not encrypted; their headers
 * and query are returned as they are. Throws SealError if the decryption fails.
 */
export function openEnvelope(sealer: Sealer, post: QuarantinedPost): PostEnvelope {
  const { headers, query, envelope } = post;
  if (envelope === null) return { headers, query };
  return readJsonObject(sealer.open(envelope, envelopeContext(post)).toString("utf8"), "an envelope") as PostEnvelope;
}

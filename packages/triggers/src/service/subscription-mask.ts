import { create } from "@bufbuild/protobuf";
import type { Subscription } from "@svc/db/subscriptions/repo";
import {
  SubscriptionFormatSchema,
  SubscriptionMatchSchema,
  SubscriptionPaceSchema,
  SubscriptionRetrySchema,
} from "@svc/gen/triggers";
import { partsOf } from "../convert.ts";
import { triggerFaults } from "../errors.ts";
import type { SentParts } from "./subscription-parts.ts";

/** The parts of a subscription whose members an update can change one by one. */
const schemas = {
  match: SubscriptionMatchSchema,
  format: SubscriptionFormatSchema,
  retry: SubscriptionRetrySchema,
  pace: SubscriptionPaceSchema,
};

type PartName = keyof typeof schemas;

/** The paths that an update mask may have, such as `match.filter`, each with the part that it belongs to. */
const paths: ReadonlyMap<string, { readonly part: PartName; readonly member: string }> = new Map(
  (Object.keys(schemas) as PartName[]).flatMap((part) =>
    schemas[part].fields.map(({ localName }) => [`${part}.${localName}`, { part, member: localName }] as const),
  ),
);

/**
 * Returns an update request in which every changed part of the subscription (such as `match`) is complete. The field `updateMask` can name
 * single members of a part. These members come from the request, and all other members of the part come from the stored subscription.
 * Throws UPDATE_MASK_INVALID for an unknown path.
 */
export function withWholeParts<Sent extends SentParts & { readonly updateMask: readonly string[] }>(
  stored: Pick<Subscription, "settings" | "triggerSlugs">,
  sent: Sent,
): Sent {
  const parts: Partial<Record<PartName, object>> = {};
  const before = partsOf(stored);
  for (const [index, path] of sent.updateMask.entries()) {
    const found = paths.get(path);
    if (found === undefined) throw triggerFaults.UPDATE_MASK_INVALID(`updateMask[${index}]`, path, [...paths.keys()]);
    const { part, member } = found;
    const values = { ...create(schemas[part]), ...sent[part] } as Readonly<Record<string, unknown>>;
    parts[part] = { ...create(schemas[part]), ...before[part], ...parts[part], [member]: values[member] };
  }
  return { ...sent, ...parts };
}

import { formatValue } from "@svc/core";
import { formatKinds, type SubscriptionSettings } from "@svc/db/documents/subscriptions";
import type { Subscription, SubscriptionChange } from "@svc/db/subscriptions/repo";
import type { CreateSubscriptionRequest } from "@svc/gen/triggers";
import { triggerFaults } from "../errors.ts";

/** The parts of a subscription that a request can change. A part is undefined if the request does not contain it. */
export type SentParts = Partial<Pick<CreateSubscriptionRequest, "format">>;

/**
 * Returns the columns that the parts in a request change. A part in the request replaces the old one, and an empty part deletes it. Throws
 * the errors of CreateSubscription for faulty parts.
 */
export function changeOfParts(
  before: Pick<Subscription, "settings">,
  { format }: SentParts,
): Pick<SubscriptionChange, "settings"> {
  if (format === undefined) return {};
  const { format: _replaced, ...kept } = before.settings ?? {};
  const checked = checkFormat(format);
  const settings: SubscriptionSettings = { ...kept, ...(checked && { format: checked }) };
  return { settings: Object.keys(settings).length === 0 ? null : settings };
}

function checkFormat({ kind, bodyJson }: NonNullable<SentParts["format"]>): SubscriptionSettings["format"] {
  const refuse = triggerFaults.SUBSCRIPTION_BODY_INVALID;
  const known = formatKinds.find((one) => one === kind);
  if (kind !== "" && kind !== "svc" && known === undefined)
    throw refuse("format.kind", `is ${formatValue(kind)}`, `Send svc, ${formatKinds.join(", ")}.`);
  if (bodyJson !== "") throw refuse("format.bodyJson", "is not used by this form", "Leave it empty.");
  return known && { kind: known, bodyJson };
}

import type { CatalogView } from "@svc/catalog";
import { formatValue, isPrintableText } from "@svc/core";
import { formatKinds, type SubscriptionSettings } from "@svc/db/documents/subscriptions";
import type { Subscription, SubscriptionChange } from "@svc/db/subscriptions/repo";
import type { SubscriptionFormat } from "@svc/gen/triggers";
import { triggerFaults } from "../errors.ts";
import { checkMatch, type SentMatch } from "./subscription-match.ts";

/** The parts of a subscription that a request can change. A part is undefined if the request does not contain it. */
export type SentParts = {
  readonly description?: string | undefined;
  readonly match?: SentMatch | undefined;
  readonly format?: SubscriptionFormat | undefined;
};

type Before = Pick<Subscription, "settings" | "toolkitSlug" | "triggerSlug" | "triggerSlugs">;

/**
 * Returns the columns that the parts in a request change. A part in the request replaces the old one, and an empty part deletes it. Throws
 * the errors of CreateSubscription for faulty parts.
 */
export function changeOfParts(
  view: CatalogView,
  before: Before,
  { description, match, format }: SentParts,
): Pick<SubscriptionChange, "settings" | "triggerSlug" | "triggerSlugs" | "filterFaults"> {
  const changed: { -readonly [Name in keyof SubscriptionSettings]?: SubscriptionSettings[Name] | undefined } = {};
  const selected = match && checkMatch(view, before, match);
  if (description !== undefined) changed.description = checkDescription(description);
  if (selected !== undefined) changed.filter = selected.filter;
  if (format !== undefined) changed.format = checkFormat(format);
  const columns = selected && {
    ...{ triggerSlug: selected.triggerSlug, triggerSlugs: selected.triggerSlugs },
    ...(selected.filter !== before.settings?.filter && { filterFaults: 0 }),
  };
  if (Object.keys(changed).length === 0) return { ...columns };
  const settings = definedOf({ ...before.settings, ...changed });
  return { ...columns, settings: Object.keys(settings).length === 0 ? null : settings };
}

/** Returns the settings without those that are undefined. */
function definedOf(settings: object): SubscriptionSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

const descriptionCharactersMax = 200;

function checkDescription(description: string): string | undefined {
  if (description === "") return undefined;
  if (!isPrintableText(description, descriptionCharactersMax))
    throw triggerFaults.SUBSCRIPTION_DESCRIPTION_INVALID(descriptionCharactersMax);
  return description;
}

function checkFormat({ kind, bodyJson }: SubscriptionFormat): SubscriptionSettings["format"] {
  const refuse = triggerFaults.SUBSCRIPTION_BODY_INVALID;
  const known = formatKinds.find((one) => one === kind);
  if (kind !== "" && kind !== "svc" && known === undefined)
    throw refuse("format.kind", `is ${formatValue(kind)}`, `Send svc, ${formatKinds.join(", ")}.`);
  if (bodyJson !== "") throw refuse("format.bodyJson", "is not used by this form", "Leave it empty.");
  return known && { kind: known, bodyJson };
}

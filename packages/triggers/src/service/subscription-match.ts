import type { CatalogView, JsonSchema } from "@svc/catalog";
import { field, operationalToolkitSlug, text } from "@svc/core";
import type { Subscription } from "@svc/db/subscriptions/repo";
import { checkFilter } from "@svc/program";
import { triggerFaults } from "../errors.ts";
import { triggerSlugOf } from "./request.ts";

/** The field `match` of a subscription request: the triggers (kinds of events) and the filter that select events. */
export type SentMatch = { readonly triggerSlugs: readonly string[]; readonly filter: string };

/** The database columns of a subscription that decide which events the subscription gets. Its filter is not one of them. */
type Selection = Pick<Subscription, "toolkitSlug" | "triggerSlug" | "triggerSlugs">;

const triggersMax = 100;

/**
 * Checks the field `match` of a request. Returns the triggers and the filter of the subscription. In the result, `triggerSlug` is empty if
 * `triggerSlugs` has entries. Throws the errors of CreateSubscription.
 */
export function checkMatch(
  view: CatalogView,
  selected: Pick<Selection, "toolkitSlug" | "triggerSlug">,
  { triggerSlugs, filter }: SentMatch,
): Pick<Selection, "triggerSlug" | "triggerSlugs"> & { readonly filter: string | undefined } {
  const refuse = triggerFaults.SUBSCRIPTION_FILTER_INVALID;
  const path = "match.triggerSlugs";
  if (triggerSlugs.length > triggersMax)
    throw refuse(
      path,
      `has ${triggerSlugs.length} slugs`,
      `Send at most ${triggersMax}, or none for all of a toolkit.`,
    );
  const { toolkitSlug } = selected;
  const slugs = [...new Set(triggerSlugs.map((slug) => checkTrigger(view, toolkitSlug, slug)))];
  const triggerSlug = slugs.length === 0 ? selected.triggerSlug : "";
  if (filter !== "")
    requireFilter("match.filter", filter, payloadsOf(view, { toolkitSlug, triggerSlug, triggerSlugs: slugs }));
  return { triggerSlug, triggerSlugs: slugs, filter: filter || undefined };
}

/** Throws if a request to create a subscription selects triggers in two fields at once: in `triggerSlug` and in `match.triggerSlugs`. */
export function requireOneSelection(triggerSlug: string, match: SentMatch | undefined): void {
  if (triggerSlug === "" || match === undefined || match.triggerSlugs.length === 0) return;
  throw triggerFaults.SUBSCRIPTION_FILTER_INVALID(
    "match.triggerSlugs",
    "is set together with the trigger of the subscription",
    text`Leave ${field("triggerSlug")} empty.`,
  );
}

function checkTrigger(view: CatalogView, toolkitSlug: string, sent: string): string {
  const slug = triggerSlugOf(toolkitSlug, sent);
  const found = view.triggers.get(slug);
  if (found === undefined || (toolkitSlug !== "" && found.toolkitSlug !== toolkitSlug))
    throw triggerFaults.TRIGGER_NOT_FOUND(toolkitSlug || (slug.split(".")[0] ?? ""), sent);
  if (found.toolkitSlug === operationalToolkitSlug && toolkitSlug !== operationalToolkitSlug)
    throw triggerFaults.SUBSCRIPTION_FILTER_INVALID(
      "match.triggerSlugs",
      `has the operational event ${slug}, which only a subscription to its toolkit receives`,
      text`Set ${field("toolkitSlug")} to ${operationalToolkitSlug}.`,
    );
  return slug;
}

/**
 * Maximum number of event types whose schemas a subscription's filter is checked against. If the subscription receives more types, the
 * payload is treated as a value of any form.
 */
const schemasMax = 20;

/** Returns the payload schemas of the event types that a subscription selects. Returns an empty list if payloads can have any form. */
export function payloadsOf(
  view: CatalogView,
  {
    toolkitSlug,
    triggerSlug,
    triggerSlugs,
  }: Readonly<Omit<Selection, "triggerSlugs">> & { readonly triggerSlugs: readonly string[] },
): JsonSchema[] {
  if (toolkitSlug === "" && triggerSlug === "" && triggerSlugs.length === 0) return [];
  const slugs = triggerSlugs.length > 0 ? triggerSlugs : triggerSlug === "" ? undefined : [triggerSlug];
  const triggers =
    slugs === undefined
      ? [...view.triggers.values()].filter((trigger) => toolkitSlug === "" || trigger.toolkitSlug === toolkitSlug)
      : slugs.flatMap((slug) => view.triggers.get(slug) ?? []);
  return triggers.length > schemasMax ? [] : triggers.map(({ outputSchema }) => outputSchema);
}

/**
 * Checks the filter of a subscription. Throws SUBSCRIPTION_FILTER_INVALID or SUBSCRIPTION_FILTER_TOO_EXPENSIVE if the filter is refused.
 * `path`: the field with the filter. `payloads`: the payload schemas of the events that the filter can get; empty if payloads may have any
 * form.
 */
export function requireFilter(path: string, filter: string, payloads: readonly JsonSchema[]): void {
  if (!isStorable(filter))
    throw triggerFaults.SUBSCRIPTION_FILTER_INVALID(
      path,
      "has U+0000 or half of a character, which cannot be stored",
      String.raw`Write it as an escape in a text, such as '\u0000'.`,
    );
  const fault = checkFilter(filter, payloads);
  if (fault === undefined) return;
  const refuse = fault.isTooExpensive
    ? triggerFaults.SUBSCRIPTION_FILTER_TOO_EXPENSIVE
    : triggerFaults.SUBSCRIPTION_FILTER_INVALID;
  throw refuse(path, fault.message, fault.hint);
}

/** True if PostgreSQL can store the text inside a JSON document. False if the text contains U+0000 or an unpaired surrogate. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

import type { Delivery, Subscription } from "@svc/gen/triggers";
import { formatOptions, formatWords, healthSentence, healthWord } from "../words/subscriptions.ts";
import type { Word } from "../words/word.ts";

/** Toolkit of the events that a project publishes. The slugs of its event types begin with it. */
const prefix = "events.";

/** Returns the name of an event type, such as `invoice.paid`, from the slug that a subscription uses (`events.invoice.paid`). */
export function typeName(slug: string): string {
  return slug.startsWith(prefix) ? slug.slice(prefix.length) : slug;
}

/** Returns the slug with which a subscription names an event type, such as `events.invoice.paid` for `invoice.paid`. */
export function typeSlug(name: string): string {
  return prefix + name;
}

/** Name of the format of deliveries that an endpoint has if none is chosen. The API calls it `svc`. */
const defaultFormat = "Default";

/**
 * The formats of deliveries that a customer can choose in the portal, as options of a field. The format `custom` is left out: only the
 * project can choose it.
 */
export const endpointFormats: readonly { value: string; words: string }[] = formatOptions
  .filter(({ value }) => value !== "custom")
  .map((option) => (option.value === "svc" ? { ...option, words: defaultFormat } : option));

/** Returns the name of the format in which an endpoint receives its deliveries. */
export function endpointFormat({ format }: Pick<Subscription, "format">): string {
  const kind = format?.kind ?? "";
  return kind === "" || kind === "svc" ? defaultFormat : formatWords(kind);
}

/** The fields of an endpoint's subscription that show if the endpoint receives deliveries, and if not, why. */
type Activity = Pick<Subscription, "health" | "inactiveReason" | "pausedBy">;

const pauserOf = ({ pausedBy }: Activity, project: string) => (pausedBy === "project" ? project : "");

/**
 * Returns the state of an endpoint as a word with a colour, such as "paused". `project`: name of the project, because the project may have
 * paused the endpoint.
 */
export function endpointWord(endpoint: Activity, project: string): Word {
  return healthWord(endpoint.health?.state ?? "", endpoint.inactiveReason, pauserOf(endpoint, project));
}

/**
 * Returns a sentence that says why an endpoint receives nothing, and what the customer can do. `now`: current time in epoch milliseconds.
 */
export function endpointSentence(endpoint: Activity, project: string, now: number): string {
  const { health, inactiveReason, pausedBy } = endpoint;
  if (inactiveReason === "deactivated" && pausedBy === "portal")
    return "It was paused for 30 days, so it is off now. Turn it on to receive events again.";
  if (inactiveReason === "deactivated") return `${project} turned it off. Ask ${project} to turn it on again.`;
  if (health === undefined) return "The health is not known.";
  return healthSentence(health, inactiveReason, now, pauserOf(endpoint, project));
}

/** True if the customer may resume or re-enable an endpoint. False if the project paused or deactivated it. */
export function canActivate({ inactiveReason, pausedBy }: Activity): boolean {
  return inactiveReason === "deactivated" ? pausedBy === "portal" : pausedBy !== "project";
}

/**
 * Returns the event type of a delivery in words. `triggerSlug`: the slug as ListDeliveries returns it; empty for a test event, undefined for
 * a type that is no longer offered.
 */
export function deliveredEvent({ triggerSlug }: Pick<Delivery, "triggerSlug">): string {
  if (triggerSlug === undefined) return "an event type that is not offered any more";
  return triggerSlug === "" ? "test event" : typeName(triggerSlug);
}

/** Returns in words which event types an endpoint receives. */
export function receivedTypes({ match, triggerSlug }: Pick<Subscription, "match" | "triggerSlug">): string {
  const slugs = match?.triggerSlugs ?? [];
  const named = slugs.length > 0 ? slugs : triggerSlug === "" ? [] : [triggerSlug];
  const types = named.length === 0 ? "all event types" : named.map(typeName).join(", ");
  return (match?.filter ?? "") === "" ? types : `${types}, filtered`;
}

import type { Subscription } from "@svc/gen/triggers";

/** Toolkit of the events that a project publishes. The slugs of its event types begin with it. */
const prefix = "events.";

/** Returns the name of an event type for the slug that a subscription names (`events.invoice.paid`). */
export function typeName(slug: string): string {
  return slug.startsWith(prefix) ? slug.slice(prefix.length) : slug;
}

/** Returns the slug with which a subscription names an event type. */
export function typeSlug(name: string): string {
  return prefix + name;
}

/** Returns in words which event types an endpoint receives. */
export function receivedTypes({ match, triggerSlug }: Pick<Subscription, "match" | "triggerSlug">): string {
  const slugs = match?.triggerSlugs ?? [];
  const named = slugs.length > 0 ? slugs : triggerSlug === "" ? [] : [triggerSlug];
  const types = named.length === 0 ? "all event types" : named.map(typeName).join(", ");
  return (match?.filter ?? "") === "" ? types : `${types}, filtered`;
}

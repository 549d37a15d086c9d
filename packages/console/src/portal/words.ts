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

const nodeCode = `// Node, with the package standardwebhooks
import { Webhook } from "standardwebhooks";

// body: the bytes of the request as they came, before a parser reads them
const event = new Webhook(process.env.SIGNING_SECRET).verify(body, request.headers); // throws if it is not signed`;

const pythonCode = `# Python, with the package standardwebhooks
import os
from standardwebhooks.webhooks import Webhook

# body: the bytes of the request as they came, before a parser reads them
event = Webhook(os.environ["SIGNING_SECRET"]).verify(body, headers)  # raises if it is not signed`;

const sdkCode = `// Node, with the package @svc/sdk; for the format svc
import { verifyDelivery } from "@svc/sdk";

// body: the bytes of the request as they came, before a parser reads them
const event = await verifyDelivery(request.headers, body, process.env.SIGNING_SECRET); // rejects if it is not signed`;

/** Example code that verifies a delivery, by the language and the library. */
export const verifyCode: readonly { name: string; text: string }[] = [
  { name: "Node", text: nodeCode },
  { name: "Python", text: pythonCode },
  { name: "Node, svc's own library", text: sdkCode },
];

import { createHmac } from "node:crypto";
import type { ProjectId } from "@svc/core";
import type { InboundPost } from "@svc/node";

type Changes = {
  readonly slug?: string;
  readonly webhook?: object | undefined;
  readonly trigger?: object;
  readonly triggers?: object;
};

/**
 * Returns the definition of a private toolkit (an app that a project defined) with a webhook that is signed with HMAC-SHA256, as JSON text.
 */
export function deskDefinition({ slug = "desk", webhook, trigger, triggers }: Changes = {}): string {
  const ticket_opened = {
    kind: "trigger",
    description: "A customer opens a ticket in the help desk, or writes to an open one.",
    intents: ["when a customer asks for help", "new support requests", "somebody has a problem"],
    match: { body: { type: "ticket.opened" } },
    entity: "{{body.customer}}",
    dedupe: "{{body.id}}",
    payload: { id: "{{body.id}}", subject: "{{body.subject}}" },
    output: {
      type: "object",
      additionalProperties: false,
      required: ["id", "subject"],
      properties: { id: { type: "string" }, subject: { type: "string" } },
    },
    ...trigger,
  };
  return JSON.stringify({
    toolkit: {
      slug,
      name: "Help desk",
      description: "Tickets of a help desk of our own, for tests of private webhooks.",
      version: "0.1.0",
      category: "communication",
      baseUrl: "https://desk.example.com/api",
      auth: [{ type: "none" }],
      webhook: webhook ?? { scheme: "hmac_sha256", header: "x-desk-signature", encoding: "hex", prefix: "sha256=" },
    },
    tools: { ticket_opened, ...triggers },
  });
}

/** Returns a webhook post to the test project's private toolkit (an app that it defined), signed with a secret. */
export function ticketPost(
  projectId: ProjectId,
  secret: string,
  fields: Readonly<Record<string, unknown>> = {},
): InboundPost & { projectId: ProjectId } {
  const body = Buffer.from(
    JSON.stringify({ type: "ticket.opened", id: "t-1", customer: "ada", subject: "It is broken", ...fields }),
  );
  return {
    ...{ toolkitSlug: "desk", projectId, body, query: new URLSearchParams() },
    headers: {
      "content-type": "application/json",
      "x-desk-signature": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
    },
    target: `/webhooks/${projectId}/desk`,
  };
}

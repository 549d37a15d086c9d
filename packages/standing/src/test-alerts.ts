import type { ToolkitSource } from "@svc/testing/catalog";
import type { TestNode } from "@svc/testing/node";

const text = { type: "string" };

/** Token with which the test app signs its webhook posts. */
export const alertsToken = "alerts-token";

/** An app for tests. It posts an event when an incident is opened. */
export const alerts: ToolkitSource = {
  toolkit: {
    slug: "alerts",
    name: "Alerts",
    description: "Incidents that open and close, for tests of what starts by itself.",
    version: "1.0.0",
    category: "communication",
    baseUrl: "https://alerts.example.com",
    auth: [{ type: "none" }],
    webhook: { scheme: "token_query", secretEnv: "SVC_WEBHOOK_SECRET_ALERTS", parameter: "token" },
  } as ToolkitSource["toolkit"],
  tools: {
    incident_opened: {
      kind: "trigger",
      description: "Fires when an incident opens, with how severe it is and which service it is about.",
      intents: ["when an incident opens", "tell me about outages", "watch for incidents"],
      output: {
        type: "object",
        additionalProperties: false,
        required: ["id", "title"],
        properties: { id: text, title: text, severity: { type: "integer" }, service: text },
      },
      match: { body: { type: "opened" } },
      dedupe: "{{body.delivery}}",
      payload: {
        id: "{{body.incident.id}}",
        title: "{{body.incident.title}}",
        severity: "{{body.incident.severity}}",
        service: "{{body.incident.service}}",
      },
    },
  } as unknown as ToolkitSource["tools"],
};

/** An incident of the test app. Absent fields are not part of the webhook post. */
export type Incident = {
  readonly id: string;
  readonly title?: string;
  readonly severity?: number;
  readonly service?: string;
};

/** Posts an incident as the test app does, and stores the event. `delivery`: id of the webhook post; a repeated post has the same id. */
export async function postIncident(
  { ingest }: Pick<TestNode, "ingest">,
  incident: Incident,
  delivery?: string,
): Promise<void> {
  const body = { type: "opened", delivery, incident: { title: "It is down", ...incident } };
  const { outcome } = await ingest.accept({
    toolkitSlug: "alerts",
    headers: { "content-type": "application/json" },
    query: new URLSearchParams({ token: alertsToken }),
    body: Buffer.from(JSON.stringify(body)),
  });
  if (outcome !== "accepted") throw new Error(`the post was ${outcome}`);
}

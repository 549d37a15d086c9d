import type { ToolkitSource } from "@svc/testing/catalog";
import type { TestNode } from "@svc/testing/node";

const text = { type: "string" };

/** Token that signs the posts of alerts. */
export const alertsToken = "alerts-token";

/** An app for tests that posts opened incidents. */
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

/** An incident; absent fields are not posted. */
export type Incident = {
  readonly id: string;
  readonly title?: string;
  readonly severity?: number;
  readonly service?: string;
};

/** Posts and stores an incident as its app does. `delivery`: id of the post, which a repeated post shares. */
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

import { createTenantValidators, type JsonSchema, type SamplePost, type Toolkit, type Trigger } from "@svc/catalog";
import { type ProjectId, readJsonObject } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { type EventTypeRow, eventTypesForProject } from "@svc/db/event-types/repo";

/** Slug of the toolkit that contains a project's own event types. It is reserved: no other toolkit can have it. */
export const eventsToolkitSlug = "events";

/** Maximum number of event types of a project. */
export const eventTypesMax = 1_000;

const any: JsonSchema = { type: "object" };

/** Returns the toolkit of a project's own event types for the project's catalog. Empty if the project has no types. */
export async function readEventToolkits(db: Executor, projectId: ProjectId): Promise<readonly Toolkit[]> {
  const types = await eventTypesForProject(db, projectId).list({ after: "", limit: eventTypesMax });
  if (types.length === 0) return [];
  const validators = createTenantValidators();
  return [
    {
      slug: eventsToolkitSlug,
      ownerProjectId: projectId,
      originDigest: "",
      name: "Events",
      description: "Events that this project publishes itself. Each event type is a trigger.",
      version: "1.0.0",
      category: "developer-infrastructure",
      baseUrl: "",
      auth: [],
      account: [],
      always: { headers: none, query: none, body: none },
      identify: undefined,
      webhook: undefined,
      actions: [],
      triggers: types.map((type) => eventTrigger(projectId, type, validators)),
      rate: undefined,
      codeTools: [],
    },
  ];
}

const none = { kind: "object", entries: [] } as const;

function eventTrigger(
  ownerProjectId: ProjectId,
  { name, description, schema, sample, archivedAt }: EventTypeRow,
  validatorOf: ReturnType<typeof createTenantValidators>,
): Trigger {
  // A schema is parsed at its first use, because parsing those of 1,000 types at once would block the event loop for a third of a second.
  let read: JsonSchema | undefined;
  let validate: ReturnType<typeof validatorOf> | undefined;
  const outputSchema = () => (read ??= schema === "" ? any : readJsonObject(schema, "the schema of an event type"));
  return {
    kind: "trigger",
    slug: eventTriggerSlug(name),
    name,
    toolkitSlug: eventsToolkitSlug,
    ownerProjectId,
    class: "read",
    scopes: [],
    description: description === "" ? `Events of the type ${name}.` : description,
    intents: [],
    callable: false,
    uncallableReason: "It is a trigger: the project publishes its events, and subscriptions receive them.",
    inputSchema: { type: "object", properties: {}, additionalProperties: false },
    get outputSchema() {
      return outputSchema();
    },
    readsBody: true,
    namesAccount: true,
    matches: () => false,
    normalize: () => ({ fault: "events of this type are published, and no app posts them" }),
    sample: (): SamplePost => ({
      headers: {},
      query: {},
      body: sample === "" ? {} : readJsonObject(sample, "the sample of an event type"),
    }),
    own: {
      get validate() {
        if (schema === "") return undefined;
        validate ??= validatorOf(outputSchema());
        return validate;
      },
      isArchived: archivedAt !== null,
    },
  };
}

/** Returns the slug of the trigger of an event type. */
export function eventTriggerSlug(name: string): string {
  return `${eventsToolkitSlug}.${name}`;
}

import { createTenantValidators, type JsonSchema, type SamplePost, type Toolkit, type Trigger } from "@svc/catalog";
import {
  type OperationalEventName,
  operationalEventTypes,
  operationalToolkitSlug,
  type ProjectId,
  readJsonObject,
} from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { type EventTypeRow, eventTypesForProject } from "@svc/db/event-types/repo";

/**
 * Slug of the toolkit (a named group of tools and events) that contains a project's own event types. It is reserved: no other toolkit can
 * have it.
 */
export const eventsToolkitSlug = "events";

/** Maximum number of event types of a project. */
export const eventTypesMax = 1_000;

const any: JsonSchema = { type: "object" };

/**
 * Returns the toolkit (definition of tools and events) with a project's own event types for the project's catalog. Empty if the project has
 * no types.
 */
export async function readEventToolkits(db: Executor, projectId: ProjectId): Promise<readonly Toolkit[]> {
  const types = await eventTypesForProject(db, projectId).list({ after: "", limit: eventTypesMax });
  if (types.length === 0) return [];
  const validators = createTenantValidators();
  const description = "Events that this project publishes itself. Each event type is a trigger.";
  const triggers = types.map((type) => eventTrigger(projectId, type, validators));
  return [ownToolkit({ slug: eventsToolkitSlug, name: "Events", description, ownerProjectId: projectId, triggers })];
}

/**
 * Returns the toolkit (definition of tools and events) of the operational events (svc's events about a project), which every project has.
 */
export function operationalToolkit(): Toolkit {
  const description =
    "What svc reports about the project: failing endpoints, dead deliveries, ended jobs, expired accounts.";
  const names = Object.keys(operationalEventTypes) as OperationalEventName[];
  const triggers = names.map(operationalTrigger);
  return ownToolkit({ slug: operationalToolkitSlug, name: "svc", description, ownerProjectId: "", triggers });
}

function ownToolkit(own: Pick<Toolkit, "slug" | "name" | "description" | "ownerProjectId" | "triggers">): Toolkit {
  return {
    ...own,
    originDigest: "",
    version: "1.0.0",
    category: "developer-infrastructure",
    baseUrl: "",
    auth: [],
    account: [],
    always: { headers: none, query: none, body: none },
    identify: undefined,
    webhook: undefined,
    actions: [],
    rate: undefined,
    codeTools: [],
  };
}

const none = { kind: "object", entries: [] } as const;

function eventTrigger(
  ownerProjectId: ProjectId,
  { name, description, schema, sample, archivedAt, offered }: EventTypeRow,
  validatorOf: ReturnType<typeof createTenantValidators>,
): Trigger {
  // A schema is parsed at its first use, because parsing those of 1,000 types at once would block the event loop for a third of a second.
  let read: JsonSchema | undefined;
  let validate: ReturnType<typeof validatorOf> | undefined;
  const outputSchema = () => (read ??= schema === "" ? any : readJsonObject(schema, "the schema of an event type"));
  return {
    ...ownTrigger({
      ...{ toolkitSlug: eventsToolkitSlug, name, ownerProjectId },
      description: description === "" ? `Events of the type ${name}.` : description,
      uncallableReason: "It is a trigger: the project publishes its events, and subscriptions receive them.",
      sample: () => (sample === "" ? {} : readJsonObject(sample, "the sample of an event type")),
    }),
    get outputSchema() {
      return outputSchema();
    },
    own: {
      get validate() {
        if (schema === "") return undefined;
        validate ??= validatorOf(outputSchema());
        return validate;
      },
      isArchived: archivedAt !== null,
      isOffered: offered,
    },
  };
}

function operationalTrigger(name: OperationalEventName): Trigger {
  const { description, once, fields } = operationalEventTypes[name];
  const declared = Object.entries<{ readonly schema: object; readonly sample: unknown }>(fields);
  const properties = Object.fromEntries(declared.map(([field, { schema }]) => [field, schema]));
  return {
    ...ownTrigger({
      ...{ toolkitSlug: operationalToolkitSlug, name, ownerProjectId: "" },
      description: `${description} At most once per ${once}.`,
      uncallableReason: "It is a trigger: svc makes its events, and subscriptions receive them.",
      sample: () => Object.fromEntries(declared.map(([field, { sample }]) => [field, sample])),
    }),
    outputSchema: { type: "object", required: Object.keys(properties), properties },
  };
}

/**
 * Returns a trigger (kind of event) whose events the project publishes itself, so that no app posts them. Its schema is not included.
 * `sample` returns the payload of a sample event.
 */
function ownTrigger({
  sample,
  ...own
}: Pick<Trigger, "name" | "toolkitSlug" | "ownerProjectId" | "description" | "uncallableReason"> & {
  readonly sample: () => object;
}): Omit<Trigger, "outputSchema"> {
  return {
    ...own,
    kind: "trigger",
    slug: `${own.toolkitSlug}.${own.name}`,
    class: "read",
    scopes: [],
    intents: [],
    callable: false,
    inputSchema: { type: "object", properties: {}, additionalProperties: false },
    readsBody: true,
    namesAccount: true,
    matches: () => false,
    normalize: () => ({ fault: "no app posts events of this type" }),
    sample: (): SamplePost => ({ headers: {}, query: {}, body: sample() }),
  };
}

/** Returns the slug of the trigger of an event type. */
export function eventTriggerSlug(name: string): string {
  return `${eventsToolkitSlug}.${name}`;
}

import {
  EventDocumentFormat,
  EventSettingsSchema,
  EventTypeSchema,
  TriggersService,
  UnknownEventTypes,
} from "@svc/gen/triggers";
import type { EventType } from "@svc/sdk";
import { command, type Run } from "../command/declared.ts";
import { readJsonOption } from "../command/input.ts";
import { parseCount } from "../command/options.ts";
import { call, list, topic } from "../command/topic.ts";
import { addEventTypesImport } from "../custom/import-event-types.ts";
import { indentJson, messageText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { factLines, timeText } from "../text/table.ts";

const { listEventTypes, getEventType, putEventType, getEventDocument, getEventSettings, putEventSettings } =
  TriggersService.method;

type PutValues = {
  readonly schema?: string;
  readonly sample?: string;
  readonly description?: string;
  readonly offered?: boolean;
  readonly active?: true;
};

/** The fields of an event type that each option of `svc event-types put` changes. */
const fieldsOfOptions = {
  schema: "schemaJson",
  sample: "sampleJson",
  description: "description",
  offered: "offered",
  active: "archived",
} as const;

/** Returns the request field `updateMask`: the fields that the given options change. `name` makes the mask count without any option. */
function maskOf(values: PutValues): string[] {
  const options = Object.keys(fieldsOfOptions) as (keyof PutValues)[];
  return ["name", ...options.filter((option) => values[option] !== undefined).map((option) => fieldsOfOptions[option])];
}

/** The commands `svc event-types list|show|put|archive|import|settings`, for the types of events that the project itself publishes. */
export const addEventTypesCommand = topic({
  says: "list, show, create, change and archive the types of the project's own events",
  examples: ["svc event-types", "svc event-types put invoice.paid --schema @invoice.schema.json"],
  commands: {
    list: list(listEventTypes, {
      says: "list the project's event types by name",
      isDefault: true,
      pageSize: 1_000,
      rows: "eventTypes",
      table: {
        NAME: "name",
        VERSION: ({ version }) => String(version),
        STATE: ({ archived }) => (archived ? "archived" : "active"),
        OFFERED: "offered",
        CHANGED: "updatedAt",
        DESCRIPTION: ({ description }) => plainText(description) || "-",
      },
      json: "the event types as a JSON list",
      examples: ["svc event-types list", "svc event-types list --json"],
    }),
    show: call(getEventType, {
      says: "show an event type with its schema and a sample",
      takes: { "<name>": "name of the event type" },
      options: [
        ["--schema-version <number>", "show the schema of this version", { fills: "version", parse: parseCount }],
      ],
      json: "the event type and its versions as JSON",
      shows: ({ eventType, versions }) =>
        eventType === undefined ? [] : typeLines(eventType, versions.map(({ version }) => version).join(", ")),
      examples: ["svc event-types show invoice.paid", "svc event-types show invoice.paid --schema-version 1"],
    }),
    put: call(putEventType, {
      says: "create an event type, or change what the options name; needs an approver's key",
      takes: { "<name>": "name of the event type: letters, digits, _ and - in parts joined by dots" },
      options: [
        [
          "--schema <json>",
          "JSON Schema of the payload; @file reads it from a file. Without a schema, a type accepts every object",
          { fills: "schemaJson" },
        ],
        [
          "--sample <json>",
          "a payload that satisfies the schema; @file reads it from a file. Without one, svc makes a sample",
          { fills: "sampleJson" },
        ],
        ["--description <text>", "description for people and agents"],
        ["--offered", "offer the type to the project's customers"],
        ["--no-offered", "stop offering the type"],
        ["--active", "accept new events again, if the type is archived"],
        ["--breaking", "accept that the new schema refuses stored events"],
        ["--dry-run", "check the definition, and try its schema on stored events, without storing it"],
      ],
      request: async ({ values, values: { schema, sample }, context }: Run<PutValues>) => ({
        updateMask: maskOf(values),
        ...(schema !== undefined && { schemaJson: await readJsonOption("--schema", schema, context) }),
        ...(sample !== undefined && { sampleJson: await readJsonOption("--sample", sample, context) }),
      }),
      json: "the event type and the trial of its schema as JSON",
      shows: ({ eventType, checked, failing, failures }, { request }) => [
        `${eventType?.name} ${request.dryRun === true ? "would have" : "has"} version ${eventType?.version}`,
        ...(checked === 0 ? [] : [`the schema refuses ${failing} of the latest ${checked} events`]),
        ...failures.map(
          ({ eventId, faults: [first] }) => `  ${eventId} ${first?.pointer ?? ""} ${first?.message ?? ""}`,
        ),
      ],
      more: "\nAn existing type keeps everything that no option names.",
      examples: [
        "svc event-types put invoice.paid --schema @invoice.schema.json --description 'An invoice was paid'",
        "svc event-types put invoice.paid --offered",
        "svc event-types put invoice.paid --schema @invoice.schema.json --dry-run",
      ],
    }),
    archive: command(
      undefined,
      {
        client: "project",
        says: "archive an event type: it refuses new events, and stored ones stay; needs an approver's key",
        takes: { "<name>": "name of the event type" },
        json: "the event type as JSON",
        examples: ["svc event-types archive invoice.paid"],
      },
      async ({ values: { name }, context, project, asJson }: Run<{ readonly name: string }>) => {
        const { triggers } = await project();
        // PutEventType would create a type with a mistyped name.
        const found = await triggers.getEventType({ name });
        const { description = "", schemaJson = "", sampleJson = "", offered = false } = found.eventType ?? {};
        // An older service does not know the mask and replaces every field. So the request has the values of all of them.
        const kept = { description, schemaJson, sampleJson, offered };
        const { eventType } = await triggers.putEventType({ name, ...kept, archived: true, updateMask: ["archived"] });
        if (asJson && eventType !== undefined) context.print(messageText(EventTypeSchema, eventType));
        else context.print(`${name} is archived`);
      },
    ),
    import: addEventTypesImport,
    document: command(
      getEventDocument,
      {
        says: "print a document that describes the event types: OpenAPI 3.1 or AsyncAPI 3.0",
        options: [
          ["--format <format>", "format of the document", { choices: ["openapi", "asyncapi"], default: "openapi" }],
          [
            "--delivery <form>",
            "form of the described deliveries",
            { choices: ["svc", "standard", "cloudevents"], default: "svc" },
          ],
          ["--types <names>", "only these types, archived ones too, such as invoice.paid,invoice.sent"],
        ],
        json: "the document in one line",
        examples: [
          "svc event-types document > openapi.json",
          "svc event-types document --format asyncapi --delivery cloudevents",
        ],
      },
      async ({ values, context, project, asJson }: Run<{ readonly format: "openapi" | "asyncapi" }>, request) => {
        const { triggers } = await project();
        const { ASYNCAPI_3, OPENAPI_3_1 } = EventDocumentFormat;
        const format = values.format === "asyncapi" ? ASYNCAPI_3 : OPENAPI_3_1;
        const { documentJson } = await triggers.getEventDocument({ ...request, format });
        context.print(asJson ? documentJson : indentJson(documentJson));
      },
    ),
    settings: command(
      putEventSettings,
      {
        says: "show or change the settings for the project's own events",
        options: [
          ["--unknown-types <what>", "what happens to events of an unknown type", { choices: ["refuse", "create"] }],
        ],
        also: [[getEventSettings]],
        json: "the settings as JSON",
        examples: ["svc event-types settings", "svc event-types settings --unknown-types create"],
      },
      async ({ values, context, project, asJson }: Run<{ readonly unknownTypes?: "refuse" | "create" }>) => {
        const { triggers } = await project();
        const { refuse, create } = { refuse: UnknownEventTypes.REFUSE, create: UnknownEventTypes.CREATE };
        const { settings } =
          values.unknownTypes === undefined
            ? await triggers.getEventSettings({})
            : await triggers.putEventSettings({
                settings: { unknownTypes: values.unknownTypes === "create" ? create : refuse },
              });
        if (settings === undefined) return;
        if (asJson) context.print(messageText(EventSettingsSchema, settings));
        else context.print(`unknown types  ${settings.unknownTypes === create ? "create" : "refuse"}`);
      },
    ),
  },
});

function typeLines({ name, description, schemaJson, sampleJson, ...type }: EventType, versions: string): string[] {
  return [
    ...factLines([
      ["event type", name],
      ["trigger", `events.${name}`],
      ["description", plainText(description)],
      ["state", type.archived ? "archived" : "active"],
      ["offered", type.offered ? "yes" : "no"],
      ["version", String(type.version)],
      ["versions", versions],
      ["created", timeText(type.createdAt)],
      ["changed", timeText(type.updatedAt)],
    ]),
    ...(schemaJson === "" ? [] : ["\nSchema:", indentJson(schemaJson)]),
    ...(sampleJson === "" ? [] : ["\nSample:", indentJson(sampleJson)]),
  ];
}

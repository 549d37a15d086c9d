import type { Action, Catalog } from "@svc/catalog";
import { catalogOf, type ToolkitSource } from "@svc/testing/catalog";
import { sampleToolkits } from "@svc/testing/sample-toolkits";

const text = { type: "string" };
const id = { type: "string", description: "Id of the ticket." };
const intents = ["look at the case", "what was it about", "the customer's trouble"];

type ToolSource = ToolkitSource["tools"][string];

function action(changes: object): ToolSource {
  return {
    kind: "action",
    class: "read",
    description: "Does something with a ticket of the desk, for tests of calls.",
    intents,
    input: { type: "object", additionalProperties: false, required: ["id"], properties: { id } },
    output: {
      type: "object",
      required: ["id"],
      properties: { id: text, state: text, lines: { type: "array", items: text } },
    },
    request: { method: "GET", path: "/tickets/{{params.id}}" },
    ...changes,
  } as ToolSource;
}

const note = {
  type: "object",
  additionalProperties: false,
  required: ["id", "text"],
  properties: {
    id,
    text: { type: "string", minLength: 1, description: "What the note says." },
    pin: { type: "string", description: "Pin of the vault.", "x-sensitive": true },
  },
};
const noteBody = { text: "{{params.text}}", pin: "{{params.pin}}" };

/** Gives each tool of a toolkit (svc's definition of one app) its own description, as the catalog requires. */
function describedByName(tools: ToolkitSource["tools"]): ToolkitSource["tools"] {
  const entries = Object.entries(tools);
  return Object.fromEntries(
    entries.map(([name, tool]) => [name, { ...tool, description: `${tool.description} This is ${name}.` }]),
  );
}

/** Toolkit of the test app. It has tools of each access class, with and without idempotency keys, sensitive arguments and results. */
export const deskToolkit: ToolkitSource = {
  toolkit: {
    slug: "desk",
    name: "Desk",
    description: "Tickets of a help desk, for tests of calls.",
    version: "0.1.0",
    category: "work-tracking",
    baseUrl: "https://desk.example.com/api",
    auth: [{ type: "api_key", placement: "header", name: "Authorization", value: "Bearer {{credential.key}}" }],
  },
  tools: describedByName({
    read_ticket: action({ scopes: ["tickets.read"] }),
    find_tickets: action({
      input: {
        type: "object",
        additionalProperties: false,
        properties: {
          q: { type: "string", description: "Words to look for." },
          labels: { type: "array", items: text, description: "Labels they carry." },
        },
      },
      request: { method: "GET", path: "/tickets", query: { q: "{{params.q}}", label: "{{params.labels}}" } },
      response: {
        unwrap: "data.found",
        under: "lines",
        empty: { lines: [] },
        error: { path: "errors[0]", message: "errors[0].message" },
      },
    }),
    add_note: action({
      class: "write",
      input: note,
      output: { type: "object", properties: { id: text, link: { type: "string", "x-sensitive": true } } },
      request: { method: "POST", path: "/tickets/{{params.id}}/notes", body: noteBody },
    }),
    add_settings: action({
      class: "write",
      input: { ...note, properties: { ...note.properties, pin: { description: "Any pin.", "x-sensitive": true } } },
      request: { method: "POST", path: "/tickets/{{params.id}}/settings", body: noteBody },
    }),
    charge: action({
      class: "write",
      idempotency: { header: "Idempotency-Key", maxLength: 40 },
      input: note,
      request: { method: "POST", path: "/tickets/{{params.id}}/charges", body: noteBody },
    }),
    pay: action({
      class: "write",
      idempotency: { argument: "key" },
      input: {
        ...note,
        properties: { ...note.properties, key: { type: "string", maxLength: 20, description: "Idempotency key." } },
      },
      request: {
        method: "POST",
        path: "/payments",
        body: { ...noteBody, ticket: "{{params.id}}", key: "{{params.key}}" },
      },
    }),
    delete_ticket: action({
      class: "destructive",
      input: { ...note, required: ["id"] },
      request: {
        method: "DELETE",
        path: "/tickets/{{params.id}}",
        query: { pin: "{{params.pin}}", reason: "{{params.text}}" },
      },
      response: { empty: { id: "deleted" } },
    }),
    hidden: action({ callable: false }),
  }),
};

/** A toolkit (one app's tools) whose base URL must be set by the deployment. */
export const unplacedToolkit: ToolkitSource = {
  toolkit: { ...deskToolkit.toolkit, slug: "unplaced", baseUrl: "{{deployment.provider_base_url}}/v1" },
  tools: { read_ticket: action({}) },
};

/** A toolkit (one app with its tools) whose host contains a variable of the connected account. */
export const hostedToolkit: ToolkitSource = {
  toolkit: {
    ...deskToolkit.toolkit,
    slug: "hosted",
    baseUrl: "https://{{account.site}}.example.com",
    account: [{ name: "site", description: "Name of your site", example: "acme" }],
  },
  tools: { read_ticket: action({}) },
};

/** Returns the catalog of these tests, with toolkits (apps), tools and triggers. */
export function testCatalog(): Catalog {
  return catalogOf({ toolkits: [deskToolkit, unplacedToolkit, hostedToolkit, sampleToolkits.codeHost] });
}

/** Returns a compiled tool of the test app, with changes to its definition. */
export function deskAction(name: string, changes: object = {}): Action {
  const tool = { ...deskToolkit.tools[name], ...changes } as ToolSource;
  const found = catalogOf({ toolkits: [{ ...deskToolkit, tools: { [name]: tool } }] }).tools.get(`desk.${name}`);
  if (found?.kind !== "action") throw new Error(`the desk has no action ${name}`);
  return found;
}

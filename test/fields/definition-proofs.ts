import { type Definition, type DefinitionWorld, type Served, signatureOf } from "./definition-world.ts";
import type { Proof } from "./proof.ts";

/** A proof that changes a tool or toolkit definition. */
export type DefinitionProof = Proof<DefinitionWorld>;
type Shows = DefinitionProof["shows"];

const text = { type: "string" };
const described = (description: string, more: object = {}) => ({ type: "string", description, ...more });

/** The definition of a shop app, with as many fields as can be used together. */
export const shop = {
  toolkit: {
    slug: "shop",
    name: "Shop",
    description: "Orders and notes of a shop, for proofs of definitions and nothing else.",
    version: "1.2.3",
    category: "sales",
    baseUrl: "https://{{account.site}}.shop.example.com/v1",
    auth: [{ type: "api_key", placement: "header", name: "X-Key", value: "Key {{credential.key}}" }],
    account: [{ name: "site", description: "Name of your shop", example: "north", pattern: "^[a-z]+$" }],
    always: { headers: { "X-Always": "h" }, query: { always: "q" }, body: { always: "b" } },
    identify: { tool: "who_am_i", path: "id" },
    rate: { max: 1000, per: "1s" },
    webhook: {
      ...{
        scheme: "hmac_sha256",
        secretEnv: "SVC_WEBHOOK_SECRET_SHOP",
        header: "X-Sign",
        encoding: "hex",
        prefix: "v1=",
      },
      ignore: [{ body: { kind: "ping" } }],
    },
  },
  tools: {
    who_am_i: {
      ...{
        kind: "action",
        class: "read",
        description: "Tells whose account of the shop this is, by the id that the shop gave it.",
      },
      intents: ["whose account is this", "tell me my id there", "which person is signed in"],
      input: { type: "object", additionalProperties: false, properties: {} },
      output: { type: "object", properties: { id: text, other: text } },
      request: { method: "GET", path: "/me" },
    },
    list_orders: {
      ...{ kind: "action", class: "read", scopes: ["orders.read"] },
      description: "Lists the orders of the shop page after page, the newest first, with their ids and when they came.",
      intents: ["which orders came in", "what was bought today", "show all purchases"],
      input: {
        ...{ type: "object", additionalProperties: false },
        properties: {
          page: described("Token of the page."),
          number: { type: "integer", description: "Number of the page." },
          other: described("Another token."),
          size: { type: "integer", default: 2, description: "Rows of a page." },
        },
      },
      output: {
        type: "object",
        properties: {
          items: {
            type: "array",
            items: {
              type: "object",
              properties: { id: text, at: { type: "integer" }, kind: text, day: text, late: text },
            },
          },
          others: { type: "array", items: { type: "object", properties: { id: text } } },
          ...{ next: text, link: text, more: { type: "boolean" }, full: { type: "boolean" } },
        },
      },
      request: {
        method: "GET",
        path: "/items",
        query: {
          page: "{{params.page}}",
          number: "{{params.number}}",
          other: "{{params.other}}",
          size: "{{params.size}}",
        },
        headers: { "X-Mark": "m" },
      },
      response: { unwrap: "data" },
      paging: { arg: "page", from: "next", more: "more" },
    },
    leave_note: {
      ...{
        kind: "action",
        class: "write",
        description: "Leaves a note at the shop for whoever packs the orders, and returns its id.",
      },
      intents: ["tell the packers something", "leave a remark for the team", "write down a wish"],
      idempotency: { header: "X-Once", maxLength: 8 },
      input: {
        type: "object",
        additionalProperties: false,
        required: ["text"],
        properties: { text: described("What it says.") },
      },
      output: { type: "object", properties: { id: text, text } },
      request: { method: "POST", path: "/notes", body: { text: "{{params.text}}" } },
      response: { error: { path: "error", message: "error.text" } },
    },
    drop_note: {
      ...{
        kind: "action",
        class: "destructive",
        description: "Deletes a note that was left at the shop for good; it cannot be brought back.",
      },
      intents: ["get rid of a remark", "take that wish back for good", "remove what I wrote"],
      input: {
        type: "object",
        additionalProperties: false,
        required: ["id"],
        properties: { id: described("Id of the note.") },
      },
      output: { type: "object", properties: { gone: { type: "boolean" } } },
      request: { method: "DELETE", path: "/notes/{{params.id}}" },
      response: { empty: { gone: true } },
    },
    order_paid: {
      ...{ kind: "trigger", description: "Fires when an order of the shop is paid for, with its number and its sum." },
      intents: ["when money comes in", "tell me about payments", "start when somebody pays"],
      output: {
        type: "object",
        additionalProperties: false,
        required: ["number"],
        properties: { number: { type: "integer" }, sum: text },
      },
      match: { headers: { "X-Kind": "paid" }, query: { v: "1" }, body: { kind: "order" } },
      account: "{{body.shop}}",
      dedupe: "{{body.id}}",
      occurredAt: "{{body.at}}",
      payload: { number: "{{body.number | int}}", sum: "{{body.sum}}" },
    },
  },
  deployment: { toolkits: {} },
};

/** Shows one aspect of a served definition. If the definition is refused, it shows the paths of the faults. */
export function served(look: (one: Served) => unknown): Shows {
  return async (world, definition) => {
    const one = await world.serve(definition as Definition);
    return Array.isArray(one) ? one : look(one);
  };
}

/** Shows a tool as GetTool returns it. */
// biome-ignore lint/suspicious/noExplicitAny: proofs read whatever is answered
export const tool = (name: string, pick: (tool: any) => unknown) => served(async (one) => pick(await one.tool(name)));
/** Shows the request that a call sends. */
export function sends(
  name: string,
  args: object,
  pick: (request: Served["sent"][number]) => unknown,
  more: object = {},
): Shows {
  return served(async (one) => {
    const { outcome } = await one.call(name, args, more);
    return one.sent[0] === undefined ? outcome : pick(one.sent[0]);
  });
}
/** Shows the answer of a call. */
// biome-ignore lint/suspicious/noExplicitAny: proofs read whatever is answered
export const answers = (name: string, args: object, pick: (answer: any) => unknown, more: object = {}) =>
  served(async (one) => pick(await one.call(name, args, more)));
/** Shows the tools that a search finds. */
export const finds = (query: string) => served((one) => one.search(query));
/** Returns a call's result, or its outcome if it has none. */
// biome-ignore lint/suspicious/noExplicitAny: proofs read whatever is answered
export const resulting = ({ outcome, resultJson }: any) => (outcome === "ok" ? JSON.parse(resultJson) : outcome);

/** A webhook post about a paid order, and its signature. */
export const paid = {
  kind: "order",
  id: "UNIQUE",
  number: "7",
  sum: "12.00",
  shop: "REFERENCE",
  at: "2026-01-05T08:00:00Z",
};
export const signs = (text: string) => ({
  headers: { "x-kind": "paid", "x-sign": `v1=${signatureOf(text, "SVC_WEBHOOK_SECRET_SHOP")}` },
  query: { v: "1" },
});
/** Shows the events that a webhook post makes, or its refusal. */
// biome-ignore lint/suspicious/noExplicitAny: proofs read whatever is answered
export const posted = (body: object, pick: (answer: any) => unknown, signed: typeof signs = signs) =>
  served(async (one) => pick(await one.post(body, signed)));

/** The definition of a private toolkit for an MCP server. */
export const tracker = {
  toolkit: {
    slug: "tracker",
    name: "Tracker",
    description: "Keeps the issues of a team, which people and agents open, change and close.",
    version: "1.0.0",
    category: "developer-infrastructure",
    mcp: { url: "https://tracker.example.com/mcp" },
    auth: [{ type: "none" }] as object[],
  },
  tools: {
    create_issue: {
      kind: "action",
      class: "write",
      description: "Opens an issue for the team with a title, and returns the issue.",
      input: {
        type: "object",
        additionalProperties: false,
        required: ["arguments"],
        properties: { arguments: { type: "object", description: "Arguments of the server's tool." } },
      },
      output: { type: "object" },
      mcp: { tool: "open issue", digest: "a".repeat(64), argument: "arguments" },
    },
  },
};

/** Shows what comes of a private toolkit that a project of the shop's service publishes. */
export function published(look: (one: Served, definition: Definition) => unknown): Shows {
  return async (world, definition) => {
    const one = await world.serve(shop);
    if (Array.isArray(one)) throw new Error(one.join());
    return look(one, definition as Definition);
  };
}

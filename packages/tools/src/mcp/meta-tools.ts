import type { JsonSchema } from "@svc/catalog";

/** Names of the tools that agents are given. */
export type MetaToolName = "search_tools" | "describe_tool" | "call_tool";

/** A tool as MCP lists it. */
export type MetaTool = {
  readonly name: MetaToolName;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema & { readonly type: "object" };
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
};

/** Longest result of call_tool where its caller sets none, bytes: about 5,000 tokens of JSON. */
export const resultBytesDefault = 20_000;

/** What an agent is told of the server before anything else. */
export const instructions = `Tools of many apps (calendars, mail, issues, payments and more), reached through three tools:
1. search_tools: say in plain words what you want to do; it returns slugs of fitting tools.
2. describe_tool: read the argument schema of the one you choose. Do not guess arguments.
3. call_tool: call it by its slug, with entity_id: the user whose connected account is used.
Destructive tools are held: call_tool shows what would be sent, and sends it only when called again with "confirm": true inside \
arguments. Confirm only what the user agreed to.`;

const readOnly = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

const searchTools: MetaTool = {
  name: "search_tools",
  title: "Search tools",
  description:
    "Finds tools of the connected apps by what you want to do. Start here: their slugs are not listed anywhere else. " +
    "Returns, best first, each tool's slug, a line about it, its class (read, write or destructive) and the arguments it requires. " +
    "Read the one you choose with describe_tool before you call it. Nothing that fits: say it in other words.",
  inputSchema: {
    type: "object",
    additionalProperties: false,
    required: ["query"],
    properties: {
      query: {
        type: "string",
        description:
          'One intent in plain words, such as "move a meeting to tomorrow". For several intents search several times.',
      },
      toolkit: { type: "string", description: "Only tools of this app: the part of a slug before the dot." },
      access_class: {
        type: "string",
        enum: ["read", "write", "destructive"],
        description: "Only tools that read, that write, or that destroy.",
      },
      limit: { type: "integer", minimum: 1, maximum: 50, description: "Most tools to return. Default 8." },
    },
  },
  annotations: readOnly,
};

const describeTool: MetaTool = {
  name: "describe_tool",
  title: "Describe a tool",
  description:
    "Returns the full definition of one tool: what it does, the JSON Schemas of its arguments and its result, its class, " +
    "the scopes its account needs, and whether it can be called.",
  inputSchema: {
    type: "object",
    additionalProperties: false,
    required: ["slug"],
    properties: {
      slug: { type: "string", description: "Slug as search_tools returns it: <toolkit>.<tool>." },
    },
  },
  annotations: readOnly,
};

const callTool: MetaTool = {
  name: "call_tool",
  title: "Call a tool",
  description:
    "Calls a tool on behalf of a connected account and returns its result as JSON. A tool of class destructive is held at first: " +
    'you see what would be sent, and it is sent when you call again with "confirm": true inside arguments. ' +
    "An error says whether the same call may be sent again; with the outcome outcome_unknown it may have been executed: look before you repeat it.",
  inputSchema: {
    type: "object",
    additionalProperties: false,
    required: ["slug"],
    properties: {
      slug: { type: "string", description: "Slug as search_tools returns it." },
      arguments: { type: "object", description: "Arguments as the tool's input schema wants them. Default {}." },
      entity_id: {
        type: "string",
        description:
          "Whose account to use: the application's own id of the user who connected it. Give this or connected_account_id.",
      },
      connected_account_id: { type: "string", description: "The account to use, by its own id (acc_...)." },
      idempotency_key: {
        type: "string",
        description:
          "Makes a write safe to repeat: with the same key and arguments it is executed once in 24 hours. Use a new key for each action you mean.",
      },
      dry_run: { type: "boolean", description: "Show the request that would be sent, and send nothing." },
      fields: {
        type: "array",
        items: { type: "string" },
        description:
          "Dotted paths of the result to keep, such as items.id for the id of every item. Keeps long results short.",
      },
      max_bytes: {
        type: "integer",
        minimum: 0,
        description: `Longest result, in bytes, from 256; a longer one is cut. 0 is no limit. Default ${resultBytesDefault}.`,
      },
    },
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
};

/** The tools that agents are given. Their texts are written for a model, and cost each of its prompts about 830 tokens. */
export const metaTools: readonly MetaTool[] = [searchTools, describeTool, callTool];

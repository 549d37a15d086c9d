import type { JsonSchema } from "@svc/catalog";
import type { ToolNeeds } from "../mcp/request.ts";

/** Names of the meta-tools: the four tools through which an agent reaches all other tools. */
export type MetaToolName = "search_tools" | "describe_tool" | "read_tool" | "call_tool";

/** A tool as listed to agents. */
export type ListedTool<Name extends string = string> = {
  readonly name: Name;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema & { readonly type: "object" };
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly openWorldHint: boolean;
  };
  /** Access that a call of the tool always needs. Default: none, because any key or grant may call the tool. */
  readonly needs?: ToolNeeds | undefined;
};

type MetaTool = ListedTool<MetaToolName>;

/** Default maximum size of a call's result, bytes: about 5,000 tokens of JSON. */
export const resultBytesDefault = 20_000;

/** Instructions for an agent that reaches the tools of all apps through four tools. */
export const instructions = `Tools of many apps (calendars, mail, issues, payments and more), reached through four tools:
1. search_tools: say in plain words what you want to do; it returns slugs of fitting tools, which tool calls each, and a confidence. \
high: take the first. medium: describe two and compare. low: tell the user what is missing before you call, and call nothing but a read.
2. describe_tool: read the argument schema of the one you choose. Do not guess arguments.
3. read_tool for a tool of class read, call_tool for any other: call it by its slug, with entity_id: the user whose \
account is used. search_tools says who has one.
Destructive tools are held: call_tool shows what would be sent, and sends it only when called again with "confirm": true inside \
arguments. Confirm only what the user agreed to.`;

const readOnly = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };

const searchTools: MetaTool = {
  name: "search_tools",
  title: "Search tools",
  description:
    "Finds tools of the connected apps by what you want to do. Start here: their slugs are not listed anywhere else. " +
    "Returns, best first, each tool's slug, required arguments, class (read, write or destructive), the tool that calls it, and a line about it; " +
    "and a confidence. high: take the first. medium: describe two and compare. " +
    "low: tell the user what is missing, and call nothing but a read. " +
    "Read the one you choose with describe_tool before you call it. Nothing fits: say it in other words.",
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

const calledSlug = { type: "string", description: "Slug as search_tools returns it." } as const;
const calledAccount = {
  entity_id: {
    type: "string",
    description:
      "Whose account to use: the application's own id of the user who connected it. Or give connected_account_id.",
  },
  connected_account_id: { type: "string", description: "The account itself (acc_...)." },
} as const;
const calledResult = {
  fields: {
    type: "array",
    items: { type: "string" },
    description: "Dotted paths of the result to keep, such as items.id for every item's id.",
  },
  max_bytes: {
    type: "integer",
    minimum: 0,
    description: `Bytes after which the result is cut, from 256; 0 never. Default ${resultBytesDefault}.`,
  },
} as const;

const readTool: MetaTool = {
  name: "read_tool",
  title: "Read with a tool",
  description:
    "Calls a tool of class read on behalf of a connected account and returns its result as JSON. Other classes are refused.",
  inputSchema: {
    type: "object",
    additionalProperties: false,
    required: ["slug"],
    properties: {
      slug: calledSlug,
      arguments: { type: "object", description: "Arguments as its input schema wants them. Default {}." },
      ...calledAccount,
      ...calledResult,
    },
  },
  annotations: { ...readOnly, openWorldHint: true },
  needs: { accessClasses: ["read"], toolkitSlugs: [] },
};

const callTool: MetaTool = {
  name: "call_tool",
  title: "Call a tool",
  description:
    "Calls a tool of any class on behalf of a connected account and returns its result as JSON. A destructive one is held at first: " +
    'you see what would be sent, and it is sent when you call again with "confirm": true inside arguments. ' +
    "An error says whether the same call may be sent again; after outcome_unknown it may have been executed: look before you repeat it.",
  inputSchema: {
    type: "object",
    additionalProperties: false,
    required: ["slug"],
    properties: {
      slug: calledSlug,
      arguments: { type: "object", description: "Arguments as the tool's input schema wants them. Default {}." },
      ...calledAccount,
      idempotency_key: {
        type: "string",
        description:
          "Makes a write safe to repeat: with the same key and arguments it is executed once in 24 hours. A new key for each action.",
      },
      dry_run: { type: "boolean", description: "Show the request that would be sent, and send nothing." },
      ...calledResult,
    },
  },
  annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  needs: { accessClasses: ["read", "write"], toolkitSlugs: [] },
};

/**
 * The four meta-tools, through which an agent reaches all other tools. Their texts are written for a model and cost about 1,060 tokens of
 * each prompt.
 */
export const metaTools: readonly MetaTool[] = [searchTools, describeTool, readTool, callTool];

/** Returns the name of the meta-tool that calls tools of an access class (`read`, `write` or `destructive`). */
export function callerOf(accessClass: string): MetaToolName {
  return accessClass === "read" ? "read_tool" : "call_tool";
}

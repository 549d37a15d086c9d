import { schemaOf } from "../json.ts";
import type { AgentCaller, AgentClient, AgentSchema, CallableTool, SvcAgentTool } from "./agent-tool.ts";
import { withErrors } from "./caller.ts";

const text = (description: string) => ({ type: "string", description });

const searchSchema: AgentSchema = {
  type: "object",
  additionalProperties: false,
  required: ["query"],
  properties: {
    query: text(
      'One intent in plain words, such as "move a meeting to tomorrow". For several intents search several times.',
    ),
    toolkit: text("Only tools of this app: the part of a slug before the dot."),
  },
};

const describeSchema: AgentSchema = {
  type: "object",
  additionalProperties: false,
  required: ["slug"],
  properties: { slug: text("Slug as search_tools returns it: <toolkit>.<tool>.") },
};

const callSchema: AgentSchema = {
  type: "object",
  additionalProperties: false,
  required: ["slug"],
  properties: {
    slug: text("Slug as search_tools returns it: <toolkit>.<tool>."),
    arguments: { type: "object", description: "Arguments as describe_tool shows them. Default {}." },
  },
};

/** Words about destructive calls in the description of `call_tool`, by who agrees to them. */
const destructiveWords = {
  model:
    'A destructive call is held at first: show the user what would be sent, and after the user agreed, call again with "confirm": true inside arguments.',
  framework: "A person approves each destructive call before it is sent.",
} as const;

/** Maximum number of tools whose access classes are kept. */
const classesMax = 1000;

/**
 * Returns a function that reads the access class of a tool by its slug, and keeps the classes of the last tools. A class that could not be
 * read is an empty text, and is read again the next time.
 */
function createClassReader({ tools }: AgentClient): (slug: string) => Promise<string> {
  const classes = new Map<string, string>();
  return async (slug) => {
    const known = classes.get(slug);
    if (known !== undefined) return known;
    const { tool } = await tools.describeTool({ slug }).catch(() => ({ tool: undefined }));
    if (tool === undefined) return "";
    const [oldest] = classes.keys();
    if (classes.size >= classesMax && oldest !== undefined) classes.delete(oldest);
    classes.set(slug, tool.accessClass);
    return tool.accessClass;
  };
}

/** Returns the tools `search_tools`, `describe_tool` and `call_tool`, through which an agent reaches every tool of the project. */
export function metaTools(client: AgentClient, caller: AgentCaller): readonly SvcAgentTool[] {
  const { tools } = client;
  const { approvals } = caller;
  const readClass = createClassReader(client);
  const calledOf = (args: unknown): CallableTool => {
    const slug = textOf(args, "slug");
    return { slug, readClass: () => readClass(slug) };
  };
  return [
    {
      ...{ name: "search_tools", accessClass: "read", approvals, inputSchema: searchSchema, needsApproval: never },
      description:
        "Finds tools of the connected apps by what you want to do. Start here. Returns, best first, each tool's slug, class and description, and a confidence. high: take the first. medium: describe two and compare. low: ask the user for what is missing, and call nothing but a read.",
      call: (args, call) =>
        withErrors(async () => {
          const request = { query: textOf(args, "query"), toolkitSlug: textOf(args, "toolkit"), limit: 8 };
          const { results, confidence } = await tools.searchTools(request, optionsOf(call?.signal));
          const found = results.flatMap(({ tool }) => (tool === undefined ? [] : [tool]));
          return {
            confidence,
            tools: found.map(({ slug, accessClass, description }) => ({ slug, class: accessClass, description })),
          };
        }),
    },
    {
      ...{ name: "describe_tool", accessClass: "read", approvals, inputSchema: describeSchema, needsApproval: never },
      description:
        "Returns the JSON Schemas of a tool's arguments and result, and its class. Read it before you call the tool.",
      call: (args, call) =>
        withErrors(async () => {
          const { tool } = await tools.describeTool({ slug: textOf(args, "slug") }, optionsOf(call?.signal));
          if (tool === undefined) return {};
          const { slug, description, accessClass, inputSchemaJson, outputSchemaJson } = tool;
          return {
            ...{ slug, description, class: accessClass },
            ...{ input_schema: schemaOf(inputSchemaJson), output_schema: schemaOf(outputSchemaJson) },
          };
        }),
    },
    {
      ...{
        name: "call_tool",
        accessClass: "destructive",
        approvals,
        inputSchema: callSchema,
      },
      description: `Calls a tool of any class and returns its result. ${destructiveWords[approvals]} After outcome_unknown the call may have been executed: look before you repeat it.`,
      needsApproval: (args, approvalId) => caller.needsApproval(calledOf(args), argumentsIn(args), approvalId),
      call: (args, call) => caller.call(calledOf(args), argumentsIn(args), call),
    },
  ];
}

/** Returns the arguments for the tool that `call_tool` calls. */
function argumentsIn(args: unknown): unknown {
  return typeof args === "object" && args !== null && "arguments" in args ? args.arguments : {};
}

async function never(): Promise<boolean> {
  return false;
}

function optionsOf(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

/** Returns a text of the arguments that a model gave. Empty if it is missing or not a text; svc then says what is wrong. */
function textOf(args: unknown, name: string): string {
  const value =
    typeof args === "object" && args !== null ? (args as Readonly<Record<string, unknown>>)[name] : undefined;
  return typeof value === "string" ? value : "";
}

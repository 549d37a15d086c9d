import { type Tool, ToolKind } from "@svc/gen/catalog";
import { schemaOf } from "../json.ts";
import type { AgentCaller, AgentClient, AgentSchema, CallerOptions, SvcAgentTool } from "./agent-tool.ts";
import { createCaller, digestOf } from "./caller.ts";
import { metaTools } from "./meta-tools.ts";

export type { AgentCall, AgentClient, AgentSchema, CallerOptions, ModelAnswer, SvcAgentTool } from "./agent-tool.ts";

/** Options of `svcTools`. */
export type SvcToolsOptions = CallerOptions & {
  /** Slugs of toolkits (apps). All their callable tools become tools of the agent. */
  readonly toolkits?: readonly string[];
  /** Slugs of single tools, such as `calendar.list_events`. */
  readonly tools?: readonly string[];
  /**
   * True to add `search_tools`, `describe_tool` and `call_tool`, which reach every tool of the project. Default: true if neither `toolkits`
   * nor `tools` is given.
   */
  readonly meta?: boolean;
};

/**
 * Returns tools of svc for an agent, in an order that does not change. They act with the accounts of one entity (customer or user). Rejects
 * with the error of the service if a toolkit or tool does not exist, and with a TypeError if a named tool cannot be called.
 */
export async function svcTools(client: AgentClient, options: SvcToolsOptions): Promise<readonly SvcAgentTool[]> {
  const { toolkits = [], tools = [], meta = toolkits.length + tools.length === 0 } = options;
  const caller = createCaller(client, options);
  const { projectId } = await client.identity.getIdentity({});
  const [ofToolkits, named] = await Promise.all([
    Promise.all(toolkits.map((slug) => toolsOfToolkit(client, projectId, slug))),
    Promise.all(tools.map((slug) => namedTool(client, projectId, slug))),
  ]);
  const found = new Map([...ofToolkits.flat(), ...named].map((tool) => [tool.slug, tool]));
  const direct = [...found.values()].map((tool) => directTool(tool, caller));
  return [...(meta ? metaTools(client, caller) : []), ...(await Promise.all(direct))];
}

async function toolsOfToolkit({ catalog }: AgentClient, projectId: string, slug: string): Promise<readonly Tool[]> {
  await catalog.getToolkit({ slug, projectId });
  const found: Tool[] = [];
  for (let pageToken: string | undefined = ""; pageToken !== undefined; ) {
    const page = await catalog.listTools({ toolkitSlug: slug, projectId, kind: ToolKind.ACTION, pageToken });
    found.push(...page.tools.filter(({ callable }) => callable));
    pageToken = page.nextPageToken === "" ? undefined : page.nextPageToken;
  }
  return found;
}

async function namedTool({ catalog }: AgentClient, projectId: string, slug: string): Promise<Tool> {
  const { tool } = await catalog.getTool({ slug, projectId });
  if (tool?.callable !== true) throw new TypeError(`tool ${slug} cannot be called: ${tool?.uncallableReason}`);
  return tool;
}

async function directTool(tool: Tool, caller: AgentCaller): Promise<SvcAgentTool> {
  const { slug, description, accessClass, inputSchemaJson } = tool;
  const { approvals } = caller;
  const schema = { properties: {}, ...schemaOf(inputSchemaJson), type: "object" } as const;
  const callable = { slug, readClass: async () => accessClass };
  return {
    ...{ name: await nameOf(slug), description, accessClass, approvals },
    inputSchema: approvals === "framework" ? withoutConfirm(schema) : schema,
    needsApproval: (args, approvalId) => caller.needsApproval(callable, args, approvalId),
    call: (args, call) => caller.call(callable, args, call),
  };
}

function withoutConfirm(schema: AgentSchema): AgentSchema {
  const { confirm: _, ...properties } = schema.properties;
  return { ...schema, properties };
}

const nameMax = 64;

/**
 * Returns the name of a tool for models, as over MCP. Few models accept a dot or more than 64 characters, so a long name ends with a digest
 * that keeps it unique.
 */
async function nameOf(slug: string): Promise<string> {
  const name = slug.replace(".", "__");
  return name.length <= nameMax ? name : `${name.slice(0, nameMax - 9)}_${(await digestOf(slug)).slice(0, 8)}`;
}

import { createValidator, type SchemaValidator } from "@svc/catalog";
import type { Binding, ProjectId } from "@svc/core";
import type { CallRequest } from "../call/call-request.ts";
import type { McpAddress } from "../mcp/address.ts";
import { complete, type McpContext, type McpOffer, type McpOutcome, type Params, refused } from "../mcp/offer.ts";
import { invalidParams } from "../mcp/request.ts";
import { type AgentTool, type TaskAnswer, usableAgentTools } from "./agent-tool.ts";
import { askUser, canAskUser, readUserAnswer, type ToolAnswer, toolResult } from "./answer.ts";
import { withConnected } from "./connected.ts";
import { directName, findDirect, isDirect, listDirect, listedMetaTools } from "./direct-tools.ts";
import { metaArgumentsMissed, objectOf } from "./meant-arguments.ts";
import { insteadOf, meantCall } from "./meant-call.ts";
import { type AgentToolsOptions, answerCall, createMetaCaller, type MetaCaller } from "./meta-caller.ts";
import { instructions, type ListedTool, type MetaToolName, metaTools } from "./meta-tools.ts";
import { answerRefusal } from "./words.ts";

/**
 * Creates the features that svc offers to agents over MCP: the meta-tools (search, describe, read and call any tool), and the tools that
 * the key or grant (a person's permission for an agent) adds. If the MCP address of the client names tools, these tools are offered in
 * place of the meta-tools.
 */
export function createToolsOffer(options: ToolsOfferOptions): McpOffer {
  const { agentTools = [] } = options;
  const validators = new Map(agentTools.map(({ listed }) => [listed.name, createValidator(listed.inputSchema)]));
  const tools = { ...options, agentTools, validators, callMeta: createMetaCaller(options) };
  const labelOf = ({ name }: Params): string =>
    isMetaTool(name) || agentTools.some(({ listed }) => listed.name === name) ? String(name) : "direct_tool";
  return {
    capabilities: { tools: {} },
    instructions: (address) => (isDirect(address) ? directInstructions(address) : instructions),
    methods: {
      "tools/list": { isCacheable: true, answer: (_params, context) => list(tools, context) },
      "tools/call": {
        nameIn: "name",
        labelOf,
        answer(params, context) {
          options.onCall?.(context.principal.projectId);
          return call(tools, params, context);
        },
      },
    },
  };
}

/** Dependencies of the features that svc offers to agents over MCP. */
export type ToolsOfferOptions = AgentToolsOptions & {
  /** Tools of svc itself, offered in addition to the meta-tools. Default: none. */
  readonly agentTools?: readonly AgentTool[] | undefined;
  /** Called with the project of each request that calls a tool, before the call. */
  readonly onCall?: ((projectId: ProjectId) => void) | undefined;
};

type AgentTools = AgentToolsOptions & {
  readonly agentTools: readonly AgentTool[];
  /** Validators of the arguments of agent tools, by name. */
  readonly validators: ReadonlyMap<string, SchemaValidator>;
  readonly callMeta: MetaCaller;
};

function isMetaTool(name: unknown): name is MetaToolName {
  return metaTools.some((tool) => tool.name === name);
}

async function list({ views, agentTools }: AgentTools, context: McpContext): Promise<McpOutcome> {
  const { address, principal } = context;
  const given = usableAgentTools(agentTools, context).map(({ listed }) => listed);
  const listedOf = (tools: readonly ListedTool[]) =>
    complete({ tools: tools.map((tool) => withSchemes(tool, context)) });
  if (!isDirect(address)) return listedOf([...usableMetaTools(principal.binding), ...given]);
  const listed = listDirect(await views.forProject(principal.projectId), context, given);
  return "error" in listed ? refused(listed.error) : listedOf(listed.tools);
}

/**
 * Returns a tool as clients see it, with the OAuth scopes that a call of it needs. Some clients read the scopes from the tool and others
 * from its `_meta`. A client that finds none may ask its user to sign in again and again.
 */
function withSchemes({ needs, ...tool }: ListedTool, { scopesOf }: McpContext): Params {
  const scopes = scopesOf(needs ?? { accessClasses: [], toolkitSlugs: [] });
  const securitySchemes = [{ type: "oauth2", scopes }];
  return { ...tool, securitySchemes, _meta: { securitySchemes } };
}

/**
 * Returns the meta-tools (four tools through which an agent reaches every tool) that a key can use. read_tool is left out if the key may
 * only write; call_tool is left out if it may only read.
 */
function usableMetaTools(binding: Binding | undefined): readonly ListedTool[] {
  const classes = binding?.accessClasses ?? [];
  if (classes.length === 0) return metaTools;
  const isReader = classes.every((accessClass) => accessClass === "read");
  const idle = isReader ? "call_tool" : classes.includes("read") ? undefined : "read_tool";
  return metaTools.filter(({ name }) => name !== idle);
}

async function call(tools: AgentTools, params: Params, context: McpContext): Promise<McpOutcome> {
  const { name } = params;
  const { arguments: given = {} } = params;
  const args = Array.isArray(given) ? undefined : objectOf(given ?? {});
  if (typeof name !== "string") return refused(invalidParams("params.name must be the name of a tool"));
  if (args === undefined) return refused(invalidParams("params.arguments must be an object"));
  try {
    const person = canAskUser(context) ? await personOf(tools, params, context) : undefined;
    const known = await knownTools(tools, context);
    const asked = meantCall({ name, args }, known);
    const answer = asked && (await answerTool(tools, { ...asked, person }, context));
    if (answer !== undefined && "task" in answer) return { type: "task", result: answer.task };
    if (answer?.askUser !== undefined && person?.isDeclined === false)
      return await askUser(tools, context.principal, answer.askUser);
    return answer === undefined ? refused(invalidParams(unknownTool(tools, name, known))) : resultOf(answer);
  } catch (error) {
    const refusal = context.mapError(error);
    if (refusal.code === "unavailable" && context.isAlone) throw refusal;
    return resultOf(answerRefusal(refusal));
  }
}

/**
 * Returns the tools that a client can use. `given`: svc's own tools, which the client calls directly. `view`: the project's catalog, whose
 * app tools the client calls through svc's own tools.
 */
async function knownTools({ views, agentTools }: AgentTools, asking: McpContext) {
  const given = [
    ...usableAgentTools(agentTools, asking).map(({ listed }) => listed),
    ...listedMetaTools(asking.address),
  ];
  return { given, view: await views.forProject(asking.principal.projectId), asking };
}

/**
 * Returns the message for a tool name that the client does not have. If svc has a tool of that name and did not grant it, the message says
 * how to get it. Otherwise it suggests another tool.
 */
function unknownTool({ agentTools }: AgentTools, name: string, known: Parameters<typeof insteadOf>[1]): string {
  const text = `Unknown tool: ${name.slice(0, 80)}`;
  if (!isMetaTool(name) && !agentTools.some(({ listed }) => listed.name === name))
    return `${text}.${insteadOf(name, known)}`;
  return `${text}. svc has this tool, but this connection does not include it: name it in the address, /mcp?tools=…,${name}, or give it to the key or grant`;
}

/** Returns what the client's user said about the call: confirmed it, declined it, or neither. */
async function personOf(tools: AgentTools, params: Params, { principal }: McpContext) {
  const said = await readUserAnswer(tools, principal, params);
  return { confirmed: said.kind === "confirmed" ? said.name : undefined, isDeclined: said.kind === "declined" };
}

/** Returns the answer of the tool with the given name; undefined if the client does not have that tool. */
async function answerTool(
  { views, caller, callMeta, agentTools, validators, db, clock }: AgentTools,
  { name, args, person }: { readonly name: string; readonly args: Params; readonly person: CallRequest["person"] },
  context: McpContext,
): Promise<ToolAnswer | TaskAnswer | undefined> {
  const { address, principal } = context;
  const own = usableAgentTools(agentTools, context).find(({ listed }) => listed.name === name);
  if (own !== undefined) {
    const faults = validators.get(name)?.(args) ?? [];
    if (faults.length > 0) throw metaArgumentsMissed(own.listed, faults, args);
    return own.answer(args, context);
  }
  const meta = listedMetaTools(address).find((tool) => tool.name === name);
  if (meta !== undefined) return callMeta(meta.name, args, principal, person);
  if (!isDirect(address)) return undefined;
  const view = await views.forProject(principal.projectId);
  const tool = findDirect(view, context, name);
  if (tool === undefined) return undefined;
  const hints = hintsOf(directName(tool.slug));
  const { slug } = tool;
  const answer = await answerCall(
    { slug, arguments: args, entity_id: address.entityId },
    { caller, principal, hints, person },
  );
  if (answer.structured["outcome"] !== "no_account") return answer;
  return withConnected({ db, clock }, { view, principal, slugs: [slug] }, answer);
}

function hintsOf(name: string) {
  return {
    confirm: `call ${name} again with the same arguments plus confirm: true`,
    unbuilt: "its arguments or the account lack something",
    rest: "ask for a smaller page, or for less",
  };
}

function resultOf(answer: ToolAnswer): McpOutcome {
  return complete(toolResult(answer));
}

function directInstructions({ toolkits, tools, entityId }: McpAddress): string {
  const named = [...toolkits, ...tools].join(", ");
  const account = entityId === "" ? "" : ` They use the accounts of ${entityId}.`;
  return `Tools of apps, each with arguments of its own: ${named}.${account}
Destructive ones are held: the answer shows what would be sent, and it is sent only when the tool is called again with \
"confirm": true among its arguments. Confirm only what the user agreed to.`;
}

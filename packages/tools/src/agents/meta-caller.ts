import { type CatalogView, type CatalogViews, createValidator, nearest, type SchemaValidator } from "@svc/catalog";
import { type Binding, isToolGranted, type ProjectPrincipal } from "@svc/core";
import type { CallRequest } from "../call/call-request.ts";
import type { ToolCaller } from "../call/call-tool.ts";
import { showResult } from "../call/record/shape.ts";
import type { ToolFinder } from "../embeddings/find-tools.ts";
import { toolFaults } from "../errors.ts";
import type { Params } from "../mcp/offer.ts";
import type { AvailabilityFinder } from "../search/availability.ts";
import { answerOf, readCallRequest } from "../service/call-request.ts";
import { describedTool } from "../service/search-request.ts";
import { answered, type ConfirmationStore, type ToolAnswer } from "./answer.ts";
import { withConnected } from "./connected.ts";
import { type CallHints, callData, callTexts, toolData, toolText } from "./convert.ts";
import { metaArgumentsMissed } from "./meant-arguments.ts";
import { type MetaToolName, metaTools, resultBytesDefault } from "./meta-tools.ts";
import { answerSearch, type SearchArguments } from "./search-tools.ts";

/** Arguments of call_tool after its schema accepted them. */
type CallArguments = {
  readonly slug: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly entity_id?: string;
  readonly connected_account_id?: string;
  readonly idempotency_key?: string;
  readonly dry_run?: boolean;
  readonly fields?: string[];
  readonly max_bytes?: number;
};

/**
 * Data about an agent's tool call, without its arguments: the caller, advice for the agent, and the confirmations that the agent's client
 * can get.
 */
type AgentCall = {
  readonly caller: ToolCaller;
  readonly principal: ProjectPrincipal;
  /** Advice about the agent's next call. The answer to the present call contains this advice. */
  readonly hints: CallHints;
  /**
   * Set if the client can ask its user for confirmation. If the user has confirmed a call, it contains that call. Undefined if the client
   * cannot ask its user.
   */
  readonly person?: CallRequest["person"];
  /** Stored (pinned) definition of the tool to call. Default: the definition that the project sees. */
  readonly pinned?: CallRequest["pinned"];
};

/**
 * Calls a tool and returns its result as an MCP answer. An answer that only requests a confirmation is not marked as an error, so that the
 * agent asks its user. Rejects with the errors of CallTool.
 */
export async function answerCall(
  args: CallArguments,
  { caller, principal, hints, pinned, person }: AgentCall,
): Promise<ToolAnswer> {
  const request = {
    toolSlug: args.slug,
    args: args.arguments ?? {},
    entityId: args.entity_id,
    connectedAccountId: args.connected_account_id,
    idempotencyKey: args.idempotency_key,
    dryRun: args.dry_run,
    fields: args.fields,
    maxBytes: args.max_bytes ?? resultBytesDefault,
  };
  const { shape, ...call } = readCallRequest(request, principal);
  const called = await caller.call({ ...call, pinned, person, takesImages: true });
  const answer = answerOf(called);
  const shown = showResult(answer, shape);
  const texts = callTexts(args.slug, { answer, shown, hints });
  const name = answer.askFor;
  return {
    ...(name !== undefined && { askUser: { name, text: texts.join("\n") } }),
    texts,
    images: answer.result.images,
    structured: callData(answer, shown),
    isError: called.outcome !== "held" && answer.result.outcome !== "ok",
  };
}

/** Arguments of read_tool after its schema accepted them. */
type ReadArguments = Omit<CallArguments, "idempotency_key" | "dry_run">;

/**
 * Calls a tool of access class `read` and returns its result. Throws TOOL_NOT_FOUND if the tool does not exist, and TOOL_NOT_READ if the
 * tool can write. Rejects with the errors of CallTool.
 */
async function answerRead(view: CatalogView, args: ReadArguments, call: AgentCall): Promise<ToolAnswer> {
  const tool = view.tools.get(args.slug);
  const toolkit = tool && view.toolkits.get(tool.toolkitSlug);
  if (tool === undefined || toolkit === undefined)
    throw toolFaults.TOOL_NOT_FOUND("slug", args.slug, nearest(args.slug, view.tools.keys()));
  // This error is thrown only if the key may use the tool. Otherwise it would show the key that the tool exists and is not a reading tool.
  if (tool.class !== "read" && isToolGranted(call.principal.binding, tool))
    throw toolFaults.TOOL_NOT_READ(tool.slug, tool.class);
  // The call uses exactly the definition that was checked above, because the toolkit may be published again before the call is made.
  return answerCall(args, { ...call, ...(tool.kind === "action" && { pinned: { toolkit, action: tool } }) });
}

/** Returns the answer of describe_tool: the same data as GetTool, with schemas as objects. Throws TOOL_NOT_FOUND. */
function answerDescribe(
  view: CatalogView,
  { slug }: { readonly slug: string },
  binding: Binding | undefined,
): ToolAnswer {
  const tool = describedTool(view, binding, slug);
  return answered(toolData(tool), toolText(tool));
}

/** Objects that the tools for agents need: the catalogs of projects, the object that calls tools, and the objects that search for tools. */
export type AgentToolsOptions = ConfirmationStore & {
  readonly views: CatalogViews;
  readonly caller: ToolCaller;
  readonly findAvailability: AvailabilityFinder;
  readonly finder: ToolFinder;
};

/**
 * Calls a meta-tool (one of four tools through which an agent reaches every tool) for a project. Rejects with the errors of SearchTools,
 * DescribeTool and CallTool. Rejects with TOOL_NOT_READ if read_tool names a tool that can change something. Rejects with
 * META_ARGUMENTS_INVALID if the arguments are wrong.
 */
export type MetaCaller = (
  name: MetaToolName,
  args: Params,
  principal: ProjectPrincipal,
  person?: CallRequest["person"],
) => Promise<ToolAnswer>;

/**
 * Creates the object that executes calls of meta-tools (`search_tools`, `describe_tool`, `read_tool`, `call_tool`), through which an agent
 * reaches all tools. Tool calls run in the same engine as those of ToolsService.
 */
export function createMetaCaller({
  views,
  caller,
  findAvailability,
  finder,
  db,
  clock,
}: AgentToolsOptions): MetaCaller {
  const validators = new Map<string, SchemaValidator>(
    metaTools.map(({ name, inputSchema }) => [name, createValidator(inputSchema)]),
  );
  return async (name, args, principal, person) => {
    const faults = validators.get(name)?.(args) ?? [];
    const listed = metaTools.find((tool) => tool.name === name);
    if (faults.length > 0 && listed !== undefined) throw metaArgumentsMissed(listed, faults, args);
    const view = await views.forProject(principal.projectId);
    const tell = (answer: ToolAnswer, slugs: readonly string[]) =>
      withConnected({ db, clock }, { view, principal, slugs }, answer);
    const call = { caller, principal, hints, person };
    if (name === "search_tools") {
      const availabilityOf = await findAvailability(view, principal);
      const answer = await answerSearch(view, args as SearchArguments, { finder, principal, availabilityOf });
      return tell(
        answer,
        answer.structured.tools.map(({ slug }) => slug),
      );
    }
    const { slug } = args as { readonly slug: string };
    if (name === "describe_tool") return tell(answerDescribe(view, { slug }, principal.binding), [slug]);
    const answer =
      name === "call_tool"
        ? await answerCall(args as CallArguments, call)
        : await answerRead(view, args as ReadArguments, call);
    return answer.structured["outcome"] === "no_account" ? tell(answer, [slug]) : answer;
  };
}

const hints: CallHints = {
  confirm: "call call_tool again with the same slug and arguments plus confirm: true inside arguments",
  unbuilt: "call again with dry_run: true and confirm: true inside arguments to see what is missing",
  rest: 'call again with fields set to the paths you need (such as ["items.id"]), ask the tool for a smaller page, or raise max_bytes',
};

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

/** Arguments of call_tool, as its schema lets them through. */
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

/** What a call of an agent's needs beside its arguments. */
type AgentCall = {
  readonly caller: ToolCaller;
  readonly principal: ProjectPrincipal;
  /** How its answer advises to call again. */
  readonly hints: CallHints;
  /** Where the client can ask its user: the call that the user has said yes to. */
  readonly person?: CallRequest["person"];
  /** The definition to call by. Default: the one that the project sees. */
  readonly pinned?: CallRequest["pinned"];
};

/** Calls a tool and answers its result; what was only held is no error. Rejects as CallTool does. */
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
  const called = await caller.call({ ...call, pinned, person });
  const answer = answerOf(called);
  const shown = showResult(answer, shape);
  const texts = callTexts(args.slug, { answer, shown, hints });
  const name = answer.askFor;
  return {
    ...(name !== undefined && { askUser: { name, text: texts.join("\n") } }),
    texts,
    structured: callData(answer, shown),
    isError: called.outcome !== "held" && answer.result.outcome !== "ok",
  };
}

/** Arguments of read_tool, as its schema lets them through. */
type ReadArguments = Omit<CallArguments, "idempotency_key" | "dry_run">;

/** Calls a tool that reads and answers its result. Throws TOOL_NOT_FOUND and TOOL_NOT_READ, else rejects as CallTool does. */
async function answerRead(view: CatalogView, args: ReadArguments, call: AgentCall): Promise<ToolAnswer> {
  const tool = view.tools.get(args.slug);
  const toolkit = tool && view.toolkits.get(tool.toolkitSlug);
  if (tool === undefined || toolkit === undefined)
    throw toolFaults.TOOL_NOT_FOUND("slug", args.slug, nearest(args.slug, view.tools.keys()));
  // Of what a key may not call it is told that alone.
  if (tool.class !== "read" && isToolGranted(call.principal.binding, tool))
    throw toolFaults.TOOL_NOT_READ(tool.slug, tool.class);
  // Called by the definition that was judged: a toolkit may be published anew meanwhile.
  return answerCall(args, { ...call, ...(tool.kind === "action" && { pinned: { toolkit, action: tool } }) });
}

/** Answers describe_tool: what GetTool says of the tool, its schemas as objects. Throws TOOL_NOT_FOUND. */
function answerDescribe(
  view: CatalogView,
  { slug }: { readonly slug: string },
  binding: Binding | undefined,
): ToolAnswer {
  const tool = describedTool(view, binding, slug);
  return answered(toolData(tool), toolText(tool));
}

/** What tools of agents work with. */
export type AgentToolsOptions = ConfirmationStore & {
  readonly views: CatalogViews;
  readonly caller: ToolCaller;
  readonly findAvailability: AvailabilityFinder;
  readonly finder: ToolFinder;
};

/**
 * Calls a meta-tool for a project. Rejects with the refusals of SearchTools, DescribeTool and CallTool, TOOL_NOT_READ and
 * META_ARGUMENTS_INVALID.
 */
export type MetaCaller = (
  name: MetaToolName,
  args: Params,
  principal: ProjectPrincipal,
  person?: CallRequest["person"],
) => Promise<ToolAnswer>;

/** Makes the caller of meta-tools over the engine that serves ToolsService. */
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

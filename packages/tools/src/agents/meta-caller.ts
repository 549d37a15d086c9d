import { type CatalogViews, createValidator, type SchemaValidator } from "@svc/catalog";
import type { ProjectPrincipal } from "@svc/core";
import type { CallRequest } from "../call/call-request.ts";
import type { ToolCaller } from "../call/call-tool.ts";
import type { ToolFinder } from "../embeddings/find-tools.ts";
import type { Params } from "../mcp/offer.ts";
import type { ReachFinder } from "../search/reach.ts";
import type { ToolAnswer } from "./answer.ts";
import { answerCall, type CallArguments } from "./call-tool.ts";
import type { ConfirmationStore } from "./confirmation.ts";
import { withConnected } from "./connected.ts";
import type { CallHints } from "./convert.ts";
import { answerDescribe } from "./describe-tool.ts";
import { metaArgumentsMissed } from "./meant-arguments.ts";
import { type MetaToolName, metaTools } from "./meta-tools.ts";
import { answerRead, type ReadArguments } from "./read-tool.ts";
import { answerSearch, type SearchArguments } from "./search-tools.ts";

/** What tools of agents work with. */
export type AgentToolsOptions = ConfirmationStore & {
  readonly views: CatalogViews;
  readonly caller: ToolCaller;
  readonly findReach: ReachFinder;
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
export function createMetaCaller({ views, caller, findReach, finder, db, clock }: AgentToolsOptions): MetaCaller {
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
      const reachOf = await findReach(view, principal);
      const answer = await answerSearch(view, args as SearchArguments, { finder, principal, reachOf });
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

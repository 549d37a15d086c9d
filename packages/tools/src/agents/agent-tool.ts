import { type AgentToolGroup, mayUseAgentTools, type ProjectPrincipal } from "@svc/core";
import type { McpAddress } from "../mcp/address.ts";
import type { McpContext, Params } from "../mcp/offer.ts";
import type { ToolAnswer } from "./answer.ts";
import { isDirect } from "./direct-tools.ts";
import type { ListedTool } from "./meta-tools.ts";

/** A tool of svc itself that agents are given beside the meta-tools: whoever was given its group, or whose address names it. */
export type AgentTool = {
  readonly group: AgentToolGroup;
  readonly listed: ListedTool;
  /** Answers a call whose arguments fit the schema. What it throws is answered as the service's errors are. */
  answer(args: Params, context: McpContext): Promise<ToolAnswer | TaskAnswer>;
};

/** A call that goes on as a task of the protocol's extension, of which the client asks by its id. */
export type TaskAnswer = { readonly task: Params };

/** Of some tools those that a client may use by its address: at an address that names tools those that it names, else those it was given. */
export function usableAgentTools(
  tools: readonly AgentTool[],
  { address, principal }: { readonly address: McpAddress; readonly principal: ProjectPrincipal },
): readonly AgentTool[] {
  const { agentTools = [] } = principal;
  return tools.filter(({ group, listed }) => {
    if (!mayUseAgentTools(principal, group)) return false;
    return isDirect(address) ? address.tools.includes(listed.name) : agentTools.includes(group);
  });
}

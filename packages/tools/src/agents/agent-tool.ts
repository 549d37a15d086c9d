import { type AgentToolGroup, mayUseAgentTools, type ProjectPrincipal } from "@svc/core";
import type { McpAddress } from "../mcp/address.ts";
import type { McpContext, Params } from "../mcp/offer.ts";
import type { ToolAnswer } from "./answer.ts";
import { isDirect } from "./direct-tools.ts";
import type { ListedTool } from "./meta-tools.ts";

/**
 * A tool of svc itself, offered to agents in addition to the meta-tools. A client gets it if the client's grant (a person's permission)
 * includes the tool's group, or if the URL that the client calls names the tool.
 */
export type AgentTool = {
  readonly group: AgentToolGroup;
  readonly listed: ListedTool;
  /**
   * Answers a call of this tool. Its arguments match the tool's schema. If the function throws an error, the agent gets it like any other
   * error of the service.
   */
  answer(args: Params, context: McpContext): Promise<ToolAnswer | TaskAnswer>;
};

/**
 * Answer to a call that continues in the background as a task (MCP's tasks extension). `task`: the task as the client sees it, with the id
 * that the client uses to ask for the result.
 */
export type TaskAnswer = { readonly task: Params };

/**
 * Returns the tools of svc itself that a client may use. If the query of the client's address lists tools or toolkits, only tools in this
 * list are returned. Otherwise all granted tools are returned.
 */
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

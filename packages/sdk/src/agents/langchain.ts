import { type DynamicStructuredTool, tool as structuredTool } from "@langchain/core/tools";
import type { SvcAgentTool } from "./agent-tool.ts";

/**
 * Returns the tools of `svcTools` as tools of LangChain (package `@langchain/core`). LangChain's tools have no approval of their own: throws
 * a TypeError for tools with `approvals: "framework"`.
 */
export function langchainTools(tools: readonly SvcAgentTool[]): DynamicStructuredTool[] {
  if (tools.some(({ approvals }) => approvals === "framework"))
    throw new TypeError('approvals "framework": tools of LangChain have no approval of their own; leave approvals out');
  return tools.map((tool) =>
    structuredTool(
      async (args: unknown, config) =>
        JSON.stringify(await tool.call(args, { callId: config.toolCall?.id, signal: config.signal })),
      { name: tool.name, description: tool.description, schema: tool.inputSchema },
    ),
  );
}

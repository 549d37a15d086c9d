import { tool as functionTool, type Tool } from "@openai/agents";
import type { SvcAgentTool } from "./agent-tool.ts";

/**
 * Returns the tools of `svcTools` as function tools of the OpenAI Agents SDK (package `@openai/agents`). With `approvals: "framework"`, a
 * destructive call interrupts the run until the program approves it.
 */
export function openaiTools(tools: readonly SvcAgentTool[]): Tool[] {
  return tools.map((tool) =>
    functionTool({
      name: tool.name,
      description: tool.description,
      // The type of the framework wants open schemas. It sends any JSON Schema to the model as it is.
      parameters: { required: [], ...tool.inputSchema, ...({} as { additionalProperties: true }) },
      strict: false,
      needsApproval: async (_context, args, callId) => tool.needsApproval(args, callId),
      execute: async (args, _context, details) =>
        JSON.stringify(await tool.call(args, { callId: details?.toolCall?.callId, signal: details?.signal })),
    }),
  );
}

import { dynamicTool, jsonSchema, type Tool } from "ai";
import type { SvcAgentTool } from "./agent-tool.ts";

/**
 * Returns the tools of `svcTools` as tools of the AI SDK (package `ai`), by their names, for `generateText`, `streamText` and agents. With
 * `approvals: "framework"`, a destructive call waits for a tool approval of the AI SDK.
 */
export function aiTools(tools: readonly SvcAgentTool[]): Record<string, Tool<unknown, unknown>> {
  return Object.fromEntries(
    tools.map((tool) => [
      tool.name,
      dynamicTool({
        description: tool.description,
        inputSchema: jsonSchema(tool.inputSchema),
        needsApproval: (args, { toolCallId }) => tool.needsApproval(args, toolCallId),
        execute: (args, { toolCallId, abortSignal }) => tool.call(args, { callId: toolCallId, signal: abortSignal }),
      }),
    ]),
  );
}

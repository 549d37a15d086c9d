import { createTool, type Tool } from "@mastra/core/tools";
import type { SvcAgentTool } from "./agent-tool.ts";

/** Id of every approval of Mastra, which gives no id of the call when it asks. The arguments then say which call was approved. */
const askedByMastra = "mastra";

/**
 * Returns the tools of `svcTools` as tools of Mastra (package `@mastra/core`), by their names. With `approvals: "framework"`, a destructive
 * call waits for a tool approval of Mastra.
 */
export function mastraTools(tools: readonly SvcAgentTool[]): Record<string, Tool> {
  return Object.fromEntries(
    tools.map((tool) => [
      tool.name,
      createTool({
        id: tool.name,
        description: tool.description,
        inputSchema: tool.inputSchema,
        requireApproval: (args) => tool.needsApproval(args, askedByMastra),
        execute: (args, context) =>
          tool.call(args, {
            callId: context?.agent?.toolCallId,
            // Only an agent asks. A workflow or the program can execute the tool without a question.
            approvalId: context?.agent === undefined ? undefined : askedByMastra,
            signal: context?.abortSignal,
          }),
      }),
    ]),
  );
}

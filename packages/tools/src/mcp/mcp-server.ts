import { createMcpTools, type McpToolsOptions } from "./mcp-tools.ts";
import { faultBody, readMessages } from "./messages.ts";
import type { McpAnswer, McpRequest } from "./request.ts";

/** Serves MCP over Streamable HTTP, without sessions: each POST stands for itself, and is answered as JSON. */
export type McpServer = {
  /** Rejects with the signal's reason, and with `unavailable` when the store is away. */
  serve(request: McpRequest): Promise<McpAnswer>;
};

/** Makes the server. The protocol's library, 87 MB in memory, is loaded at the first POST. */
export function createMcpServer({ version, ...options }: McpToolsOptions & { readonly version: string }): McpServer {
  const tools = createMcpTools(options);
  return {
    async serve({ body, onLabel, ...request }) {
      const messages = readMessages(body, tools.has);
      if ("fault" in messages) {
        onLabel("other");
        return { status: 400, body: faultBody(messages) };
      }
      onLabel(messages.label);
      const { exchange } = await import("./exchange.ts");
      return exchange({ ...request, ...messages, tools, version });
    },
  };
}

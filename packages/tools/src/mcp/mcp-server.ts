import type { ConnectError } from "@connectrpc/connect";
import type { ProjectPrincipal } from "@svc/core";
import { createMcpTools, type McpToolsOptions } from "./mcp-tools.ts";
import { faultBody, readMessages } from "./messages.ts";

/** One POST of a caller that is known. */
export type McpRequest = {
  readonly body: string;
  /** The header MCP-Protocol-Version; undefined when there is none. */
  readonly protocolVersion: string | undefined;
  readonly principal: ProjectPrincipal;
  /** Ends the exchange; a call that was sent goes on to its outcome in the ledger. */
  readonly signal: AbortSignal;
  /** Turns whatever a tool threw into what its caller may read, and hears of it. */
  readonly mapError: (error: unknown) => ConnectError;
  /** Hears what is asked for, from a closed set: a meta-tool's name, `initialize`, `tools/list`, `batch`, `other` and so on. */
  readonly onLabel: (label: string) => void;
};

/** What is answered: JSON, or nothing to notifications. */
export type McpAnswer = { readonly status: number; readonly body: string };

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

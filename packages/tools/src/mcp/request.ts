import type { Fault, ProjectPrincipal } from "@svc/core";

/** One POST of a caller that is known. */
export type McpRequest = {
  readonly body: string;
  /** The header MCP-Protocol-Version; undefined when there is none. */
  readonly protocolVersion: string | undefined;
  readonly principal: ProjectPrincipal;
  /** Ends the exchange; a call that was sent goes on to its outcome in the ledger. */
  readonly signal: AbortSignal;
  /** Turns whatever a tool threw into what its caller may read, and hears of it. */
  readonly mapError: (error: unknown) => Fault;
  /** Hears what is asked for, from a closed set: a meta-tool's name, `initialize`, `tools/list`, `batch`, `other` and so on. */
  readonly onLabel: (label: string) => void;
};

/** What is answered: JSON, or nothing to notifications. */
export type McpAnswer = { readonly status: number; readonly body: string };

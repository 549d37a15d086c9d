export type { CodeAnswer, CodeCall, CodeCaller } from "./call/call-code.ts";
export {
  type CallAnswer,
  type CallRequest,
  createToolCaller,
  type DrainingToolCaller,
  type ToolCaller,
} from "./call/call-tool.ts";
export { type Caller, createLedger, type Ledger } from "./call/ledger.ts";
export { type CallRetentionOptions, startCallRetention } from "./call/retention.ts";
export { createMcpServer, type McpServer } from "./mcp/mcp-server.ts";
export { type CallOutcome, type CallResult, callOutcomes } from "./outcome.ts";
export { createToolSearch, type FoundTool, searchOf, type ToolSearch } from "./search/tool-search.ts";
export { createToolsService, type ToolsServiceOptions } from "./service/service.ts";

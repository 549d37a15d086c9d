export type { AgentTool, TaskAnswer } from "./agents/agent-tool.ts";
export { answered, canAskUser, type ToolAnswer, toolResult } from "./agents/answer.ts";
export { createConnectAccountTool } from "./agents/connect-account-tool.ts";
export type { ListedTool } from "./agents/meta-tools.ts";
export { createToolsOffer } from "./agents/offer.ts";
export { type AgentGuide, createSkillsOffer } from "./agents/skills-offer.ts";
export { spoken, spokenFault, spokenText } from "./agents/words.ts";
export type { CodeAnswer, CodeCall, CodeCaller, CodeFinder } from "./call/call-code.ts";
export type { CallAnswer, CallReply } from "./call/call-reply.ts";
export type { Caller, CallRequest } from "./call/call-request.ts";
export { createToolCaller, type DrainingToolCaller, type ToolCaller } from "./call/call-tool.ts";
export type { PersonAsker, PersonalCall } from "./call/gate/unsent-call.ts";
export type { SecretUse } from "./call/prepare/secret-uses.ts";
export type { ReadyCall, UnrecordedEnd } from "./call/ready-call.ts";
export { createLedger, type Ledger } from "./call/record/ledger.ts";
export type { CallObservation, CallObserver } from "./call/record/observer.ts";
export { mask, maskArguments, maskedTexts } from "./call/redact/mask.ts";
export { createRedactor, type Redactor } from "./call/redact/redact.ts";
export { redactTexts } from "./call/redact/redact-texts.ts";
export { failureMessage, remedyMessage } from "./convert.ts";
export type { EmbeddingsTarget } from "./embeddings/endpoint.ts";
export { createMeaningFinder, type ToolFinder, wordFinder } from "./embeddings/find-tools.ts";
export type { EmbeddingsCall, EmbeddingsObserver, SearchOutcome } from "./embeddings/observer.ts";
export { toolFaults } from "./errors.ts";
export { createAnswerStore } from "./hooks/answer-store.ts";
export { createHookAsker } from "./hooks/ask-hook.ts";
export { createCallHooks } from "./hooks/call-hooks.ts";
export { createKnownHooks, type KnownHooks } from "./hooks/known-hooks.ts";
export { readHttpAddress } from "./http/build-request.ts";
export { httpTool } from "./http/http-tool.ts";
export { type CallLimits, createCallLimits } from "./limits/call-limits.ts";
export { createMcpServer, type McpServer } from "./mcp/mcp-server.ts";
export {
  complete,
  type McpContext,
  type McpMethod,
  type McpOffer,
  type McpOutcome,
  type Params,
  refused,
} from "./mcp/offer.ts";
export { type EnterAction, invalidParams, type McpError, type McpHeaders } from "./mcp/request.ts";
export { type CallOutcome, type CallResult, callOutcomes } from "./outcome.ts";
export { type CallSweepOptions, callPaceSweep, callSweep, vectorSweep } from "./retention.ts";
export { createAvailabilityFinder } from "./search/availability.ts";
export type { FoundTool } from "./search/judge.ts";
export { createToolSearch, searchOf, type ToolSearch } from "./search/tool-search.ts";
export { createTestRead } from "./service/call-request.ts";
export { createToolsService, type ToolsServiceOptions } from "./service/service.ts";

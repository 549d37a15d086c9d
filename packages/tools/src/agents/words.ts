import { Fault, type PartedText, partedOf, renderAdvice, renderText, retryAfterText } from "@svc/core";
import type { ToolAnswer } from "./answer.ts";

/**
 * Replacements for names of the API in texts for agents. A replacement is the name of one of the agents' own tools. If no tool does the
 * same, it says what a person must do.
 */
const words: Readonly<Record<string, string>> = {
  toolSlug: "slug",
  toolkitSlug: "toolkit",
  accessClass: "access_class",
  argumentsJson: "arguments",
  entityId: "entity_id",
  connectedAccountId: "connected_account_id",
  idempotencyKey: "idempotency_key",
  maxBytes: "max_bytes",
  SearchTools: "search_tools",
  ListTools: "search_tools",
  ListToolkits: "search_tools",
  GetTool: "describe_tool",
  DescribeTool: "describe_tool",
  CallTool: "call_tool",
  InitiateConnection: "the application",
  GetToolkitConnectSpec: "the application",
  ListConnections: "the application",
  SetProjectCredential: "the console",
  ListSecrets: "the console",
  ListCallLimits: "the console",
  ListHooks: "the application",
  ListToolCalls: "the console",
  ListSteps: "the console",
  SetProjectPolicy: "the project's policy",
  GetJob: "the application",
  WatchJob: "the console",
  // Calls about skills. An agent finds skills with its own tools `search_tools` and `describe_tool`. It cannot correct a skill whose
  // program cannot start, so a person must do this in the console (`PromoteJob`, `DeleteSkill`).
  ListSkills: "search_tools",
  GetSkill: "describe_tool",
  PromoteJob: "the console",
  DeleteSkill: "the console",
  SubmitJob: "the application",
  CancelJob: "the console",
  BulkJobs: "the console",
  CreateStandingProgram: "the application",
  PutSecret: "the console",
  PutWebhookSecret: "the console",
  PutContact: "the console",
  ListContacts: "the console",
  AnswerAsk: "the console",
  GetAsk: "the console",
  ListAsks: "the console",
  ListAskEndpoints: "the console",
  CreatePortalLink: "the application",
  PublishToolkit: "the application",
  PutToolkitClient: "the application",
  DeleteToolkitClient: "the application",
  ImportToolkit: "the application",
  RefreshToolkit: "the application",
  GetToolkitSource: "the application",
  AcceptToolkitChanges: "the application",
  PutToolkitPhrases: "the application",
};
const pattern = new RegExp(`\\b(?:${Object.keys(words).join("|")})\\b`, "g");

/**
 * Returns the word by which agents know a call or a field of the API, for error messages to agents. Names without such a word are returned
 * unchanged.
 */
function spokenName(named: string): string {
  const [name = "", ...how] = named.split(" ");
  return Object.hasOwn(words, name) ? [words[name], ...how].join(" ") : named;
}

/**
 * Returns a fault's text as one string for an agent. In the text, names of API calls and fields are marked. They are replaced by the names
 * that the agent knows.
 */
export function spokenText(said: PartedText): string {
  return renderText(said, (_kind, name) => spokenName(name));
}

/** Returns a text of the service for an agent: names of API calls and fields are replaced by those of the agent's tools. */
export function spoken(text: string): string {
  return text.replace(pattern, (name) => words[name] ?? name);
}

/**
 * Returns a fault for an HTTP answer. Its advice uses the names of the agents' tools. It includes the time to wait, because agents' clients
 * show no headers.
 */
export function spokenFault(refusal: Fault): Fault {
  const { code, message, retryAfterMs } = refusal;
  const details = refusal.details.map((detail, index) => ({ ...detail, help: spokenHelp(refusal, index) }));
  return new Fault(code, message, details, retryAfterMs);
}

/** Returns a fault as an answer for a model: the problem, the correct form and the time to wait, with the names of the agents' tools. */
export function answerRefusal(refusal: Fault): ToolAnswer {
  const { reason = "INTERNAL", field = "" } = refusal.details[0] ?? {};
  const message = renderText(refusal.says, (kind, name) =>
    kind === "field" && name === field ? spokenName(name) : name,
  );
  const detail = { code: refusal.code, reason, field: spokenName(field), message, help: spokenHelp(refusal, 0) };
  return {
    texts: [[`${reason}: ${message}`, detail.help].filter(Boolean).join("\n")],
    structured: { error: detail },
    isError: true,
  };
}

/**
 * Returns the help text with number `index` of an error, written for an agent. The text names the agent's tools instead of API calls. The
 * text includes the time to wait before a retry.
 */
function spokenHelp(refusal: Fault, index: number): string {
  const help = refusal.advice[index] ?? partedOf("");
  return renderAdvice([help], retryAfterText(refusal), (_kind, name) => spokenName(name));
}

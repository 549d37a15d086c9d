import { Fault, type PartedText, partedOf, renderAdvice, renderText, retryAfterText } from "@svc/core";
import type { ToolAnswer } from "./answer.ts";

/** How the API's names read to an agent: those of its own tools, or of what a person does where it has none. */
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
  SetProjectPolicy: "the project's policy",
  GetJob: "the application",
  WatchJob: "the console",
  // What a skill that cannot be begun is refused with: its program is for people to mend.
  ListSkills: "search_tools",
  GetSkill: "describe_tool",
  PromoteJob: "the console",
  DeleteSkill: "the console",
  SubmitJob: "the application",
  CancelJob: "the console",
  CreateStandingProgram: "the application",
  PutSecret: "the console",
  PutContact: "the console",
  ListContacts: "the console",
  AnswerAsk: "the console",
  GetAsk: "the console",
  ListAsks: "the console",
  ListAskEndpoints: "the console",
};
const pattern = new RegExp(`\\b(?:${Object.keys(words).join("|")})\\b`, "g");

/** A call or a field of the API as an agent knows it; other names stay. */
function spokenName(named: string): string {
  const [name = "", ...how] = named.split(" ");
  return Object.hasOwn(words, name) ? [words[name], ...how].join(" ") : named;
}

/** A text in parts with the names that an agent knows. */
export function spokenText(said: PartedText): string {
  return renderText(said, (_kind, name) => spokenName(name));
}

/** A text of the service in the words of an agent's tools. */
export function spoken(text: string): string {
  return text.replace(pattern, (name) => words[name] ?? name);
}

/** A refusal that HTTP answers, with its advice in the names of these tools, and how long to wait: agents' clients show no headers. */
export function spokenFault(refusal: Fault): Fault {
  const { code, message, retryAfterMs } = refusal;
  const details = refusal.details.map((detail, index) => ({ ...detail, help: spokenHelp(refusal, index) }));
  return new Fault(code, message, details, retryAfterMs);
}

/** A refusal as a model reads it: what was wrong, what would be right and when, in the names of these tools. */
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

/** The help of a detail in the names of these tools, and the wait in it. */
function spokenHelp(refusal: Fault, index: number): string {
  const help = refusal.advice[index] ?? partedOf("");
  return renderAdvice([help], retryAfterText(refusal), (_kind, name) => spokenName(name));
}

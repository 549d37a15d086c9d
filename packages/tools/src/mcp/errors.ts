import { type Fault, fault, withWaitTold } from "@svc/core";
import type { MetaToolAnswer } from "./answer.ts";

/** The arguments of a meta-tool miss its input schema. */
export function metaArgumentsInvalid(tool: string, faults: readonly { pointer: string; message: string }[]): Fault {
  const texts = faults.map(({ pointer, message }) => `${pointer === "" ? tool : pointer.slice(1)} ${message}`);
  return fault({
    code: "invalid_argument",
    reason: "META_ARGUMENTS_INVALID",
    message: texts.join("; "),
    help: `The input schema of ${tool} says what it takes.`,
  });
}

/** How the API's names read in these tools. */
const names: Readonly<Record<string, string>> = {
  toolSlug: "slug",
  toolkitSlug: "toolkit",
  accessClass: "access_class",
  argumentsJson: "arguments",
  entityId: "entity_id",
  connectedAccountId: "connected_account_id",
  idempotencyKey: "idempotency_key",
  maxBytes: "max_bytes",
  SearchTools: "search_tools",
};
const namePattern = new RegExp(`\\b(?:${Object.keys(names).join("|")})\\b`, "g");

/** A refusal as a model reads it: what was wrong, what would be right and when, in the names of these tools. */
export function answerRefusal(refusal: Fault): MetaToolAnswer {
  const [detail] = withWaitTold(refusal).details;
  const { reason = "INTERNAL", field = "", help = "" } = detail ?? {};
  const message = refusal.message.startsWith(`${field} `)
    ? renamed(field) + refusal.message.slice(field.length)
    : refusal.message;
  const told = { code: refusal.code, reason, field: renamed(field), message, help: renamed(help) };
  return {
    texts: [[`${reason}: ${message}`, told.help].filter(Boolean).join("\n")],
    structured: { error: told },
    isError: true,
  };
}

function renamed(text: string): string {
  return text.replace(namePattern, (name) => names[name] ?? name);
}

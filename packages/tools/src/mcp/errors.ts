import { Code, type ConnectError } from "@connectrpc/connect";
import { fault } from "@svc/core";
import { ErrorDetailSchema } from "@svc/gen/errors";
import type { MetaToolAnswer } from "./answer.ts";

/** The arguments of a meta-tool miss its input schema. */
export function metaArgumentsInvalid(
  tool: string,
  faults: readonly { pointer: string; message: string }[],
): ConnectError {
  const texts = faults.map(({ pointer, message }) => `${pointer === "" ? tool : pointer.slice(1)} ${message}`);
  return fault({
    code: Code.InvalidArgument,
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

/** A refusal as a model reads it: what was wrong, what would be right, in the names of these tools. */
export function answerRefusal(error: ConnectError): MetaToolAnswer {
  const [detail] = error.findDetails(ErrorDetailSchema);
  const { reason = "INTERNAL", field = "", help = "" } = detail ?? {};
  const message = error.rawMessage.startsWith(`${field} `)
    ? renamed(field) + error.rawMessage.slice(field.length)
    : error.rawMessage;
  const told = { code: codeName(error), reason, field: renamed(field), message, help: renamed(help) };
  return {
    texts: [[`${reason}: ${message}`, told.help].filter(Boolean).join("\n")],
    structured: { error: told },
    isError: true,
  };
}

function renamed(text: string): string {
  return text.replace(namePattern, (name) => names[name] ?? name);
}

/** `not_found`, as the API writes codes. */
function codeName({ code }: ConnectError): string {
  return (Code[code] ?? "").replace(/(?<!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}

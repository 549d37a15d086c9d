import type { AccessClass } from "@svc/catalog";
import { Fault, fault, withWaitTold } from "@svc/core";
import type { Params } from "../mcp/offer.ts";
import type { ToolAnswer } from "./answer.ts";
import { callToMake } from "./meant-arguments.ts";
import type { ListedTool } from "./meta-tools.ts";
import { spoken } from "./words.ts";

/** The arguments of a meta-tool miss its input schema. */
export function metaArgumentsInvalid(
  tool: ListedTool,
  faults: readonly { pointer: string; message: string }[],
  given: Params,
): Fault {
  const texts = faults.map(({ pointer, message }) => `${pointer === "" ? tool.name : pointer.slice(1)} ${message}`);
  return fault({
    code: "invalid_argument",
    reason: "META_ARGUMENTS_INVALID",
    message: texts.join("; "),
    help: `Call it as ${callToMake(tool, given)}. The input schema of ${tool.name} says what it takes.`,
  });
}

/** read_tool was asked for a tool that does more than to read. */
export function toolNotRead(slug: string, accessClass: AccessClass): Fault {
  return fault({
    code: "invalid_argument",
    reason: "TOOL_NOT_READ",
    field: "slug",
    message: `slug ${slug} is a tool of class ${accessClass}; read_tool calls those of class read alone, and nothing was sent`,
    help: "Call it with call_tool.",
  });
}

/** A refusal that HTTP answers, with its advice in the names of these tools, and how long to wait: agents' clients show no headers. */
export function spokenFault(refusal: Fault): Fault {
  const { code, message, details, retryAfterMs } = withWaitTold(refusal);
  return new Fault(
    code,
    message,
    details.map((detail) => ({ ...detail, help: spoken(detail.help) })),
    retryAfterMs,
  );
}

/** A refusal as a model reads it: what was wrong, what would be right and when, in the names of these tools. */
export function answerRefusal(refusal: Fault): ToolAnswer {
  const [detail] = withWaitTold(refusal).details;
  const { reason = "INTERNAL", field = "", help = "" } = detail ?? {};
  const message = refusal.message.startsWith(`${field} `)
    ? spoken(field) + refusal.message.slice(field.length)
    : refusal.message;
  const told = { code: refusal.code, reason, field: spoken(field), message, help: spoken(help) };
  return {
    texts: [[`${reason}: ${message}`, told.help].filter(Boolean).join("\n")],
    structured: { error: told },
    isError: true,
  };
}

import { Fault, partedOf, renderAdvice, renderText, retryAfterText } from "@svc/core";
import type { ToolAnswer } from "./answer.ts";
import { spokenName } from "./words.ts";

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
  const told = { code: refusal.code, reason, field: spokenName(field), message, help: spokenHelp(refusal, 0) };
  return {
    texts: [[`${reason}: ${message}`, told.help].filter(Boolean).join("\n")],
    structured: { error: told },
    isError: true,
  };
}

/** The help of a detail in the names of these tools, and the wait in it. */
function spokenHelp(refusal: Fault, index: number): string {
  const help = refusal.advice[index] ?? partedOf("");
  return renderAdvice([help], retryAfterText(refusal), (_kind, name) => spokenName(name));
}

import type { CelOutcome } from "@svc/program";
import type { Next } from "../state/change.ts";

/** A step fails for an expression that has no answer. `what` names it, and `where` its row. */
export function expressionFailed(
  stepId: string,
  { error, isTooExpensive = false }: Extract<CelOutcome, { error: string }>,
  { what, where = "" }: { readonly what: "where" | "when" | "if" | "until"; readonly where?: string },
): Next {
  const code = isTooExpensive ? "EXPRESSION_TOO_EXPENSIVE" : "EXPRESSION_FAILED";
  return { kind: "fail", stepId, code, message: `${what} ${error}${where}` };
}

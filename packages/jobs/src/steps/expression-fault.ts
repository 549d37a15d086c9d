import type { CelOutcome } from "@svc/program";
import type { Next } from "../state/change.ts";
import type { CallFault } from "./invoke.ts";

/** Returns the error of a row in a `map` step for which the condition (`when`) of a call could not be evaluated. */
export function faultOfExpression(callId: string, outcome: Extract<CelOutcome, { error: string }>): CallFault {
  const message = `when of ${callId} ${outcome.error}`;
  return { code: codeOf(outcome), message, plain: message };
}

/** Returns the failure of a step, because one of its expressions has no value. `what` names the expression, and `where` names the row. */
export function expressionFailed(
  stepId: string,
  outcome: Extract<CelOutcome, { error: string }>,
  { what, where = "" }: { readonly what: string; readonly where?: string },
): Next {
  return { kind: "fail", stepId, code: codeOf(outcome), message: `${what} ${outcome.error}${where}` };
}

function codeOf({ isTooExpensive = false }: Extract<CelOutcome, { error: string }>): string {
  return isTooExpensive ? "EXPRESSION_TOO_EXPENSIVE" : "EXPRESSION_FAILED";
}

import { nearest } from "@svc/catalog";
import { formatValue } from "@svc/core";
import { type ObjectForm, ref } from "./form.ts";
import type { ShapeNode, ShapeReader } from "./shape.ts";

/**
 * The rule of a step's error handler. `codes`: the errors that it handles. `goesOn`: true if the job continues after the handler. The steps
 * of the handler are not part of the rule.
 */
export type ErrorRule = {
  /** Error codes that this `onError` rule of a step handles. Undefined means all errors that `handlesCode` allows. */
  readonly codes: readonly string[] | undefined;
  readonly goesOn: boolean;
};

/** The outcomes of a failed call that a program can handle by name. */
const callOutcomes: readonly string[] = [
  "provider_error",
  "rate_limited",
  "timeout",
  "unreachable",
  "invalid_arguments",
  "not_callable",
  "not_bound",
  "no_account",
  "account_unusable",
  "missing_scope",
];

/**
 * Error codes of failed steps that an `onError` can name. The outcomes of tool calls, such as `timeout`, can be named as well and are not
 * in this list. LIMIT_REACHED is not in the list, because this error always ends the job.
 */
const stepCodes: readonly string[] = [
  "ANSWER_TOO_LARGE",
  "CHILD_ABORTED",
  "CHILD_CANCELLED",
  "CHILD_EXPIRED",
  "CHILD_FAILED",
  "CHILD_MISSING",
  "CHILD_RESULT_FAILED",
  "EXPRESSION_FAILED",
  "EXPRESSION_TOO_EXPENSIVE",
  "FAIL_STEP",
  "JOIN_UNFIT",
  "LIST_TOO_LONG",
  "PAGE_LIMIT",
  "PAGE_LINK_INVALID",
  "PAGE_REPEATED",
  "PAGE_TOKEN_MISSING",
  "REFERENCE_ABSENT",
  "REFERENCE_UNFIT",
  "ROWS_FAILED",
  "ROWS_MISSING",
  "ROWS_UNKNOWN",
  "SET_LOST",
  "SET_TOO_LARGE",
  "TIME_INVALID",
  "UNTIL_EXHAUSTED",
  "VALUE_TOO_LARGE",
  "VALUE_UNFIT",
  "WAIT_BEYOND_DEADLINE",
];

const example = {
  codes: ["provider_error", "timeout"],
  do: [{ id: "pause", wait: "1m" }],
  // biome-ignore lint/suspicious/noThenProperty: programs have the field, and nobody awaits a form.
  then: "continue",
};

/** The required and optional fields of `onError` (the error handler of a step), with their schemas. */
export const onErrorForm: ObjectForm = {
  description:
    "Steps that run when the step fails, or when a step in it fails without an onError. steps.<id>.error has code, message and status.",
  required: {
    // biome-ignore lint/suspicious/noThenProperty: as above.
    then: {
      description: "continue: the job continues after the step. fail: the step still fails after the steps in do.",
      enum: ["continue", "fail"],
      examples: ["continue"],
    },
  },
  optional: {
    codes: {
      description:
        "Error codes to handle: outcomes of calls and codes of steps. Default: all except LIMIT_REACHED, which cannot be handled, ROWS_UNKNOWN and FAIL_STEP.",
      type: "array",
      minItems: 1,
      maxItems: 50,
      items: {
        description: "An outcome of calls, or the code of a step.",
        type: "string",
        pattern: `^(${callOutcomes.join("|")}|[A-Z][A-Z0-9_]*)$`,
        maxLength: 64,
        examples: ["provider_error", "UNTIL_EXHAUSTED"],
      },
      examples: [["provider_error", "timeout"]],
    },
    do: ref("branch"),
  },
  examples: [example],
};

const codePattern = /^[A-Z][A-Z0-9_]*$/;

/**
 * Reads the object `onError` of a step: the error codes that it handles, and if the job then continues. The steps inside the object are
 * read elsewhere. Returns undefined if the value is not a valid object.
 */
export function readErrorRule(node: ShapeNode, reader: ShapeReader): ErrorRule | undefined {
  const fields = reader.fields(node, onErrorForm);
  if (fields === undefined) return undefined;
  const nodes = fields.has("codes") ? reader.items(fields.at("codes"), { min: 1, max: 50 }) : undefined;
  const codes = nodes?.flatMap((code) => readCode(code, reader) ?? []);
  const then = reader.oneOf(fields.at("then"), ["continue", "fail"]);
  if (then === "fail" && !fields.has("do")) {
    const message = "does nothing, because the step fails in any case and onError has no do";
    reader.faults.addYounger(
      "PROGRAM_MALFORMED",
      node.path,
      message,
      'add do, write "then": "continue", or leave it out',
    );
  }
  return { codes, goesOn: then === "continue" };
}

function readCode(node: ShapeNode, reader: ShapeReader): string | undefined {
  const code = reader.text(node, { max: 64 });
  if (code === undefined) return undefined;
  const refused = (message: string, hint: string) => reader.faults.add("PROGRAM_MALFORMED", node.path, message, hint);
  if (code === "LIMIT_REACHED") refused("is LIMIT_REACHED, which ends the job", "raise the limit in limits instead");
  else if (code === "outcome_unknown") {
    refused(
      "is outcome_unknown, which a person decides",
      "svc asks the approvers about a write in doubt: leave it out",
    );
  } else if (!callOutcomes.includes(code) && !codePattern.test(code)) {
    const hint = `use ${callOutcomes.join(", ")}, or the code of a step, such as UNTIL_EXHAUSTED`;
    refused(`is ${formatValue(code)}, which is not an error code`, hint);
  } else if (![...callOutcomes, ...stepCodes].includes(code)) {
    const meant = nearest(code, stepCodes);
    const hint = meant === undefined ? `use ${[...callOutcomes, ...stepCodes].join(", ")}` : `did you mean ${meant}?`;
    const message = `is ${formatValue(code)}, a code that no step fails with`;
    reader.faults.addYounger("PROGRAM_MALFORMED", node.path, message, hint);
  }
  return code;
}

/** Errors that a rule handles only if it names their code: ROWS_UNKNOWN (rows with an unknown outcome) and FAIL_STEP (a `fail` step). */
const namedOnly: ReadonlySet<string> = new Set(["ROWS_UNKNOWN", "FAIL_STEP"]);

/**
 * True if the error handler handles an error with this code. False for LIMIT_REACHED, which always ends the job. A handler without codes
 * handles all other errors except ROWS_UNKNOWN and FAIL_STEP.
 */
export function handlesCode({ codes }: ErrorRule, code: string): boolean {
  if (code === "LIMIT_REACHED") return false;
  return codes === undefined ? !namedOnly.has(code) : codes.includes(code);
}

import type { JsonSchema, SchemaValidator } from "@svc/catalog";
import type { Path } from "../json.ts";
import type { ValueTemplate } from "../template.ts";
import type { Examiner, TemplateFault } from "../types/examine.ts";
import { resolveType, type Scope } from "../types/scope.ts";
import { fillConstants } from "./constants.ts";
import { computedType } from "./expression.ts";

/**
 * Functions that compare a template (a value with references) with a schema. `examined`: compares the types. `validator`: checks the values
 * that are known before the program runs.
 */
export type ExamineContext = {
  readonly examined: (template: ValueTemplate, examiner: Examiner) => readonly TemplateFault[];
  readonly validator: (schema: JsonSchema) => SchemaValidator;
};

/**
 * Result of checking a template (a value with references that a step fills in). `faults`: the errors of the template. `filled`: the
 * template, with the values that are known before the program runs already filled in.
 */
export type ExamineResult = { readonly faults: readonly TemplateFault[]; readonly filled: ValueTemplate };

/**
 * Compares a template (a value with references) with a schema, and returns the faults. It compares the types, and the values that are
 * already known. For stored programs, it compares only the types.
 */
export function examineWithConstants(
  template: ValueTemplate,
  scope: Scope,
  { examined, validator }: ExamineContext,
): ExamineResult {
  const examiner: Examiner = {
    typeOf(part) {
      if (part.kind === "computed") return computedType(part.expression, scope);
      const found = resolveType(scope, part.reference);
      return "fault" in found ? undefined : found.type;
    },
    validator,
  };
  const faults = examined(template, examiner);
  const { template: filled, isFilled } = fillConstants(template, scope);
  if (!isFilled) return { faults, filled };
  const known = faults.map(({ path }) => path);
  const more = examined(filled, examiner).filter(({ path }) => !known.some((other) => isAlong(path, other)));
  return { faults: [...faults, ...more.map((fault) => ({ ...fault, isYounger: true as const }))], filled };
}

/** True if the two paths are equal, or if one path is the beginning of the other. */
function isAlong(path: Path, other: Path): boolean {
  return path.slice(0, other.length).every((step, index) => step === other[index]);
}

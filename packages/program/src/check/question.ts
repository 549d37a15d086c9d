import { isObject } from "@svc/core";
import { pathOf } from "../json.ts";
import type { Point } from "../point.ts";
import type { Program } from "../program.ts";
import { valueAt } from "../run/resolve.ts";
import { stepsOf } from "../steps/index.ts";
import { type Reference, referencesOf } from "../template.ts";
import { resolveType } from "../types/scope.ts";
import type { Check } from "./context.ts";
import { checkTexts } from "./references.ts";
import type { PointUse } from "./steps.ts";

type AskedQuestion = { readonly program: Program; readonly point: Point; readonly use: PointUse };

/** Checks that a question can be filled in where it is asked: nothing stands in for what is absent from one. Records every fault. */
export function checkQuestion(asked: AskedQuestion, check: Check): void {
  const { point, use } = asked;
  const { faults } = check;
  const path = [...pathOf(point.pointer), "question"];
  checkTexts(point.question, path, use.scope, faults);
  for (const { reference } of referencesOf(point.question)) {
    const found = resolveType(use.scope, reference);
    const fault = (message: string, hint: string) =>
      faults.add("PROGRAM_REFERENCE_INVALID", path, `${reference.text}: ${message}`, hint);
    if ("fault" in found) fault(found.fault, found.hint);
    else if (found.maySkip || found.mayFail === true) {
      const [id] = reference.path;
      const why = found.maySkip ? "may be skipped" : "may have failed, or not";
      const place = `in the branch in which ${id} is done, or "when": "has(steps.${id})"`;
      const hint = `a question has no else: ask it ${place} at ${use.step.id}, or name what is there in any case, such as rows.<set>, which is 0 where its step was skipped`;
      fault(`step ${id} ${why}`, hint);
    } else if (mayLack(reference, asked, check)) {
      const message = `${reference.text}: may be absent, and nothing stands in for it in a question`;
      const name = reference.path.join(".");
      const hint = `give ${name} a default in inputSchema, or require it there; or ask on condition, with "when": "has(${reference.text})" at ${use.step.id}`;
      faults.addYounger("PROGRAM_REFERENCE_INVALID", path, message, hint);
    }
  }
}

/** Whether an input may be absent: the program itself gives none, its schema neither requires it nor has a default, and no condition asks for it. */
function mayLack(reference: Reference, { program }: AskedQuestion, { isInputMade }: Check): boolean {
  const { root, path, text } = reference;
  const { inputSchema, input } = program;
  if (root !== "input" || inputSchema === undefined || isInputMade || valueAt(input, path) !== undefined) return false;
  const [name, ...inner] = path;
  const { required, properties } = inputSchema;
  const property = isObject(properties) && typeof name === "string" ? properties[name] : undefined;
  const isRequired = Array.isArray(required) && required.includes(name);
  if (inner.length > 0 || isRequired || !isObject(property) || property.default !== undefined) return false;
  return ![...stepsOf(program.steps)].some((step) => {
    const conditions = [step.when?.source, step.kind === "if" ? step.condition.source : undefined];
    return conditions.some((source) => source?.includes(text));
  });
}

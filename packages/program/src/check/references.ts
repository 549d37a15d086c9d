import type { FaultList } from "../faults.ts";
import type { Path } from "../json.ts";
import { expressionsOf, referencesOf, type ValueTemplate } from "../template.ts";
import { typesOf } from "../types/schema-type.ts";
import { resolveType, type Scope } from "../types/scope.ts";
import { checkComputed } from "./expression.ts";

/** Checks that every reference and expression of a template names something that exists by then. Records every fault. */
export function checkReferences(template: ValueTemplate, path: Path, scope: Scope, faults: FaultList): void {
  checkTexts(template, path, scope, faults);
  for (const expression of expressionsOf(template)) checkComputed(expression, scope, faults);
  for (const { reference, path: inner, hasElse } of referencesOf(template)) {
    const at = [...path, ...inner];
    const found = resolveType(scope, reference);
    if ("fault" in found) faults.add("PROGRAM_REFERENCE_INVALID", at, `${reference.text}: ${found.fault}`, found.hint);
    else if (found.maySkip && !hasElse) {
      const hint = `say what stands in: {"$ref": "${reference.text}", "else": …}`;
      faults.add(
        "PROGRAM_REFERENCE_INVALID",
        at,
        `${reference.text}: ${reference.root === "calls" ? "call" : "step"} ${reference.path[0]} may be skipped`,
        hint,
      );
    }
  }
}

/** What is joined into a text is a scalar. */
function checkTexts(template: ValueTemplate, path: Path, scope: Scope, faults: FaultList): void {
  if (template.kind === "object")
    for (const [name, item] of template.entries) checkTexts(item, [...path, name], scope, faults);
  if (template.kind === "list")
    template.items.forEach((item, index) => {
      checkTexts(item, [...path, index], scope, faults);
    });
  if (template.kind !== "text") return;
  for (const part of template.parts) {
    const found = typeof part === "string" ? undefined : resolveType(scope, part);
    const types = found === undefined || "fault" in found ? undefined : typesOf(found.type);
    if (typeof part === "string" || types === undefined) continue;
    if ([...types].every((type) => type === "object" || type === "array")) {
      const message = `${part.text}: is ${[...types].join(" or ")}, which no text takes`;
      faults.add("PROGRAM_REFERENCE_INVALID", path, message, "name a scalar of it");
    }
  }
}

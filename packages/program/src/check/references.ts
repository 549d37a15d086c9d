import type { FaultList } from "../faults.ts";
import type { Path } from "../json.ts";
import { expressionsOf, type Reference, referencesOf, secretsOf, type ValueTemplate } from "../template.ts";
import { typesOf } from "../types/schema-type.ts";
import { resolveType, type Scope } from "../types/scope.ts";
import { checkComputed } from "./expression.ts";

/**
 * The places in a template (a value with references that a step fills in) where secrets are allowed. `takes`: returns true if a secret is
 * allowed at a path. `hint`: says where a secret is allowed instead.
 */
export type SecretPlaces = { readonly takes: (path: Path) => boolean; readonly hint: string };

const nowhere: SecretPlaces = {
  takes: () => false,
  hint: "use a secret only in the headers, query and body of an http step, or in an argument that its tool marks x-sensitive",
};

/**
 * Checks that every reference and expression of a template names something that exists when the template is filled in, and that secrets are
 * only at allowed places. Records every fault.
 */
export function checkReferences(
  template: ValueTemplate,
  path: Path,
  scope: Scope,
  faults: FaultList,
  places: SecretPlaces = nowhere,
): void {
  checkTexts(template, path, scope, faults);
  for (const { name, path: inner } of secretsOf(template)) {
    if (places.takes(inner)) continue;
    const message = `secret ${name} is not allowed here, because others could read it`;
    faults.add("PROGRAM_REFERENCE_INVALID", [...path, ...inner], message, places.hint);
  }
  for (const expression of expressionsOf(template)) checkComputed(expression, scope, faults);
  for (const { reference, path: inner, hasElse, isInText } of referencesOf(template)) {
    const at = [...path, ...inner];
    const found = resolveType(scope, reference);
    if ("fault" in found) faults.add("PROGRAM_REFERENCE_INVALID", at, `${reference.text}: ${found.fault}`, found.hint);
    else if ((found.maySkip || found.mayFail === true) && !hasElse) {
      const hint = isInText ? hintInText(reference) : `add an else: {"$ref": "${reference.text}", "else": …}`;
      const what = reference.root === "calls" ? "call" : "step";
      const why = found.maySkip ? "may be skipped" : "may or may not have failed";
      faults.add("PROGRAM_REFERENCE_INVALID", at, `${reference.text}: ${what} ${reference.path[0]} ${why}`, hint);
    }
  }
}

function hintInText({ text, root, path }: Reference): string {
  const whole = `add an else for the whole text: {"$text": "… {${text}} …", "else": "…"}`;
  return `${whole}; or compute it: {"$cel": "has(${root}.${path[0]}) ? '…' + string(${text}) : '…'"}`;
}

/** Returns a hint about a text that contains a list or an object. A text may contain only texts, numbers and booleans. */
function hintOfTypes({ root }: Reference, types: ReadonlySet<string>): string {
  if (root !== "row" && root !== "steps") return "name a text, number or boolean in it";
  if (!types.has("array")) return "name a text, number or boolean in it";
  return 'name a text, number or boolean in it; if a group or a reduce makes the list, let it make a text instead: {"text": {"of": "{row.<field>}", "separator": ", "}}';
}

/** Checks that each value inserted into a text (`$text`) is a single value, and not a list or object. Records every fault. */
export function checkTexts(template: ValueTemplate, path: Path, scope: Scope, faults: FaultList): void {
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
      const message = `${part.text}: is ${[...types].join(" or ")}, which cannot be part of a text`;
      faults.add("PROGRAM_REFERENCE_INVALID", path, message, hintOfTypes(part, types));
    }
  }
}

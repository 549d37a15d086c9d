import { isObject } from "@svc/core";
import type { JsonValue, Path } from "./json.ts";

/** A CEL expression. `pointer`: its place. An Evaluator compiles it once for each of these objects. */
export type Expression = { readonly source: string; readonly pointer: string };

/** The roots of references. */
export type ReferenceRoot = "input" | "params" | "steps" | "row" | "output" | "calls" | "rows";

/** A parsed path. After `steps`, `calls` and `rows` the first entry of `path` is the id. */
export type Reference = {
  readonly text: string;
  readonly root: ReferenceRoot;
  readonly path: Path;
  readonly pointer: string;
};

/** A text with references. `otherwise` replaces the whole text if a source was skipped, is absent or null. */
export type TextTemplate = {
  readonly kind: "text";
  readonly parts: readonly (string | Reference)[];
  readonly otherwise?: { readonly value: JsonValue };
};

/** A JSON value with references. `otherwise` replaces a source that was skipped or is absent; `computed` is a CEL expression. */
export type ValueTemplate =
  | { readonly kind: "literal"; readonly value: JsonValue }
  | {
      readonly kind: "reference";
      readonly reference: Reference;
      readonly otherwise: { readonly value: JsonValue } | undefined;
    }
  | TextTemplate
  | SecretTemplate
  | { readonly kind: "computed"; readonly expression: Expression }
  | { readonly kind: "object"; readonly entries: TemplateEntries }
  | { readonly kind: "list"; readonly items: readonly ValueTemplate[] };

/** A secret of the project by its name, with the text before its value. The sender inserts the value: no run ever has it. */
export type SecretTemplate = { readonly kind: "secret"; readonly name: string; readonly prefix: string };

/** The fields of a template that is an object. */
export type TemplateEntries = readonly (readonly [string, ValueTemplate])[];

/** The result of a job: scalars by name. */
export type DeclaredResult = TemplateEntries;

/** Replaces a faulty part of a template. It has any type, so that the rest can still be checked. */
export const brokenTemplate: ValueTemplate & { readonly kind: "reference" } = {
  kind: "reference",
  reference: { text: "", root: "input", path: [], pointer: "" },
  otherwise: undefined,
};

/** Returns the entries of a template that is an object, or undefined for any other. */
export function entriesOf(template: ValueTemplate): TemplateEntries | undefined {
  if (template.kind === "object") return template.entries;
  if (template.kind !== "literal" || !isObject(template.value)) return undefined;
  return Object.entries(template.value).map(([name, value]) => [name, { kind: "literal", value }]);
}

/** Returns an object of entries: a literal if each of them is one. */
export function objectOf(entries: TemplateEntries): ValueTemplate {
  const values: [string, JsonValue][] = [];
  for (const [name, item] of entries) {
    if (item.kind !== "literal") return { kind: "object", entries };
    values.push([name, item.value]);
  }
  return { kind: "literal", value: Object.fromEntries(values) };
}

/** Returns every reference of a template with the path of its value, relative to the template. `isInText`: it is inside a `$text`. */
export function referencesOf(
  template: ValueTemplate,
  path: Path = [],
): { readonly reference: Reference; readonly path: Path; readonly hasElse: boolean; readonly isInText: boolean }[] {
  switch (template.kind) {
    case "literal":
    case "secret":
    case "computed":
      return [];
    case "reference":
      if (template === brokenTemplate) return [];
      return [{ reference: template.reference, path, hasElse: template.otherwise !== undefined, isInText: false }];
    case "text":
      return template.parts.flatMap((part) =>
        typeof part === "string"
          ? []
          : [{ reference: part, path, hasElse: template.otherwise !== undefined, isInText: true }],
      );
    case "object":
      return template.entries.flatMap(([name, item]) => referencesOf(item, [...path, name]));
    case "list":
      return template.items.flatMap((item, index) => referencesOf(item, [...path, index]));
  }
}

/** The place of a secret: a path of the values that a template makes. */
export type SecretSlot = Pick<SecretTemplate, "name" | "prefix"> & { readonly path: Path };

/** Returns every secret of a template, with its place. */
export function secretsOf(template: ValueTemplate): readonly SecretSlot[] {
  return findSecrets(template, []);
}

function findSecrets(template: ValueTemplate, path: Path): readonly SecretSlot[] {
  switch (template.kind) {
    case "secret":
      return [{ name: template.name, prefix: template.prefix, path }];
    case "object":
      return template.entries.flatMap(([name, item]) => findSecrets(item, [...path, name]));
    case "list":
      return template.items.flatMap((item, index) => findSecrets(item, [...path, index]));
    default:
      return [];
  }
}

const expressions = new WeakMap<ValueTemplate, readonly Expression[]>();
const none: readonly Expression[] = [];

/** Returns the expressions that compute parts of a template. Each template is searched once. */
export function expressionsOf(template: ValueTemplate): readonly Expression[] {
  if (template.kind === "literal" || template.kind === "reference" || template.kind === "text") return none;
  const known = expressions.get(template);
  if (known !== undefined) return known;
  const found = findExpressions(template);
  expressions.set(template, found);
  return found;
}

function findExpressions(template: ValueTemplate): readonly Expression[] {
  switch (template.kind) {
    case "computed":
      return [template.expression];
    case "object":
      return template.entries.flatMap(([, item]) => findExpressions(item));
    case "list":
      return template.items.flatMap(findExpressions);
    default:
      return none;
  }
}

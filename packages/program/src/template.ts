import { isObject } from "@svc/core";
import type { JsonValue, Path } from "./json.ts";

/** A CEL expression. `pointer`: its place in the program. An Evaluator compiles each of these objects once. */
export type Expression = { readonly source: string; readonly pointer: string };

/** The first names of references in a program, such as `steps` in `steps.total.sum`. */
export type ReferenceRoot = "input" | "params" | "steps" | "row" | "output" | "calls" | "rows";

/**
 * A parsed path to a value, such as `steps.total.sum`. `root`: the first name. `path`: the names after it. If the root is `steps`, `calls`
 * or `rows`, `path` begins with the id of a step or call.
 */
export type Reference = {
  readonly text: string;
  readonly root: ReferenceRoot;
  readonly path: Path;
  readonly pointer: string;
};

/**
 * A text that contains references. `otherwise`: the value that replaces the whole text if a referenced value is absent or null, or if the
 * step that would have made the value was skipped.
 */
export type TextTemplate = {
  readonly kind: "text";
  readonly parts: readonly (string | Reference)[];
  readonly otherwise?: { readonly value: JsonValue };
};

/**
 * A JSON value that may contain references, for example the arguments of a call. `otherwise`: the value that is used if a referenced step
 * was skipped or the referenced value is absent. In the kind `computed`, the value is the result of a CEL expression.
 */
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

/**
 * A place in an argument where svc inserts a secret of the project. `name`: the name of the secret. `prefix`: the text before the value of
 * the secret. The value is inserted only when the call is sent, so the job never contains it.
 */
export type SecretTemplate = { readonly kind: "secret"; readonly name: string; readonly prefix: string };

/** The fields of a template that is an object. */
export type TemplateEntries = readonly (readonly [string, ValueTemplate])[];

/** The result that a program declares: each of its jobs returns these scalar values, by name. */
export type DeclaredResult = TemplateEntries;

/** Template that replaces a faulty part of a template. It fits every type, so that the other parts can still be checked. */
export const brokenTemplate: ValueTemplate & { readonly kind: "reference" } = {
  kind: "reference",
  reference: { text: "", root: "input", path: [], pointer: "" },
  otherwise: undefined,
};

/** Returns the fields of a template that is an object. Returns undefined for any other template. */
export function entriesOf(template: ValueTemplate): TemplateEntries | undefined {
  if (template.kind === "object") return template.entries;
  if (template.kind !== "literal" || !isObject(template.value)) return undefined;
  return Object.entries(template.value).map(([name, value]) => [name, { kind: "literal", value }]);
}

/** Returns a template of an object. The result is a literal if all its fields are literals. */
export function objectOf(entries: TemplateEntries): ValueTemplate {
  const values: [string, JsonValue][] = [];
  for (const [name, item] of entries) {
    if (item.kind !== "literal") return { kind: "object", entries };
    values.push([name, item.value]);
  }
  return { kind: "literal", value: Object.fromEntries(values) };
}

/** Returns every reference in a template, with its path relative to the template. `isInText`: true if the reference is inside a `$text`. */
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

/** A place at which svc inserts a secret: the path in the filled-in arguments, the secret's name, and the text before the value. */
export type SecretSlot = Pick<SecretTemplate, "name" | "prefix"> & { readonly path: Path };

/** Returns every secret that a template inserts, with the path at which it is inserted. */
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

/** Returns the expressions in a template. The result is cached for each template. */
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

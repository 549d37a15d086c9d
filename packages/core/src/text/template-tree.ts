import {
  type Placeholder,
  parseTemplate,
  placeholdersOf,
  renderTemplate,
  type Template,
  type TemplateScope,
  TemplateSyntaxError,
} from "./template.ts";

/** Position of a template in a JSON value: the object keys and list indexes from the root. */
export type TemplatePath = readonly (string | number)[];

/** A JSON value whose strings are templates. */
export type TemplateTree =
  | { readonly kind: "constant"; readonly value: unknown }
  | { readonly kind: "text"; readonly template: Template }
  | { readonly kind: "object"; readonly entries: readonly (readonly [string, TemplateTree])[] }
  | { readonly kind: "list"; readonly items: readonly TemplateTree[] };

/**
 * Parses every string of a JSON value as a template; object keys are not parsed. With `onFault`, calls it for each error with the path, and
 * leaves the wrong string unchanged. Without it, throws the first error as TemplateSyntaxError.
 */
export function parseTemplateTree(
  value: unknown,
  onFault: (path: TemplatePath, error: TemplateSyntaxError) => void = (_path, error) => {
    throw error;
  },
  path: TemplatePath = [],
): TemplateTree {
  if (typeof value === "string") return parseText(value, path, onFault);
  if (typeof value !== "object" || value === null) return { kind: "constant", value };
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, index) => parseTemplateTree(item, onFault, [...path, index]));
    return items.every((item) => item.kind === "constant")
      ? { kind: "constant", value: items.map((item) => item.value) }
      : { kind: "list", items };
  }
  const entries: [string, TemplateTree][] = [];
  for (const [key, item] of Object.entries(value)) {
    if (key === "__proto__") onFault([...path, key], new TemplateSyntaxError("__proto__ cannot be a key", 0));
    else entries.push([key, parseTemplateTree(item, onFault, [...path, key])]);
  }
  return entries.every((entry): entry is [string, TemplateTree & { kind: "constant" }] => entry[1].kind === "constant")
    ? { kind: "constant", value: Object.fromEntries(entries.map(([key, item]) => [key, item.value])) }
    : { kind: "object", entries };
}

function parseText(
  text: string,
  path: TemplatePath,
  onFault: (path: TemplatePath, error: TemplateSyntaxError) => void,
): TemplateTree {
  try {
    const template = parseTemplate(text);
    const [only, ...others] = template.parts;
    if (others.length === 0 && typeof only === "string") return { kind: "constant", value: only };
    return { kind: "text", template };
  } catch (error) {
    if (!(error instanceof TemplateSyntaxError)) throw error;
    onFault(path, error);
    return { kind: "constant", value: text };
  }
}

/**
 * Returns the JSON value of a tree with its placeholders filled in. If a placeholder has no value, its field or item is left out, and also
 * an object or list that becomes empty. Returns `undefined` if nothing is left. Parts without placeholders are not copied but shared with
 * the tree. Throws TemplateValueError.
 */
export function renderTemplateTree(tree: TemplateTree, scope: TemplateScope): unknown {
  switch (tree.kind) {
    case "constant":
      return tree.value;
    case "text":
      return renderTemplate(tree.template, scope);
    case "object":
      return renderObject(tree.entries, scope);
    case "list": {
      const items = tree.items.map((item) => renderTemplateTree(item, scope)).filter((item) => item !== undefined);
      return items.length === 0 ? undefined : items;
    }
  }
}

function renderObject(entries: readonly (readonly [string, TemplateTree])[], scope: TemplateScope): unknown {
  const object: Record<string, unknown> = {};
  let isEmpty = true;
  for (const [key, item] of entries) {
    const value = renderTemplateTree(item, scope);
    if (value === undefined) continue;
    object[key] = value;
    isEmpty = false;
  }
  return isEmpty ? undefined : object;
}

/**
 * Returns every placeholder of a template tree (a JSON value whose texts are templates), each with the path of the template that contains
 * it.
 */
export function placeholdersOfTree(tree: TemplateTree, path: TemplatePath = []): [Placeholder, TemplatePath][] {
  switch (tree.kind) {
    case "constant":
      return [];
    case "text":
      return placeholdersOf(tree.template).map((placeholder) => [placeholder, path]);
    case "object":
      return tree.entries.flatMap(([key, item]) => placeholdersOfTree(item, [...path, key]));
    case "list":
      return tree.items.flatMap((item, index) => placeholdersOfTree(item, [...path, index]));
  }
}

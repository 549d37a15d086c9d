import { isObject, type Placeholder, parseTemplateTree, placeholdersOfTree, type TemplateTree } from "@svc/core";
import { deploymentNames } from "../build/base-url.ts";
import type { DefinitionFile, FaultPath } from "../read/definition-file.ts";
import type { ActionDocument, JsonSchema } from "../read/documents.ts";

/** A path into JSON as definitions write it: `data.items[0].id`. */
const jsonPath = /^[\w$@-]+(?:\.[\w$@-]+|\[\d{1,6}\])*$/;

/** A path into JSON that may take the last item of a list: `data[-1].id`. */
const tokenPath = /^[\w$@-]+(?:\.[\w$@-]+|\[(?:\d{1,6}|-1)\])*$/;

/** Checks the part `response` of an action's file, which says how svc reads the app's answer. Records every error in `file`. */
export function checkResponse(file: DefinitionFile, { response, output }: Partial<ActionDocument>): void {
  const { unwrap = "", under, empty, error = {} } = response ?? {};
  for (const key of ["unwrap", "under", "error"] as const) {
    if (response?.as === undefined || response[key] === undefined) continue;
    file.fault(["response", key], "is for JSON, and the answer is a text", `remove ${key}, or remove as`);
  }
  if (unwrap !== "") checkPath(file, ["response", "unwrap"], unwrap);
  for (const [key, text] of Object.entries(error)) checkPath(file, ["response", "error", key], text);
  if (!isObject(output?.properties)) return;
  const { properties } = output;
  if (under !== undefined && !Object.hasOwn(properties, under)) {
    file.fault(
      ["response", "under"],
      `"${under}" is not a property of output`,
      "declare it there; otherwise svc removes it",
    );
  }
  for (const key of isObject(empty) ? Object.keys(empty) : []) {
    if (Object.hasOwn(properties, key)) continue;
    file.fault(["response", "empty", key], "is not a property of output", "declare it there; otherwise svc removes it");
  }
}

function checkPath(file: DefinitionFile, path: readonly string[], text: string): void {
  if (jsonPath.test(text)) return;
  file.fault(path, `"${text}" is not a path`, "write names and list indexes, such as data.items[0].id");
}

/**
 * Checks if the value at a path in a tool's output can have one of the types `wanted`, according to the output schema. Returns undefined if
 * it can; otherwise the reason as a text. `mayBeLast`: true if the path may name the last item of a list with `[-1]`.
 */
export function faultOfOutputPath(
  output: JsonSchema,
  text: string,
  wanted: readonly string[] = ["string", "integer", "number", "boolean"],
  { mayBeLast = false }: { readonly mayBeLast?: boolean } = {},
): string | undefined {
  if (!(mayBeLast ? tokenPath : jsonPath).test(text)) return "is not a path";
  let node: unknown = output;
  for (const [, index, name = ""] of text.matchAll(/\[(-?\d+)\]|([\w$@-]+)/g)) {
    if (!isObject(node)) return undefined;
    const group = index === undefined ? node.properties : undefined;
    // svc keeps an object without declared properties, or a list without declared items, as a whole. So it may contain anything.
    if (index === undefined && isObject(group) && !Object.hasOwn(group, name)) return "is not in the tool's output";
    node = index === undefined ? (isObject(group) ? group[name] : undefined) : node.items;
  }
  const types = isObject(node) && node.type !== undefined ? [node.type].flat().map(String) : [];
  if (types.some((type) => type === "object" || type === "array")) return "is an object or a list";
  const values = types.filter((type) => type !== "null");
  if (values.length > 0 && !values.some((type) => wanted.includes(type))) return `is ${values.join(" or ")}`;
  return undefined;
}

/**
 * Names that a template of a toolkit definition may use. For `{{deployment.auth_url}}`, the key is `deployment`, and the set contains
 * `auth_url`. The value `any` allows all names.
 */
export type Namespaces = Readonly<Record<string, "any" | ReadonlySet<string>>>;

/**
 * Names that a template may use after `deployment.`, for example `{{deployment.auth_url}}`. These names are the same for every definition.
 */
export const deploymentNamespace: ReadonlySet<string> = new Set(deploymentNames);

/**
 * Parses a template and returns it as a tree. Checks that each placeholder begins with a name that is allowed in this template, such as
 * `params`. Records every error. Use the result only if there are no errors.
 */
export function checkTemplates(
  file: DefinitionFile,
  path: FaultPath,
  value: unknown,
  namespaces: Namespaces,
): { readonly tree: TemplateTree; readonly placeholders: readonly (readonly [Placeholder, FaultPath])[] } {
  const tree = parseTemplateTree(value, (at, error) => {
    file.fault([...path, ...at], error.message, "write {{namespace.name}}, or {{{{ for two literal braces");
  });
  const placeholders = placeholdersOfTree(tree).map(([placeholder, at]) => [placeholder, [...path, ...at]] as const);
  for (const [placeholder, at] of placeholders) checkPlaceholder(file, at, placeholder, namespaces);
  return { tree, placeholders };
}

function checkPlaceholder(
  file: DefinitionFile,
  path: FaultPath,
  placeholder: Placeholder,
  namespaces: Namespaces,
): void {
  const { root, text } = placeholder;
  const names = Object.hasOwn(namespaces, root) ? namespaces[root] : undefined;
  if (names === undefined) {
    const allowed = Object.keys(namespaces).map((name) => `{{${name}.*}}`);
    file.fault(path, `{{${text}}} cannot be used here`, `use ${allowed.join(", ") || "no placeholder"}`);
    return;
  }
  const [name] = placeholder.path;
  if (name === undefined) {
    // Only the body and the item may be used as a whole. Values of other namespaces need a name.
    if (root !== "body" && root !== "item")
      file.fault(path, `{{${text}}} names nothing in ${root}`, `write {{${root}.name}}`);
  } else if (names !== "any" && !names.has(String(name))) {
    const known =
      names.size === 0 ? `declare "${name}", or remove the placeholder` : `use one of ${[...names].join(", ")}`;
    file.fault(path, `{{${text}}} names "${name}", which ${root} does not have`, known);
  }
}

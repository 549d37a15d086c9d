import { type Placeholder, parseTemplateTree, placeholdersOfTree, type TemplateTree } from "@svc/core";
import { deploymentNames } from "../build/base-url.ts";
import type { FaultPath } from "../read/definition-error.ts";
import type { DefinitionFile } from "../read/definition-file.ts";

/** What may stand in a template: namespaces with the names each of them has, or `any` of them. */
export type Namespaces = Readonly<Record<string, "any" | ReadonlySet<string>>>;

/** The deployment's namespace, the same for every definition. */
export const deploymentNamespace: ReadonlySet<string> = new Set(deploymentNames);

/**
 * Parses a template tree and checks its placeholders against the namespaces. Records every fault; the answer is usable when
 * there was none.
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
    file.fault(path, `{{${text}}} cannot stand here`, `use ${allowed.join(", ") || "no placeholder"}`);
    return;
  }
  const [name] = placeholder.path;
  if (name === undefined) {
    // A whole body may be taken as it is; the other namespaces are only ever read by name.
    if (root !== "body") file.fault(path, `{{${text}}} names nothing in ${root}`, `write {{${root}.name}}`);
  } else if (names !== "any" && !names.has(String(name))) {
    const known =
      names.size === 0 ? `declare "${name}", or remove the placeholder` : `use one of ${[...names].join(", ")}`;
    file.fault(path, `{{${text}}} names "${name}", which ${root} does not have`, known);
  }
}

import { createHash } from "node:crypto";
import { accessClasses } from "../read/documents.ts";
import { classOf } from "./classes.ts";
import { ImportError } from "./import-fault.ts";
import { chosenClass, type ToolOverride } from "./operation.ts";
import type { Operation } from "./select.ts";
import { globOf, snakeCase, textOf } from "./texts.ts";

/**
 * A person's choice for the tools whose name matches `match`, in which `*` matches any characters. If a field of the choice is empty,
 * the value from the document stays.
 */
export type ImportOverride = ToolOverride & { readonly match: string };

/** The name of the tool of each operation, by operation (such as `GET /pets`). Overrides are not applied to the names. */
export type ToolNames = Readonly<Record<string, string>>;

/** The choices of a person, and the tools of the accepted definition if a source is read again. */
type Chosen = {
  readonly overrides: readonly ImportOverride[];
  readonly accepted?: ReadonlySet<string> | undefined;
};

/** A note of the report about an override that matches no tool any more. */
type UnusedOverride = { readonly tool: string; readonly kind: string; readonly detail: string };

/** Maximum characters of a tool's name. */
const nameMax = 60;

/** Maximum characters of a path in `keyOf`. It bounds the names that are stored with the source of a toolkit. */
const keyPathMax = 300;

/**
 * Returns the method and the path of an operation, such as `GET /pets`. If the path is very long, returns a digest of the path instead of
 * it.
 */
export function keyOf({ method, path }: Operation): string {
  if (path.length <= keyPathMax) return `${method} ${path}`;
  return `${method} sha256:${createHash("sha256").update(path).digest("hex")}`;
}

/**
 * Returns a tool name for each operation. An operation that was imported before (in `known`) keeps its name. New names are made from the
 * operation's id, or its method and path, with a hash if such a name is not unique.
 */
export function namesOf(operations: readonly Operation[], known: ToolNames): string[] {
  // If the document lost an operation, its name is free, for example for the same operation at another path.
  const knownNames = new Set(operations.map((operation) => known[keyOf(operation)]));
  const wanted = operations.map(({ node, method, path }) => {
    const id = typeof node["operationId"] === "string" ? snakeCase(node["operationId"]) : "";
    if (id !== "" && id.length <= nameMax) return id;
    return cutName(snakeCase(`${method} ${path.replaceAll(/\{([^{}]*)\}/g, "by $1")}`));
  });
  const counts = Map.groupBy(wanted, (name) => name);
  return operations.map((operation, index) => {
    const [name = "", key] = [wanted[index], keyOf(operation)];
    if (Object.hasOwn(known, key)) return known[key] ?? "";
    if ((counts.get(name)?.length ?? 0) < 2 && !knownNames.has(name)) return name;
    const digest = createHash("sha256").update(key).digest("hex").slice(0, 6);
    return `${cutName(name, nameMax - 8)}_x${digest}`;
  });
}

/**
 * Throws ImportError if an override gives the access class `read` to an operation with the method DELETE. svc never allows this class for a
 * DELETE.
 */
export function checkReads(
  operations: readonly Operation[],
  names: readonly string[],
  overrides: readonly ImportOverride[],
): void {
  const deletes = names.filter((name, index) => {
    return operations[index]?.method === "DELETE" && overrideOf(name, overrides)?.class === "read";
  });
  if (deletes.length === 0) return;
  const problem = `the overrides give the class read to ${deletes.slice(0, 5).join(", ")}, and a DELETE is never read`;
  throw new ImportError("SOURCE_INVALID", problem, "Choose write or destructive for them.", "overrides");
}

/**
 * Returns the user's override for a tool, but without its access class if that class is less strict than the operation's own. Use this for
 * a tool name that now belongs to another operation: the user chose the class for the earlier operation.
 */
export function withoutMilderClass(override: ToolOverride | undefined, operation: Operation): ToolOverride | undefined {
  const chosen = chosenClass(override);
  if (override === undefined || chosen === undefined) return override;
  const { node, method, path } = operation;
  const access = classOf({ method, path, id: textOf(node["operationId"]) });
  return accessClasses.indexOf(chosen) < accessClasses.indexOf(access) ? { ...override, class: "" } : override;
}

/**
 * Returns the tool names of the operations, including names from earlier imports. An earlier name is kept only if no other operation has it
 * now, and if the accepted or the new definition has the tool. A name for which the user made an override is also kept, so that the
 * override never applies to another operation.
 */
export function keptNames(
  { names: earlier, accepted, overrides }: Chosen & { readonly names: ToolNames },
  now: { readonly names: ToolNames; readonly tools: readonly string[] },
): ToolNames {
  const taken = new Set(Object.values(now.names));
  const tools = new Set([...(accepted ?? []), ...now.tools]);
  const chosen = new Set(overrides.map(({ match }) => match));
  const isKept = (name: string) => chosen.has(name) || tools.has(overrideOf(name, overrides)?.name || name);
  const kept = Object.entries(earlier).filter(([, name]) => !taken.has(name) && isKept(name));
  return { ...Object.fromEntries(kept), ...now.names };
}

/** Returns a name with at most `most` characters (default: the maximum for tools), cut at the end of a word if possible. */
export function cutName(name: string, most = nameMax): string {
  return name.length <= most ? name : name.slice(0, most).replace(/_[^_]*$|_$/, "");
}

/** Returns what a person chose for the tool with this name; undefined if no choice matches the name. */
export function overrideOf(name: string, overrides: readonly ImportOverride[]): ToolOverride | undefined {
  const meant = overrides.filter(({ match }) => globOf(match)(name));
  const last = (key: keyof ToolOverride) => meant.findLast((override) => override[key] !== "")?.[key] ?? "";
  return meant.length === 0
    ? undefined
    : { name: last("name"), class: last("class"), description: last("description") };
}

/**
 * Throws ImportError if an override matches no tool, has an unknown class, or if two tools would have the same name. If the source is read
 * again, returns a note for each override that matches no tool any more.
 */
export function checkOverrides(names: readonly string[], { overrides, accepted }: Chosen): readonly UnusedOverride[] {
  const unused: UnusedOverride[] = [];
  for (const [index, { match, class: access, name }] of overrides.entries()) {
    const matching = names.filter(globOf(match));
    const shown = JSON.stringify(match.slice(0, 100));
    const field = `overrides[${index}]`;
    if (matching.length === 0 && accepted !== undefined) {
      unused.push({ tool: "", kind: "override", detail: `the override ${shown} matches no tool any more` });
      continue;
    }
    if (matching.length === 0) {
      const advice = `Tools are named such as ${names.slice(0, 5).join(", ")}.`;
      throw new ImportError("OVERRIDE_UNKNOWN", `the override ${shown} matches no tool`, advice, `${field}.match`);
    }
    if (access !== "" && !accessClasses.some((known) => known === access)) {
      const problem = `the override ${shown} has the class ${JSON.stringify(access.slice(0, 40))}`;
      throw new ImportError("SOURCE_INVALID", problem, `Write one of ${accessClasses.join(", ")}.`, `${field}.class`);
    }
    const chosen = name === "" ? [] : names.filter((other) => (overrideOf(other, overrides)?.name || other) === name);
    if (chosen.length > 1) {
      const problem = `the override ${shown} gives the name ${JSON.stringify(name.slice(0, 60))} that ${chosen.length} tools would have: ${chosen.slice(0, 5).join(", ")}`;
      throw new ImportError("SOURCE_INVALID", problem, "Give each tool a name of its own.", `${field}.name`);
    }
  }
  return unused;
}

import { isObject, parseTemplate, placeholdersOf } from "@svc/core";
import { buildToolkit } from "../build/build.ts";
import type { Deployment } from "../build/deployment.ts";
import { checkDefinitions } from "../check/check-definitions.ts";
import { faultsOfPaging } from "../check/check-paging.ts";
import { faultsOfPoll, isPollDocument } from "../check/check-poll.ts";
import type { Audience, Catalog, Tool } from "../model.ts";
import { readCheckedToolkits } from "./checked-toolkits.ts";
import { createDefinitionFile, DefinitionError, type DefinitionFile } from "./definition-file.ts";
import type {
  ExamplePhrasesDocument,
  ToolDocument,
  ToolkitDeploymentDocument,
  ToolkitDocument,
  ToolkitDocuments,
} from "./documents.ts";
import { filesOf, readDefinitions, type ToolkitFiles } from "./read-definitions.ts";

/**
 * Loads every toolkit in the folders. Rejects with one DefinitionError that lists the errors of all files. `audience`: who receives a
 * toolkit's webhook events if the deployment file does not say it.
 */
export async function loadCatalog(options: {
  folders: readonly string[];
  deployment?: Deployment | undefined;
  audience?: Audience | undefined;
}): Promise<Catalog> {
  const [{ toolkits, unreadable }, checked] = await Promise.all([
    readDefinitions(options.folders),
    readCheckedToolkits(),
  ]);
  const { deployment, audience = deployment === undefined ? "projects" : "accounts" } = options;
  return createCatalog(toolkits, { deployment, audience, others: unreadable, checked });
}

/**
 * Checks and compiles toolkit definitions, and returns them as a catalog. Throws one DefinitionError with all errors in these definitions.
 * `others`: further files whose errors are added to it.
 */
export function createCatalog(
  toolkits: readonly ToolkitFiles[],
  { deployment, audience, others = [], checked = new Set() }: CatalogOptions,
): Catalog {
  const overlaid = toolkits.map((files) => (deployment === undefined ? files : overlay(files, deployment)));
  for (const files of overlaid) {
    if (files.digest === undefined || !checked.has(files.digest)) checkDefinitions(files);
  }
  checkDistinct(overlaid);
  const looked = [...others, ...overlaid.flatMap(filesOf)];
  if (deployment !== undefined) looked.push(checkNames(deployment, overlaid));
  const faults = looked.flatMap((file) => file.faults);
  if (faults.length > 0) throw new DefinitionError(faults);
  return { ...build(overlaid, deployment, audience), definitions: definitionsOf(toolkits) };
}

/** Returns the definitions of toolkits as svc ships them, by slug, without the overlay of the deployment. */
function definitionsOf(toolkits: readonly ToolkitFiles[]): NonNullable<Catalog["definitions"]> {
  return new Map(toolkits.map((files) => [files.folder, documentsOf(files)]));
}

function documentsOf({ toolkit, tools, sayings }: ToolkitFiles): ToolkitDocuments {
  return {
    toolkit: toolkit.value as ToolkitDocument,
    tools: new Map([...tools].map(([name, file]) => [name, file.value as ToolDocument])),
    sayings: sayings?.value as ExamplePhrasesDocument | undefined,
  };
}

/** Options of a catalog. `audience`: which projects receive a webhook's events if the deployment file does not set this. */
export type CatalogOptions = {
  deployment: Deployment | undefined;
  audience: Audience;
  others?: readonly DefinitionFile[];
  /** Digests of toolkits (app definitions) that need no check, because they were checked before. */
  checked?: ReadonlySet<string>;
};

/** Returns the catalog compiled from files that have no errors. */
function build(files: readonly ToolkitFiles[], deployment: Deployment | undefined, audience: Audience): Catalog {
  const toolkits = files.map((one) => {
    const values = deployment?.toolkits.get(one.folder);
    return buildToolkit(documentsOf(one), { values: values ?? {}, audience, isLive: values !== undefined });
  });
  toolkits.sort((a, b) => (a.slug < b.slug ? -1 : 1));
  const tools: Tool[] = toolkits.flatMap((toolkit) => [...toolkit.actions, ...toolkit.triggers]);
  tools.sort((a, b) => (a.slug < b.slug ? -1 : 1));
  return {
    toolkits: new Map(toolkits.map((toolkit) => [toolkit.slug, toolkit])),
    tools: new Map(tools.map((tool) => [tool.slug, tool])),
  };
}

/**
 * Returns the definition files of a toolkit with the operator's changes to them (the overlay in the deployment file). Does not check the
 * result.
 */
export function overlay(files: ToolkitFiles, deployment: Deployment): ToolkitFiles {
  const patches = deployment.toolkits.get(files.folder)?.overlay;
  if (patches === undefined) return files;
  const tools = [...files.tools].map(([name, file]) => {
    return [name, overlayDefinition(file, patches.tools?.[name], deployment.file)] as const;
  });
  // The result has no digest of a checked definition: the overlay changes the definition, so it must be checked again.
  return {
    folder: files.folder,
    toolkit: overlayDefinition(files.toolkit, patches.toolkit, deployment.file),
    tools: new Map(tools),
    sayings: files.sayings,
  };
}

/** Checks that the toolkits and tools named in a deployment file exist. Returns the file with the errors that were found. */
export function checkNames(deployment: Deployment, files: readonly ToolkitFiles[]): DefinitionFile {
  const file = createDefinitionFile(deployment.file, undefined, deployment.lineOf);
  for (const [slug, bindings] of deployment.toolkits) {
    const toolkit = files.find(({ folder }) => folder === slug);
    if (toolkit === undefined) {
      const known = files.map(({ folder }) => folder).join(", ");
      file.fault(["toolkits", slug], "is not a toolkit of the definition folders", `use one of ${known}, or remove it`);
      continue;
    }
    for (const name of Object.keys(bindings.overlay?.tools ?? {})) {
      if (toolkit.tools.has(name)) continue;
      const path = ["toolkits", slug, "overlay", "tools", name];
      file.fault(path, "is not a tool of the toolkit", "name one that it has, or remove it");
    }
    checkHost(file, bindings, toolkit);
  }
  return file;
}

/**
 * Checks the base URL of a toolkit's app that has placeholders in the host. Each placeholder must get a value in every call: from account
 * variables, or from arguments with a pattern. Otherwise the host could be missing or wrong.
 */
function checkHost(
  file: DefinitionFile,
  bindings: ToolkitDeploymentDocument,
  { folder, toolkit, tools }: ToolkitFiles,
) {
  const path = ["toolkits", folder, "provider_base_url"];
  const { account } = toolkit.value as Partial<ToolkitDocument>;
  for (const { root, path: steps, text } of placeholdersOf(parseTemplate(bindings.provider_base_url ?? ""))) {
    const name = String(steps[0]);
    if (root === "account" && !account?.some((variable) => variable.name === name)) {
      file.fault(path, `{{${text}}} is not an account variable of the toolkit`, "name one that it declares");
    }
    const without = root === "params" ? [...tools].filter(([, tool]) => !takesHost(tool.value, name)) : [];
    if (without.length > 0) {
      const reason = `{{${text}}} is not a required argument with a pattern of ${without.map(([tool]) => tool).join(", ")}`;
      file.fault(path, reason, `declare ${name} there, or write the host out`);
    }
  }
}

function takesHost(tool: unknown, name: string): boolean {
  if (!isObject(tool) || tool.kind !== "action" || !isObject(tool.input)) return true;
  const { properties, required } = tool.input;
  const argument = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  const isGiven = Array.isArray(required) && required.includes(name);
  return isObject(argument) && typeof argument.pattern === "string" && (isGiven || argument.default !== undefined);
}

/**
 * Returns a definition file of a toolkit with the operator's changes (the overlay in the deployment file) applied as a JSON Merge Patch
 * (RFC 7396). Errors in the result name both files.
 */
export function overlayDefinition(
  file: DefinitionFile,
  patch: object | undefined,
  deploymentFile: string,
): DefinitionFile {
  if (patch === undefined || file.faults.length > 0) return file;
  const name = `${file.file} (with the overlay of ${deploymentFile})`;
  const merged = mergePatch(file.value, patch);
  const paged = Object.hasOwn(patch, "paging") ? merged : withSoundPaging(merged);
  return createDefinitionFile(name, Object.hasOwn(patch, "poll") ? paged : withSoundPoll(paged), file.lineOf);
}

/**
 * Returns a tool's definition. Removes its `paging` if the overlay (the operator's changes to a definition) has removed an argument or
 * field that the paging uses. So an overlay that was written before the definition had paging does not become invalid. If the overlay
 * itself sets the paging, do not call this function: an error in that paging must be reported.
 */
function withSoundPaging(definition: unknown): unknown {
  if (!isObject(definition) || !isObject(definition.paging)) return definition;
  const { paging, ...others } = definition;
  const { arg, from, more } = paging as { readonly [name: string]: unknown };
  const hasForm = [arg, from ?? "", more ?? ""].every((text) => typeof text === "string");
  // If the paging, the input or the output of the tool is malformed, the definition stays unchanged here. Another check reports the
  // malformed part.
  if (!hasForm || !isObject(definition.input) || !isObject(definition.output)) return definition;
  return faultsOfPaging(definition).length === 0 ? definition : others;
}

/**
 * Returns an action's definition. Removes its `poll` (the rule that finds new rows) if the poll has become invalid through the operator's
 * overlay. If the poll, the input or the output is malformed, returns the definition unchanged, because another check reports that error.
 */
function withSoundPoll(definition: unknown): unknown {
  if (!isObject(definition) || definition.poll === undefined) return definition;
  const { poll, ...others } = definition;
  if (!isPollDocument(poll) || !isObject(definition.input) || !isObject(definition.output)) return definition;
  const access = definition.class === "read" ? "read" : "write";
  const { input, output } = definition;
  return faultsOfPoll({ poll, class: access, input, output }).length === 0 ? definition : others;
}

/** Returns a JSON value with a JSON Merge Patch (RFC 7396) applied. Changes neither of the two values. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}

/** Checks that all folders together contain each toolkit slug only once. Records an error for each further toolkit with the same slug. */
function checkDistinct(toolkits: readonly ToolkitFiles[]): void {
  const first = new Map<string, string>();
  for (const { folder, toolkit } of toolkits) {
    const other = first.get(folder);
    if (other === undefined) first.set(folder, toolkit.file);
    else toolkit.fault(["slug"], `"${folder}" is taken by ${other}`, "rename one of the two, or load one folder only");
  }
}

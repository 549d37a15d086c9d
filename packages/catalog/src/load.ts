import { type Bindings, buildToolkit, type ToolkitDocuments } from "./build.ts";
import { checkAction } from "./check-action.ts";
import { checkShape } from "./check-shape.ts";
import { checkTool } from "./check-tool.ts";
import { accountNames, checkToolkit } from "./check-toolkit.ts";
import { checkTrigger } from "./check-trigger.ts";
import { DefinitionError } from "./definition-error.ts";
import { createDefinitionFile, type DefinitionFile } from "./definition-file.ts";
import type { Deployment } from "./deployment.ts";
import type { ToolDocument, ToolkitDocument } from "./documents.ts";
import { matchesEverything } from "./match.ts";
import type { Catalog, Tool } from "./model.ts";
import { overlayDefinition } from "./overlay.ts";
import { readDefinitions, type ToolkitFiles } from "./read-definitions.ts";

/**
 * Loads every toolkit of the folders (SVC_TOOLKITS). Rejects with DefinitionError, which lists all faults of all files.
 * Without a deployment every webhook's audience is `projects`; with one it is what the deployment says, else `accounts`.
 */
export async function loadCatalog(options: {
  folders: readonly string[];
  deployment?: Deployment | undefined;
}): Promise<Catalog> {
  const { toolkits, unreadable } = await readDefinitions(options.folders);
  return createCatalog(toolkits, options.deployment, unreadable);
}

/** Checks and compiles definitions that were read. Throws DefinitionError, also for faults that `others` bring along. */
export function createCatalog(
  toolkits: readonly ToolkitFiles[],
  deployment: Deployment | undefined,
  others: readonly DefinitionFile[] = [],
): Catalog {
  const overlaid = toolkits.map((files) => (deployment === undefined ? files : overlay(files, deployment)));
  const documents = overlaid.map(checkFiles);
  const checked = [...others, ...overlaid.flatMap(({ toolkit, tools }) => [toolkit, ...tools.values()])];
  if (deployment !== undefined) checked.push(checkNames(deployment, overlaid));
  checkDistinct(overlaid, documents);
  const faults = checked.flatMap((file) => file.faults);
  if (faults.length > 0) throw new DefinitionError(faults);
  return index(
    documents.filter((found) => found !== undefined),
    deployment,
  );
}

function index(documents: readonly ToolkitDocuments[], deployment: Deployment | undefined): Catalog {
  const audience: Bindings["audience"] = deployment === undefined ? "projects" : "accounts";
  const toolkits = documents
    .map((found) => buildToolkit(found, { values: deployment?.toolkits.get(found.toolkit.slug) ?? {}, audience }))
    .sort((a, b) => (a.slug < b.slug ? -1 : 1));
  const tools: Tool[] = toolkits.flatMap((toolkit) => [...toolkit.actions, ...toolkit.triggers]);
  tools.sort((a, b) => (a.slug < b.slug ? -1 : 1));
  return {
    toolkits: new Map(toolkits.map((toolkit) => [toolkit.slug, toolkit])),
    tools: new Map(tools.map((tool) => [tool.slug, tool])),
  };
}

/** Checks one toolkit's files. The documents are there when toolkit.yaml and every tool have their shape. */
function checkFiles({ folder, toolkit, tools }: ToolkitFiles): ToolkitDocuments | undefined {
  const shaped = new Map<string, ToolDocument>();
  for (const [name, file] of tools) {
    if (file.faults.length > 0 || !checkShape(file, "tool")) continue;
    shaped.set(name, file.value as ToolDocument);
    checkTool(file, file.value as ToolDocument, name);
  }
  if (toolkit.faults.length > 0 || !checkShape(toolkit, "toolkit")) return undefined;
  const document = toolkit.value as ToolkitDocument;
  checkToolkit(toolkit, document, folder);
  for (const [name, tool] of shaped) {
    const file = tools.get(name);
    if (file === undefined) continue;
    if (tool.kind === "action") checkAction(file, tool, accountNames(document));
    else checkTrigger(file, tool, document);
  }
  checkTogether(toolkit, document, { tools, shaped });
  return shaped.size === tools.size ? { toolkit: document, tools: shaped } : undefined;
}

/** The rules that hold between a toolkit and its tools. */
function checkTogether(
  file: DefinitionFile,
  document: ToolkitDocument,
  { tools, shaped }: { tools: ToolkitFiles["tools"]; shaped: ReadonlyMap<string, ToolDocument> },
): void {
  if (tools.size === 0) file.fault([], "the toolkit has no tool", "add tools/<tool>.yaml");
  const triggers = [...shaped].filter(([, tool]) => tool.kind === "trigger");
  if (triggers.length > 0 && document.webhook === undefined) {
    file.fault(["webhook"], `is missing, and "${triggers[0]?.[0]}" is a trigger`, "declare how its posts are verified");
  }
  for (const [name, tool] of triggers) {
    if (tool.kind === "trigger" && triggers.length > 1 && matchesEverything(tool.match)) {
      tools
        .get(name)
        ?.fault(["match"], "matches every post, and the toolkit has other triggers", "name what tells its posts apart");
    }
  }
  if (document.identify === undefined) return;
  const identify = shaped.get(document.identify.tool);
  if (identify === undefined && !tools.has(document.identify.tool)) {
    file.fault(
      ["identify", "tool"],
      `"${document.identify.tool}" is not a tool of the toolkit`,
      "name one of its read actions",
    );
  } else if (identify !== undefined && !(identify.kind === "action" && identify.class === "read")) {
    file.fault(
      ["identify", "tool"],
      `"${document.identify.tool}" is not a read action`,
      "name one: connecting changes nothing",
    );
  }
}

/** A slug is served once, whichever folder it comes from. */
function checkDistinct(files: readonly ToolkitFiles[], documents: readonly (ToolkitDocuments | undefined)[]): void {
  const first = new Map<string, string>();
  files.forEach(({ toolkit }, position) => {
    const slug = documents[position]?.toolkit.slug;
    if (slug === undefined) return;
    const other = first.get(slug);
    if (other === undefined) first.set(slug, toolkit.file);
    else toolkit.fault(["slug"], `"${slug}" is taken by ${other}`, "rename one of the two, or load one folder only");
  });
}

function overlay(files: ToolkitFiles, deployment: Deployment): ToolkitFiles {
  const patches = deployment.toolkits.get(files.folder)?.overlay;
  if (patches === undefined) return files;
  const tools = [...files.tools].map(([name, file]) => {
    return [name, overlayDefinition(file, patches.tools?.[name], deployment.file)] as const;
  });
  return {
    folder: files.folder,
    toolkit: overlayDefinition(files.toolkit, patches.toolkit, deployment.file),
    tools: new Map(tools),
  };
}

/** Every toolkit and tool that a deployment names exists. */
function checkNames(deployment: Deployment, files: readonly ToolkitFiles[]): DefinitionFile {
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
      file.fault(
        ["toolkits", slug, "overlay", "tools", name],
        "is not a tool of the toolkit",
        "name one that it has, or remove it",
      );
    }
  }
  return file;
}

import { type Bindings, buildToolkit } from "./build.ts";
import { checkDefinitions, checkDistinct } from "./check-definitions.ts";
import { DefinitionError } from "./definition-error.ts";
import { createDefinitionFile, type DefinitionFile } from "./definition-file.ts";
import type { Deployment } from "./deployment.ts";
import type { ToolDocument, ToolkitDocument } from "./documents.ts";
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
  for (const files of overlaid) checkDefinitions(files);
  checkDistinct(overlaid);
  const checked = [...others, ...overlaid.flatMap(({ toolkit, tools }) => [toolkit, ...tools.values()])];
  if (deployment !== undefined) checked.push(checkNames(deployment, overlaid));
  const faults = checked.flatMap((file) => file.faults);
  if (faults.length > 0) throw new DefinitionError(faults);
  return build(overlaid, deployment);
}

/** Compiles files that have no fault. */
function build(files: readonly ToolkitFiles[], deployment: Deployment | undefined): Catalog {
  const audience: Bindings["audience"] = deployment === undefined ? "projects" : "accounts";
  const toolkits = files.map(({ folder, toolkit, tools }) => {
    const documents = {
      toolkit: toolkit.value as ToolkitDocument,
      tools: new Map([...tools].map(([name, file]) => [name, file.value as ToolDocument])),
    };
    return buildToolkit(documents, { values: deployment?.toolkits.get(folder) ?? {}, audience });
  });
  toolkits.sort((a, b) => (a.slug < b.slug ? -1 : 1));
  const tools: Tool[] = toolkits.flatMap((toolkit) => [...toolkit.actions, ...toolkit.triggers]);
  tools.sort((a, b) => (a.slug < b.slug ? -1 : 1));
  return {
    toolkits: new Map(toolkits.map((toolkit) => [toolkit.slug, toolkit])),
    tools: new Map(tools.map((tool) => [tool.slug, tool])),
  };
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

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type Catalog,
  createCatalog,
  createDefinitionFile,
  type Deployment,
  type ToolDocument,
  type ToolkitDocument,
  toDeployment,
} from "@svc/catalog";

/**
 * The definition of a toolkit (one app's tools and webhooks) in memory, with the contents of its YAML files. `tools`: the tools by name.
 */
export type ToolkitSource = {
  readonly toolkit: ToolkitDocument;
  readonly tools: Readonly<Record<string, ToolDocument>>;
};

/**
 * Returns a catalog of definitions that are in memory. `deployment`: content of the deployment file. Throws DefinitionError as loading from
 * files does.
 */
export function catalogOf(source: { toolkits: readonly ToolkitSource[]; deployment?: object }): Catalog {
  const files = source.toolkits.map(({ toolkit, tools }) => ({
    folder: toolkit.slug,
    toolkit: createDefinitionFile(`${toolkit.slug}/toolkit.yaml`, toolkit),
    tools: new Map(
      Object.entries(tools).map(([name, tool]) => {
        return [name, createDefinitionFile(`${toolkit.slug}/tools/${name}.yaml`, tool)];
      }),
    ),
  }));
  const deployment = source.deployment && deploymentOf(source.deployment);
  return createCatalog(files, { deployment, audience: deployment === undefined ? "projects" : "accounts" });
}

/** Returns a deployment from the content of its file. Throws DefinitionError as loading from a file does. */
export function deploymentOf(document: object): Deployment {
  return toDeployment(createDefinitionFile("deployment.yaml", document));
}

/** Writes definitions to a folder, for tests that start a server with SVC_TOOLKITS. The files contain JSON, which is also YAML. */
export async function writeToolkits(folder: string, toolkits: readonly ToolkitSource[]): Promise<void> {
  for (const { toolkit, tools } of toolkits) {
    const path = join(folder, toolkit.slug);
    await mkdir(join(path, "tools"), { recursive: true });
    await writeFile(join(path, "toolkit.yaml"), JSON.stringify(toolkit, undefined, 2));
    for (const [name, tool] of Object.entries(tools)) {
      await writeFile(join(path, "tools", `${name}.yaml`), JSON.stringify(tool, undefined, 2));
    }
  }
}

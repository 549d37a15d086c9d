import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import type { Catalog, Deployment, FileFault } from "@svc/catalog";
import { createId, isObject, readForeignText, systemClock } from "@svc/core";
import { localConfig } from "../../command/client.ts";
import type { CommandContext } from "../../command/context.ts";
import { command, type Run } from "../../command/declared.ts";
import { CommandError } from "../../command/error.ts";
import type { JsonOption } from "../../command/options.ts";
import { countText } from "../../text/table.ts";
import { parsePrivateFolder, readToolkitFolder } from "./toolkit-folder.ts";

type CheckOptions = JsonOption & { deployment?: string; private?: true };

/** The command `svc toolkits check`, which checks toolkit definitions without a running service and prints every error. */
export const addCatalogCheck = command(
  undefined,
  {
    says: "check toolkit definitions without a service, as its start does, and print every problem",
    takes: { "[folder...]": "folders of toolkits, or of one toolkit each (default: those of SVC_TOOLKITS)" },
    options: [
      ["--deployment <file>", "deployment file to check them with (default: SVC_DEPLOYMENT)"],
      [
        "--private",
        "check all of them as private toolkits, by the rules of `svc toolkits publish`",
        { conflicts: "deployment" },
      ],
    ],
    json: "counts and problems as JSON",
    more: "\nIf folders are given, the deployment file's entries for other toolkits are ignored. A toolkit in them whose webhook\nhas no secretEnv is checked as a private toolkit.\nThe exit code is 1 if there is a problem.",
    client: "none",
    examples: [
      "svc toolkits check",
      "svc toolkits check my-toolkits",
      "svc toolkits check toolkits/calendar --deployment deployment.yaml",
      "svc toolkits check my-toolkits/help_desk --private",
    ],
  },
  async ({ values: options, context, asJson }: Run<CheckOptions & { readonly folder: string[] }>) => {
    const { folder: given } = options;
    const { folders, deploymentFile } = await placesOf(given, options, context);
    const { own, others } = await splitToolkits(folders, async (folder) => {
      return options.private === true || (given.length > 0 && (await lacksSecretEnv(join(folder, "toolkit.yaml"))));
    });
    await using parents = await openParents(others);
    const startMs = systemClock.now();
    const loaded = [
      ...(own.length === 0 ? [] : [await loadPrivate(own)]),
      ...(others.length === 0 ? [] : [await load(parents.folders, deploymentFile, given.length > 0)]),
    ];
    const { catalog, faults } = joined(loaded);
    const elapsedMs = Math.round(systemClock.now() - startMs);
    if (asJson) context.print(checkJson(catalog, faults, parents.restore));
    if (catalog === undefined) {
      for (const fault of asJson ? [] : faults) context.print(faultLine(fault, parents.restore));
      if (faults.some(({ path, reason }) => path === "webhook.secretEnv" && reason === "is missing"))
        context.note(
          "A private toolkit has no secretEnv: keep it outside of SVC_TOOLKITS, or check it with --private.",
        );
      throw new CommandError(`${countText(faults.length, "problem")} in ${folders.map(shortPath).join(", ")}`);
    }
    if (catalog.toolkits.size === 0) {
      throw new CommandError(
        `there is no toolkit in ${folders.map(shortPath).join(", ")}: a toolkit is a folder <slug> with toolkit.yaml and tools/<tool>.yaml`,
      );
    }
    if (!asJson) context.print(`${summaryText(catalog)}: no problems (${elapsedMs} ms)`);
    if (own.length > 0 && options.private !== true)
      context.note(`Checked as private toolkits, because they have no secretEnv: ${own.map(shortPath).join(", ")}.`);
  },
);

async function placesOf(given: readonly string[], options: CheckOptions, context: CommandContext) {
  if (given.length > 0) {
    const { deploymentFile } = await localConfig(context, "SVC_DEPLOYMENT");
    return { folders: given, deploymentFile: options.deployment ?? deploymentFile };
  }
  const config = await localConfig(context, "SVC_TOOLKITS", "SVC_DEPLOYMENT");
  return { folders: config.toolkitFolders, deploymentFile: options.deployment ?? config.deploymentFile };
}

type Parents = AsyncDisposable & {
  /** Folders whose subfolders are toolkits (apps with their tools and webhooks). The loader of definitions accepts only such folders. */
  readonly folders: readonly string[];
  /**
   * Returns an error message of the loader of toolkit definitions (YAML files of apps) for the user. The path of the user's folder replaces
   * the path of the temporary folder that was loaded.
   */
  restore(text: string): string;
};

/**
 * Returns the folders that contain the folders of toolkits (apps with their tools), because the loader reads only such parent folders. If
 * the user named the folder of a single toolkit, the function creates a temporary parent folder that contains only this toolkit.
 */
async function openParents(folders: readonly string[]): Promise<Parents> {
  if (!folders.some(isToolkit)) {
    return { folders, restore: (text) => text, [Symbol.asyncDispose]: async () => {} };
  }
  const temporary = await mkdtemp(join(tmpdir(), "svc-check-"));
  const named = new Map<string, string>();
  const parents = folders.map(async (folder, index) => {
    if (!isToolkit(folder)) return folder;
    const parent = join(temporary, String(index));
    const link = join(parent, basename(resolve(folder)));
    await mkdir(parent);
    await symlink(resolve(folder), link);
    named.set(link, dirname(join(folder, "toolkit.yaml")));
    return parent;
  });
  return {
    folders: await Promise.all(parents),
    restore: (text) => [...named].reduce((done, [link, folder]) => done.replaceAll(link, folder), text),
    [Symbol.asyncDispose]: () => rm(temporary, { recursive: true, force: true }),
  };
}

function isToolkit(folder: string): boolean {
  return existsSync(join(folder, "toolkit.yaml"));
}

type Loaded = { catalog: Catalog | undefined; faults: readonly FileFault[] };

/**
 * Loads the definitions together with the deployment file. If the deployment file has errors, its valid parts are still used, so that
 * errors in the definitions are also found.
 */
async function load(folders: readonly string[], deploymentFile: string | undefined, isPart: boolean): Promise<Loaded> {
  const { checkDeployment, loadCatalog } = await import("@svc/catalog");
  const checked = deploymentFile === undefined ? undefined : await checkDeployment(deploymentFile);
  const whole = checked?.deployment;
  const deployment = whole !== undefined && isPart ? await partOf(whole, folders) : whole;
  const { value: catalog, faults } = await faultsOf(() => loadCatalog({ folders, deployment }));
  const all = [...(checked?.faults ?? []), ...faults];
  return { catalog: all.length === 0 ? catalog : undefined, faults: all };
}

/**
 * Divides toolkit folders into two lists: `own` has the private toolkits, `others` has the rest. A folder that contains a private toolkit
 * is replaced by the toolkits in it.
 */
async function splitToolkits(folders: readonly string[], isPrivate: (folder: string) => Promise<boolean>) {
  const own: string[] = [];
  const others: string[] = [];
  for (const folder of folders) {
    const names = isToolkit(folder) ? [""] : await readdir(folder).catch(() => []);
    const toolkits = names
      .sort()
      .map((name) => join(folder, name))
      .filter(isToolkit);
    const found = new Set<string>();
    for (const toolkit of toolkits) if (await isPrivate(toolkit)) found.add(toolkit);
    own.push(...found);
    others.push(...(found.size === 0 ? [folder] : toolkits.filter((toolkit) => !found.has(toolkit))));
  }
  return { own, others };
}

/** True if a toolkit file declares a webhook without the environment variable that holds its secret. Only private toolkits may do this. */
async function lacksSecretEnv(file: string): Promise<boolean> {
  const { parseDefinitionFile } = await import("@svc/catalog");
  const read = readForeignText(await readFile(file));
  // The check of the file reports bytes that are not text.
  if ("fault" in read) return false;
  const { value } = parseDefinitionFile(file, read.text);
  const webhook = isObject(value) ? value["webhook"] : undefined;
  return isObject(webhook) && !Object.hasOwn(webhook, "secretEnv");
}

/** Returns one catalog with the toolkits of several loaded catalogs. If any of them has errors, returns the errors of all instead. */
function joined(parts: readonly Loaded[]): Loaded {
  const faults = parts.flatMap((part) => part.faults);
  const catalogs = parts.flatMap(({ catalog }) => catalog ?? []);
  if (catalogs.length < parts.length) return { catalog: undefined, faults };
  const toolkits = new Map(catalogs.flatMap((catalog) => [...catalog.toolkits]));
  return { catalog: { toolkits, tools: new Map(catalogs.flatMap((catalog) => [...catalog.tools])) }, faults };
}

/** Loads the definitions of private toolkits (apps that a project defines for itself) from their folders, by the rules of publishing. */
async function loadPrivate(folders: readonly string[]): Promise<Loaded> {
  const toolkits = [];
  const faults: FileFault[] = [];
  for (const folder of folders) {
    const parsed = await parsePrivateFolder(await readToolkitFolder(folder), createId("prj", systemClock.now()));
    if ("faults" in parsed) faults.push(...parsed.faults);
    else toolkits.push(parsed.toolkit);
  }
  if (faults.length > 0) return { catalog: undefined, faults };
  const tools = toolkits.flatMap(({ actions, triggers }) => [...actions, ...triggers]);
  const catalog = {
    toolkits: new Map(toolkits.map((toolkit) => [toolkit.slug, toolkit])),
    tools: new Map(tools.map((tool) => [tool.slug, tool])),
  };
  return { catalog, faults };
}

async function faultsOf<T>(run: () => Promise<T>): Promise<{ value?: T; faults: readonly FileFault[] }> {
  const { DefinitionError } = await import("@svc/catalog");
  try {
    return { value: await run(), faults: [] };
  } catch (err) {
    if (err instanceof DefinitionError) return { faults: err.faults };
    throw err;
  }
}

/** Returns the part of a deployment that concerns the toolkits (apps with their tools) in these folders. */
async function partOf(deployment: Deployment, folders: readonly string[]): Promise<Deployment> {
  const lists = folders.map((folder) => readdir(folder).catch(() => []));
  const names = new Set((await Promise.all(lists)).flat());
  return { ...deployment, toolkits: new Map([...deployment.toolkits].filter(([slug]) => names.has(slug))) };
}

function checkJson(
  catalog: Catalog | undefined,
  faults: readonly FileFault[],
  restore: (text: string) => string,
): string {
  const counts = { toolkits: catalog?.toolkits.size ?? 0, tools: catalog?.tools.size ?? 0 };
  const told = faults.map((fault) => ({ ...fault, file: shortPath(restore(fault.file)) }));
  return JSON.stringify({ ...counts, faults: told }, undefined, 2);
}

function faultLine({ file, line, path, reason, cure }: FileFault, restore: (text: string) => string): string {
  const place = line === undefined ? shortPath(restore(file)) : `${shortPath(restore(file))}:${line}`;
  return restore(`${place}${path === "" ? "" : ` ${path}`}: ${reason}; ${cure}`);
}

/** Returns a path relative to the working folder if it is inside that folder. Returns any other path unchanged. */
function shortPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short === "" || short.startsWith("..") ? path : short;
}

function summaryText({ toolkits, tools }: Catalog): string {
  const all = [...tools.values()];
  const actions = all.filter(({ kind }) => kind === "action");
  const classes = ["read", "write", "destructive"].map((access) => {
    return `${actions.filter((action) => action.class === access).length} ${access}`;
  });
  const counts = [countText(toolkits.size, "toolkit"), `${countText(actions.length, "tool")} (${classes.join(", ")})`];
  return [...counts, countText(all.length - actions.length, "trigger")].join(", ");
}

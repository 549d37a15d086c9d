import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FileFault, Toolkit } from "@svc/catalog";
import { type ProjectId, requireText } from "@svc/core";
import { CommandError } from "../../command/error.ts";

/** A YAML file of a toolkit (svc's definition of one app). It includes the line number of each value in the file. */
type SourceFile = {
  readonly file: string;
  readonly value: unknown;
  readonly faults: readonly FileFault[];
  lineOf(steps: readonly (string | number)[]): number | undefined;
};

/**
 * The files of one toolkit (one app with its tools). `faults`: files that are not valid YAML, and files in the folder `tools` that are not
 * named `.yaml`. A file that is not valid YAML has no value.
 */
export type ToolkitFolder = {
  readonly folder: string;
  readonly toolkit: SourceFile;
  readonly tools: ReadonlyMap<string, SourceFile>;
  readonly faults: readonly FileFault[];
};

/**
 * Reads the files of a toolkit (the tools and webhooks of one app). Rejects with CommandError if the folder has no such files, or if one of
 * them cannot be read.
 */
export async function readToolkitFolder(folder: string): Promise<ToolkitFolder> {
  const toolsFolder = join(folder, "tools");
  const names = (await entriesOf(toolsFolder)).filter((name) => !name.startsWith(".")).sort();
  const others = names.filter((name) => !name.endsWith(".yaml"));
  const toolNames = names.filter((name) => name.endsWith(".yaml")).map((name) => name.slice(0, -".yaml".length));
  const [toolkit, ...tools] = await Promise.all([
    readSource(join(folder, "toolkit.yaml")),
    ...toolNames.map((name) => readSource(join(toolsFolder, `${name}.yaml`))),
  ]);
  const faults = [
    ...[toolkit, ...tools].flatMap((file) => file.faults),
    ...others.map((name) => ({
      ...{ file: join(toolsFolder, name), path: "", reason: "is not a .yaml file" },
      cure: "rename it to <tool>.yaml, or move it away",
    })),
  ];
  return { folder, toolkit, tools: new Map(tools.map((file, index) => [toolNames[index] ?? "", file])), faults };
}

async function entriesOf(toolsFolder: string): Promise<string[]> {
  try {
    return await readdir(toolsFolder);
  } catch {
    throw new CommandError(
      `${toolsFolder} cannot be listed: name the folder of one toolkit, which contains toolkit.yaml and tools`,
    );
  }
}

async function readSource(file: string): Promise<SourceFile> {
  const text = await readFile(file)
    .then(requireText)
    .catch((err: NodeJS.ErrnoException) => {
      throw new CommandError(`${file} cannot be read: ${err.message}`);
    });
  const { isNode, LineCounter, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const problems = [...document.errors, ...document.warnings];
  return {
    file,
    value: problems.length > 0 ? undefined : document.toJS({ maxAliasCount: 100 }),
    faults: problems.map(({ pos, message }) => ({
      ...{ file, line: lines.linePos(pos[0]).line, path: "", reason: message, cure: "write it as YAML 1.2" },
    })),
    lineOf(steps) {
      for (let length = steps.length; length > 0; length--) {
        const node = document.getIn(steps.slice(0, length), true);
        if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
      }
      return undefined;
    },
  };
}

/**
 * Returns the files of a toolkit (one app's tools and webhooks) as one JSON text, in the form in which a project's own toolkit is
 * published.
 */
export function definitionJsonOf({ toolkit, tools }: ToolkitFolder): string {
  const values = Object.fromEntries([...tools].map(([name, file]) => [name, file.value]));
  return JSON.stringify({ toolkit: toolkit.value, tools: values });
}

/**
 * Returns the file, the line and the path of a value of a toolkit's definition, for error messages. `field`: position of the value in the
 * whole definition, such as `tools.list_orders.input` or `toolkit.webhook`; empty for the whole definition.
 */
export function placeOf(
  { folder, toolkit, tools }: ToolkitFolder,
  field: string,
): Pick<FileFault, "file" | "line" | "path"> {
  const files = [["toolkit", toolkit] as const, ...[...tools].map(([name, file]) => [`tools.${name}`, file] as const)];
  const found = files.find(([prefix]) => field === prefix || field.startsWith(`${prefix}.`));
  if (found === undefined) return { file: folder, path: field };
  const [prefix, file] = found;
  const path = field.slice(prefix.length + 1);
  const line = file.lineOf(stepsOf(path));
  return { file: file.file, ...(line !== undefined && { line }), path };
}

/** Returns the steps of a path. For `intents[2]`, the steps are `intents` and 2. */
function stepsOf(path: string): (string | number)[] {
  const steps = path.match(/[^.[\]]+|\[\d+\]/g) ?? [];
  return steps.map((step) => (step.startsWith("[") ? Number(step.slice(1, -1)) : step));
}

/**
 * Returns the toolkit (definition of one app) of these files, compiled by the rules for toolkits that a project publishes. Otherwise
 * returns all errors of the files.
 */
export async function parsePrivateFolder(
  files: ToolkitFolder,
  projectId: ProjectId,
): Promise<{ readonly toolkit: Toolkit } | { readonly faults: readonly FileFault[] }> {
  if (files.faults.length > 0) return { faults: files.faults };
  const { DefinitionError, parsePrivateToolkit } = await import("@svc/catalog");
  try {
    return { toolkit: await parsePrivateToolkit(definitionJsonOf(files), projectId) };
  } catch (err) {
    if (!(err instanceof DefinitionError)) throw err;
    const fieldOf = ({ file, path }: FileFault) =>
      file === "definition" ? path : [file, path].filter(Boolean).join(".");
    return { faults: err.faults.map((fault) => ({ ...fault, ...placeOf(files, fieldOf(fault)) })) };
  }
}

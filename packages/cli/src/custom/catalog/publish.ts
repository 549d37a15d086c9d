import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { requireText } from "@svc/core";
import { CatalogService, PublishToolkitResponseSchema } from "@svc/gen/catalog";
import { ConnectError, type SvcErrorDetail, svcErrorDetails } from "@svc/sdk";
import type { CommandContext } from "../../command/context.ts";
import { command, type Run } from "../../command/declared.ts";
import { CommandError } from "../../command/error.ts";
import { messageText } from "../../text/message.ts";
import { countText } from "../../text/table.ts";

type PublishOptions = { readonly dryRun?: true; readonly folder: string };

/** The command `svc catalog publish`. */
export const addCatalogPublish = command(
  CatalogService.method.publishToolkit,
  {
    says: "publish a toolkit for the key's project, replacing an earlier one of the same slug; needs an approver's key",
    takes: { "<folder>": "folder of the toolkit, with toolkit.yaml and tools/<tool>.yaml" },
    options: [["--dry-run", "check the toolkit on the service without storing it"]],
    examples: ["svc catalog publish my-toolkits/task_list --dry-run", "svc catalog publish my-toolkits/task_list"],
  },
  async ({ values: options, context, project, asJson }: Run<PublishOptions>) => {
    const { folder } = options;
    const { toolkit: toolkitFile, tools } = await readToolkit(folder, context);
    const client = await project();
    const definition = {
      toolkit: toolkitFile.value,
      tools: Object.fromEntries([...tools].map(([name, file]) => [name, file.value])),
    };
    try {
      const published = await client.catalog.publishToolkit({
        definitionJson: JSON.stringify(definition),
        dryRun: options.dryRun ?? false,
      });
      if (asJson) return context.print(messageText(PublishToolkitResponseSchema, published));
      const { toolkit, toolSlugs } = published;
      const text = `${toolkit?.slug} ${toolkit?.version} with ${countText(toolSlugs.length, "tool")}`;
      const outcome = options.dryRun ? "can be published in" : "is published in";
      context.print(`${text} ${outcome} project ${toolkit?.ownerProjectId}`);
    } catch (err) {
      const details = err instanceof ConnectError ? svcErrorDetails(err) : [];
      const found = details.filter(({ reason }) => reason === "DEFINITION_INVALID");
      if (found.length === 0) throw err;
      for (const detail of found) context.print(faultLine(detail, { folder, toolkit: toolkitFile, tools }));
      const count =
        found.length < detailsMax ? countText(found.length, "problem") : `the first ${detailsMax} of its problems`;
      throw new CommandError(`the service refuses ${folder}: ${count}, nothing is published`);
    }
  },
);

/** Maximum number of errors that the server names in one answer. */
const detailsMax = 100;

/** A YAML file of the toolkit. It includes the line number of each value in the file. */
type SourceFile = {
  readonly file: string;
  readonly value: unknown;
  readonly faults: readonly string[];
  lineOf(steps: readonly (string | number)[]): number | undefined;
};

type SourceFiles = { readonly toolkit: SourceFile; readonly tools: ReadonlyMap<string, SourceFile> };

/** Returns the files of a toolkit. Rejects with CommandError if a file cannot be read, or if its name or contents are not valid. */
async function readToolkit(folder: string, context: CommandContext): Promise<SourceFiles> {
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
    ...others.map(
      (name) => `${join(toolsFolder, name)}: is not a .yaml file; rename it to <tool>.yaml, or move it away`,
    ),
  ];
  for (const fault of faults) context.print(fault);
  if (faults.length > 0) throw new CommandError(`${countText(faults.length, "problem")} in ${folder}: nothing is sent`);
  return { toolkit, tools: new Map(tools.map((file, index) => [toolNames[index] ?? "", file])) };
}

async function entriesOf(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch {
    throw new CommandError(
      `${folder} cannot be listed: name the folder of one toolkit, which contains toolkit.yaml and tools`,
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
    faults: problems.map(({ pos, message }) => {
      return `${file}:${lines.linePos(pos[0]).line}: ${message}; write it as YAML 1.2`;
    }),
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
 * Returns a line that describes an error in a definition, with its file and line. The server names the position as
 * `definitionJson.tools.<tool>.<path>`.
 */
function faultLine(
  { field, help }: SvcErrorDetail,
  { folder, toolkit, tools }: SourceFiles & { folder: string },
): string {
  const place = field.replace(/^definitionJson\.?/, "");
  const files = [["toolkit", toolkit] as const, ...[...tools].map(([name, file]) => [`tools.${name}`, file] as const)];
  const found = files.find(([prefix]) => place === prefix || place.startsWith(`${prefix}.`));
  if (found === undefined) return `${folder}${place === "" ? "" : ` ${place}`}: ${help}`;
  const [prefix, file] = found;
  const path = place.slice(prefix.length + 1);
  const line = file.lineOf(stepsOf(path));
  return `${file.file}${line === undefined ? "" : `:${line}`}${path === "" ? "" : ` ${path}`}: ${help}`;
}

/** Returns the steps of a path. For `intents[2]`, the steps are `intents` and 2. */
function stepsOf(path: string): (string | number)[] {
  const steps = path.match(/[^.[\]]+|\[\d+\]/g) ?? [];
  return steps.map((step) => (step.startsWith("[") ? Number(step.slice(1, -1)) : step));
}

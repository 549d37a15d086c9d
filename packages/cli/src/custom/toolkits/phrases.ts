import { create } from "@bufbuild/protobuf";
import { isObject } from "@svc/core";
import { CatalogService, ToolPhrasesSchema } from "@svc/gen/catalog";
import { ownProjectId } from "../../command/client.ts";
import type { CommandContext } from "../../command/context.ts";
import { command, type Run } from "../../command/declared.ts";
import { CommandError } from "../../command/error.ts";
import { readText } from "../../command/input.ts";
import { plainText } from "../../text/plain.ts";
import { countText, wrappedTableLines } from "../../text/table.ts";
import { listTools } from "./show.ts";

type PhrasesValues = { readonly slug: string; readonly file?: string; readonly dryRun?: boolean };

/** Search phrases of a tool of the project, with the name of the tool. */
type NamedPhrases = { readonly tool: string; readonly phrases: string[] };

/** The command `svc toolkits phrases`, which shows or replaces the search phrases of a private toolkit. */
export const addToolkitPhrases = command(
  CatalogService.method.putToolkitPhrases,
  {
    says: "show or replace the phrases by which searches find the tools of a private toolkit",
    takes: { "<slug>": "slug of the private toolkit" },
    words: "--file",
    options: [
      [
        "--file <file>",
        "replace all phrases by those of a JSON or YAML file; - for standard input; needs an approver's key",
      ],
      ["--dry-run", "check the phrases of the file without storing them"],
    ],
    json: "the phrases by tool as JSON, in the form of the file",
    more: "\nThe file has a list of phrases for each tool: what users say who need it, such as `where is my parcel`.",
    examples: ["svc toolkits phrases shop", "svc toolkits phrases shop --file phrases.yaml --dry-run"],
  },
  async ({ values: { slug, file, dryRun = false }, context, project, asJson }: Run<PhrasesValues>) => {
    if (file === undefined && dryRun) throw new CommandError("--dry-run needs a --file whose phrases are checked", 2);
    const given = file === undefined ? undefined : await readPhrases(file, context);
    const client = await project();
    const tools: readonly NamedPhrases[] =
      given === undefined
        ? (await listTools(client, { projectId: await ownProjectId(client), toolkitSlug: slug })).map((tool) => {
            return { tool: tool.slug.slice(slug.length + 1), phrases: tool.phrases };
          })
        : (
            await client.catalog.putToolkitPhrases({
              slug,
              tools: given.map((one) => create(ToolPhrasesSchema, one)),
              dryRun,
            })
          ).tools;
    const found = tools.filter(({ phrases }) => phrases.length > 0);
    if (asJson) {
      const byTool = Object.fromEntries(found.map(({ tool, phrases }) => [tool, phrases]));
      return context.print(JSON.stringify(byTool, undefined, 2));
    }
    if (given === undefined) {
      const rows = found.flatMap(({ tool, phrases }) => phrases.map((phrase) => [tool, plainText(phrase)]));
      for (const line of wrappedTableLines(["TOOL", "PHRASE"], rows)) context.print(line);
      return;
    }
    const count = countText(
      found.reduce((sum, { phrases }) => sum + phrases.length, 0),
      "phrase",
    );
    const outcome = dryRun ? "can be stored for" : "are stored for";
    context.print(`${count} ${outcome} ${countText(found.length, "tool")} of ${slug}`);
  },
);

/** Reads phrases by tool from a JSON or YAML file. Rejects with CommandError if the file has another form. */
async function readPhrases(file: string, context: CommandContext): Promise<NamedPhrases[]> {
  const text = await readText(file, file, context);
  const { parse } = await import("yaml");
  const wrong = (problem: string) =>
    new CommandError(`${file} ${problem}: write a list of phrases under the name of each tool`);
  let read: unknown;
  try {
    read = parse(text);
  } catch (err) {
    throw wrong(`cannot be read (${err instanceof Error ? err.message.split("\n")[0] : String(err)})`);
  }
  if (!isObject(read)) throw wrong("is not an object");
  return Object.entries(read).map(([tool, phrases]) => {
    if (!Array.isArray(phrases)) throw wrong(`has no list under ${tool}`);
    return { tool, phrases: phrases.map((phrase: unknown) => textOf(phrase, { tool, wrong })) };
  });
}

function textOf(
  phrase: unknown,
  { tool, wrong }: { readonly tool: string; readonly wrong: (problem: string) => CommandError },
): string {
  if (typeof phrase === "string") return phrase;
  throw wrong(`has ${JSON.stringify(phrase)} under ${tool}, which is not text`);
}

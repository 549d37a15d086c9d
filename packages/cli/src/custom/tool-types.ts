import { type SvcClient, schemaOf, type Tool, ToolKind } from "@svc/sdk";
import { ownProjectId } from "../command/client.ts";
import { command, type Run } from "../command/declared.ts";
import { shellWord } from "../text/plain.ts";
import { toolTypesOf } from "./toolkits/schema-types.ts";
import { listTools } from "./toolkits/show.ts";

type TypesValues = { readonly toolkits?: string };

/** The command `svc types`, which prints the TypeScript types of tools for `createSvcClient<SvcTools>` of the SDK. */
export const addTypesCommand = command(
  undefined,
  {
    client: "project",
    says: "print TypeScript types of the arguments and results of tools, for the SDK",
    options: [["--toolkits <slugs>", "toolkits with commas between, such as calendar,messaging_bot (default: all)"]],
    json: "the types as one JSON text",
    examples: ["svc types --toolkits calendar > svc-tools.d.ts", "svc types > svc-tools.d.ts"],
  },
  async ({ values: { toolkits = "" }, context, project, asJson }: Run<TypesValues>) => {
    const slugs = toolkits
      .split(",")
      .map((slug) => slug.trim())
      .filter((slug) => slug !== "");
    const tools = await readTools(await project(), slugs);
    const made = slugs.length === 0 ? "svc types" : `svc types --toolkits ${shellWord(slugs.join(","))}`;
    const text = `// Made by \`${made}\`. To change it, run the command again.\n// A number of a result that a double cannot hold exactly is a text with its digits, even if its type is number.\n\n${toolTypesOf(tools.map(typedTool))}`;
    context.print(asJson ? JSON.stringify(text) : text.trimEnd());
  },
);

/** Reads the callable tools of the named toolkits, or of all toolkits. Rejects with the service's error if a toolkit does not exist. */
async function readTools(client: SvcClient, slugs: readonly string[]): Promise<readonly Tool[]> {
  const projectId = await ownProjectId(client);
  const read = async (slug: string) => {
    await client.catalog.getToolkit({ slug, projectId });
    return listTools(client, { projectId, toolkitSlug: slug });
  };
  const found = slugs.length === 0 ? [await listTools(client, { projectId })] : await Promise.all(slugs.map(read));
  return found.flat().filter(({ kind, callable }) => kind === ToolKind.ACTION && callable);
}

function typedTool({ slug, description, inputSchemaJson, outputSchemaJson }: Tool) {
  return { slug, description, input: schemaOf(inputSchemaJson), output: schemaOf(outputSchemaJson) };
}

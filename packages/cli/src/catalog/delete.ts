import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { CommandError } from "../command/error.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";

type DeleteOptions = ProjectOptions & JsonOption & { yes?: true };

/** Adds `svc catalog delete`. */
export function addCatalogDelete(catalog: Command, context: CommandContext): void {
  const remove = catalog
    .command("delete")
    .description("delete a toolkit that the project has published, and revoke the accounts connected to it")
    .argument("<slug>", "slug of the toolkit")
    .option("--yes", "do it; at a terminal it is asked for otherwise")
    .action((slug: string, options: DeleteOptions) => deleteToolkit(slug, options, context));
  addExamples(addProjectOptions(addJson(remove, "the slug as JSON")), [
    "svc catalog delete task_list",
    "svc catalog delete task_list --yes",
  ]);
}

async function deleteToolkit(slug: string, options: DeleteOptions, context: CommandContext): Promise<void> {
  const client = await openProjectClient(options, context);
  if (!options.yes) await confirmDeletion(slug, context);
  await client.catalog.deleteToolkit({ slug });
  const text = `${slug} is deleted, and the accounts connected to it are revoked`;
  context.print(options.json ? JSON.stringify({ deleted: slug }) : text);
}

/** Revoked accounts do not come back with their toolkit. Rejects with CommandError unless the person says yes. */
async function confirmDeletion(slug: string, { terminal }: CommandContext): Promise<void> {
  const what = `deletes ${slug} and revokes every account connected to it, for good`;
  if (terminal === undefined) throw new CommandError(`this ${what}: give --yes to do it; nothing is deleted`, 2);
  const answer = await terminal.ask(`This ${what}. Go on? (yes/no): `);
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new CommandError("nothing is deleted");
}

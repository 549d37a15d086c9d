import { ConnectedAccountSchema } from "@svc/gen/connections";
import { type Command, Option } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import { ownProjectId } from "../client/own-project.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, collectPair, type JsonOption } from "../command/options.ts";
import { readSecret } from "../command/secret.ts";
import { fillVariables } from "../connect/inputs.ts";
import { messageText } from "../text/message.ts";

type SetOptions = ProjectOptions &
  JsonOption & {
    clientId: string;
    secretStdin?: true;
    secretEnv?: string;
    var: Readonly<Record<string, string>>;
  };

/** Adds `svc credentials set`. */
export function addCredentialSet(credentials: Command, context: CommandContext): void {
  const set = credentials
    .command("set")
    .description("keep the project's own client id and secret of an app, in place of earlier ones")
    .argument("<toolkit>", "slug of a toolkit that declares client_credentials")
    .requiredOption("--client-id <id>", "client id that the app gave the project")
    .option("--secret-stdin", "read the client secret from standard input")
    .option("--secret-env <name>", "read it from this environment variable")
    .addOption(
      new Option("--var <name=value>", "what the toolkit wants filled in, such as a host name; as often as needed")
        .default({}, "asked for at a terminal")
        .argParser(collectPair),
    )
    .action((toolkit: string, options: SetOptions) => setCredential(toolkit, options, context));
  addProjectOptions(addJson(set, "the account as JSON")).addHelpText(
    "after",
    "\nNo option takes the secret itself. At a terminal it is asked for and not shown.",
  );
  addExamples(set, [
    "svc credentials set my_bank --client-id 4711 --secret-stdin < client-secret",
    "svc credentials set my_bank --client-id 4711 --secret-env BANK_SECRET",
  ]);
}

/** The id of the account alone goes to standard output, as with `svc connect`. */
async function setCredential(toolkitSlug: string, options: SetOptions, context: CommandContext): Promise<void> {
  const client = await openProjectClient(options, context);
  const projectId = await ownProjectId(client);
  const { spec } = await client.catalog.getToolkitConnectSpec({ slug: toolkitSlug, projectId });
  if (spec === undefined) return;
  const accountVariables = await fillVariables(options, spec, context);
  const source = { fromInput: options.secretStdin, variable: options.secretEnv, option: "--secret-env" };
  const clientSecret = await readSecret("Client secret", source, context);
  const request = { toolkitSlug, clientId: options.clientId, clientSecret, accountVariables };
  const { account } = await client.connections.setProjectCredential(request);
  if (account === undefined) return;
  context.print(options.json ? messageText(ConnectedAccountSchema, account) : account.id);
  context.note(`The project itself calls ${toolkitSlug} with it: \`svc call ${toolkitSlug}.…\` without --entity.`);
}

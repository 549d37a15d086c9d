import { ConnectedAccountSchema } from "@svc/gen/connections";
import { Code, ConnectError } from "@svc/sdk";
import { type Command, Option } from "commander";
import { addProjectOptions, openProjectClient, originOf, type ProjectOptions } from "./client/open-client.ts";
import { ownProjectId } from "./client/own-project.ts";
import type { CommandContext } from "./command/context.ts";
import { CommandError, failureText } from "./command/error.ts";
import { addExamples } from "./command/examples.ts";
import { addJson, collectPair, type JsonOption } from "./command/options.ts";
import { awaitConsent } from "./connect/consent.ts";
import { type ConnectInputs, chooseScheme, fillVariables, readCredential } from "./connect/inputs.ts";
import { messageText } from "./text/message.ts";

type ConnectOptions = ProjectOptions &
  JsonOption &
  ConnectInputs & { entity: string; open: boolean; redirectUrl?: string };

/** Adds `svc connect`. */
export function addConnectCommand(program: Command, context: CommandContext): void {
  const connect = program
    .command("connect")
    .description("connect an entity's account of an app, and print the account's id")
    .argument("<toolkit>", "slug of the toolkit, such as calendar")
    .requiredOption("--entity <id>", "whose account it is: your own name for a user, up to 200 characters")
    .option("--scheme <scheme>", "oauth2, api_key, basic or none (default: the only one that the toolkit declares)")
    .addOption(
      new Option("--var <name=value>", "what the toolkit wants filled in, such as a host name; as often as needed")
        .default({}, "asked for at a terminal")
        .argParser(collectPair),
    )
    .option("--username <name>", "user name, for the scheme basic")
    .option("--key-stdin", "read the key, or the password of basic, from standard input")
    .option("--key-env <name>", "read it from this environment variable")
    .option("--no-open", "print the page of consent for oauth2, and start no browser")
    .option("--redirect-url <url>", "where the browser ends up after consent (default: a plain page)")
    .action((toolkit: string, options: ConnectOptions) =>
      connectAccount(toolkit, options, context).catch((err: unknown) => {
        throw withKeyHint(err, options, context);
      }),
    );
  addProjectOptions(addJson(connect, "the account as JSON")).addHelpText("after", notes);
  addExamples(connect, [
    "svc connect calendar --entity ada                             # oauth2: in the browser",
    "svc connect messaging_bot --entity ada                        # asks for the key",
    "svc connect messaging_bot --entity ada --key-stdin < bot-key",
    "svc connect search_engine --entity ada --var hostname=search.example.com --key-env SEARCH_KEY",
  ]);
}

const notes = `
No option takes a secret: it would stay in the shell's history and show in the list of processes. At a terminal the key is
asked for and not shown; elsewhere give it with --key-stdin or --key-env. --api-key is the project's key of svc.`;

/** Who gives the app's own key with --api-key hears of an unknown key, and not which one was meant. */
function withKeyHint(err: unknown, { apiKey }: ConnectOptions, context: CommandContext): unknown {
  if (apiKey === undefined || !(err instanceof ConnectError) || err.code !== Code.Unauthenticated) return err;
  return new CommandError(
    `${failureText(err, originOf(context))} --api-key takes the project's key of svc; the app's own key goes by --key-stdin or --key-env.`,
  );
}

/** The id alone goes to standard output, so that a shell can keep it in a variable. */
async function connectAccount(toolkitSlug: string, options: ConnectOptions, context: CommandContext): Promise<void> {
  const client = await openProjectClient(options, context);
  const { spec } = await client.catalog.getToolkitConnectSpec({
    slug: toolkitSlug,
    projectId: await ownProjectId(client),
  });
  if (spec === undefined) return;
  const scheme = await chooseScheme(options, spec, context);
  const accountVariables = await fillVariables(options, spec, context);
  const credential = await readCredential(scheme, options, context);
  const redirectUrl = options.redirectUrl ?? "";
  const request = { toolkitSlug, entityId: options.entity, scheme, accountVariables, ...credential, redirectUrl };
  const { account, authorizeUrl, credentialTried } = await client.connections.initiateConnection(request);
  if (account === undefined) return;
  const { id } = account;
  const active =
    authorizeUrl === "" ? account : await awaitConsent(client, { id, authorizeUrl, canOpen: options.open }, context);
  context.print(options.json ? messageText(ConnectedAccountSchema, active) : id);
  context.note(`${toolkitSlug} is connected for ${options.entity} with ${account.scheme}.`);
  if (!account.sandbox && !credentialTried && authorizeUrl === "")
    context.note(
      `The credential was stored and not tried: ${toolkitSlug} names no call that identifies an account. Try it: \`svc connections test ${id}\`.`,
    );
  if (account.sandbox)
    context.note("Sandbox: no app was asked, and any credential is taken; results of calls are made up.");
}

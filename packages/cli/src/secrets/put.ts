import { SecretSchema } from "@svc/gen/secrets";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { readSecret } from "../command/secret.ts";
import { messageText } from "../text/message.ts";

type PutOptions = ProjectOptions & JsonOption & { secretStdin?: true; secretEnv?: string };

/** Adds `svc secrets put`. */
export function addSecretPut(secrets: Command, context: CommandContext): void {
  const put = secrets
    .command("put")
    .description("keep a secret, or give it a new value")
    .argument("<name>", "name by which programs send it")
    .option("--secret-stdin", "read the value from standard input")
    .option("--secret-env <name>", "read it from this environment variable")
    .action((name: string, options: PutOptions) => putSecret(name, options, context));
  addProjectOptions(addJson(put, "the secret as JSON, without its value")).addHelpText(
    "after",
    "\nNo option takes the value itself. At a terminal it is asked for and not shown.",
  );
  addExamples(put, [
    "svc secrets put billing_token --secret-stdin < token",
    "svc secrets put billing_token --secret-env BILLING_TOKEN",
  ]);
}

async function putSecret(name: string, options: PutOptions, context: CommandContext): Promise<void> {
  const client = await openProjectClient(options, context);
  const source = { fromInput: options.secretStdin, variable: options.secretEnv, option: "--secret-env" };
  const value = await readSecret("Value of the secret", source, context);
  const { secret } = await client.secrets.putSecret({ name, value });
  if (secret === undefined) return;
  if (options.json) return context.print(messageText(SecretSchema, secret));
  context.print(secret.name);
  context.note(`Programs send it where {"$secret": "${secret.name}"} stands.`);
}

import { DeploymentSecretSchema } from "@svc/gen/admin";
import type { Command } from "commander";
import { type AdminOptions, addAdminOptions, openAdminClient } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { readSecret } from "../command/secret.ts";
import { messageText } from "../text/message.ts";

type PutOptions = AdminOptions & JsonOption & { secretStdin?: true; secretEnv?: string };

/** Adds `svc vault put`. */
export function addVaultPut(vault: Command, context: CommandContext): void {
  const put = vault
    .command("put")
    .description("keep a secret of the deployment itself, or give it a new value")
    .argument("<name>", "embeddings_key: the bearer token of the embeddings endpoint")
    .option("--secret-stdin", "read the value from standard input")
    .option("--secret-env <name>", "read it from this environment variable")
    .action((name: string, options: PutOptions) => putSecret(name, options, context));
  addAdminOptions(addJson(put, "the secret as JSON, without its value")).addHelpText(
    "after",
    "\nNo option takes the value itself. At a terminal it is asked for and not shown.",
  );
  addExamples(put, [
    "svc vault put embeddings_key --secret-stdin < token",
    "svc vault put embeddings_key --secret-env TOKEN",
  ]);
}

async function putSecret(name: string, options: PutOptions, context: CommandContext): Promise<void> {
  const { admin } = openAdminClient(options, context);
  const source = { fromInput: options.secretStdin, variable: options.secretEnv, option: "--secret-env" };
  const value = await readSecret("Value of the secret", source, context);
  const { secret } = await admin.putDeploymentSecret({ name, value });
  if (secret === undefined) return;
  if (options.json) return context.print(messageText(DeploymentSecretSchema, secret));
  context.print(secret.name);
  context.note("Every node sends it within seconds, unless its environment has SVC_EMBEDDINGS_KEY, which comes first.");
}

import type { Command } from "commander";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";
import { addCredentialDelete } from "./credentials/delete.ts";
import { addCredentialSet } from "./credentials/set.ts";

/** Adds `svc credentials set|delete`. */
export function addCredentialsCommand(program: Command, context: CommandContext): void {
  const credentials = program
    .command("credentials")
    .description("set and delete the client id and secret with which the project itself calls an app");
  addExamples(credentials, [
    "svc credentials set my_bank --client-id 4711 --secret-stdin < client-secret",
    "svc credentials delete my_bank",
  ]);
  addCredentialSet(credentials, context);
  addCredentialDelete(credentials, context);
}

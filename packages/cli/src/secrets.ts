import type { Command } from "commander";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";
import { addSecretDelete } from "./secrets/delete.ts";
import { addSecretList } from "./secrets/list.ts";
import { addSecretPut } from "./secrets/put.ts";

/** Adds `svc secrets put|delete|list`. */
export function addSecretsCommand(program: Command, context: CommandContext): void {
  const secrets = program.command("secrets").description("put, delete and list what programs send by name");
  addExamples(secrets, ["svc secrets", "svc secrets put billing_token --secret-stdin < token"]);
  addSecretList(secrets, context);
  addSecretPut(secrets, context);
  addSecretDelete(secrets, context);
}

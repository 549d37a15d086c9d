import { toJson } from "@bufbuild/protobuf";
import { GetIdentityResponseSchema } from "@svc/gen/identity";
import { Role } from "@svc/sdk";
import type { Command } from "commander";
import type { CommandContext } from "./command-context.ts";
import { addProjectOptions, connectProject, originOf, type ProjectOptions } from "./connection.ts";
import { addExamples } from "./examples.ts";

/** Adds `svc whoami`. */
export function addWhoamiCommand(program: Command, context: CommandContext): void {
  const whoami = program
    .command("whoami")
    .description("show the project and the role of the key in use, where the key comes from and which service answered")
    .option("--json", "print the service's answer as JSON")
    .action((options: ProjectOptions & { json?: true }) => showIdentity(options, context));
  addExamples(addProjectOptions(whoami), ["svc whoami", "svc whoami --json"]);
}

async function showIdentity(options: ProjectOptions & { json?: true }, context: CommandContext): Promise<void> {
  const { identity } = await connectProject(options, context);
  const found = await identity.getIdentity({});
  if (options.json) {
    const message = toJson(GetIdentityResponseSchema, found, { alwaysEmitImplicit: true });
    context.print(JSON.stringify(message, undefined, 2));
    return;
  }
  const origin = originOf(context);
  context.print(`project  ${found.projectName} (${found.projectId})`);
  context.print(`role     ${found.role === Role.APPROVER ? "approver" : "member"}`);
  context.print(`key      ${found.keyId}${origin === undefined ? "" : `; ${origin.credential}`}`);
  context.print(`service  ${origin?.url ?? ""}`);
}

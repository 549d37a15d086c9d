import { GetIdentityResponseSchema } from "@svc/gen/identity";
import { Role } from "@svc/sdk";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, originOf, type ProjectOptions } from "./client/open-client.ts";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";
import { addJson, type JsonOption } from "./command/options.ts";
import { boundText, confirmText } from "./text/bound.ts";
import { messageText } from "./text/message.ts";

/** Adds `svc whoami`. */
export function addWhoamiCommand(program: Command, context: CommandContext): void {
  const whoami = program
    .command("whoami")
    .description("show the project and the role of the key in use, where the key comes from and which service answered")
    .action((options: ProjectOptions & JsonOption) => showIdentity(options, context));
  addExamples(addProjectOptions(addJson(whoami)), ["svc whoami", "svc whoami --json"]);
}

async function showIdentity(options: ProjectOptions & JsonOption, context: CommandContext): Promise<void> {
  const { identity } = await openProjectClient(options, context);
  const found = await identity.getIdentity({});
  if (options.json) return context.print(messageText(GetIdentityResponseSchema, found));
  const origin = originOf(context);
  context.print(`project  ${found.projectName} (${found.projectId})`);
  context.print(`role     ${found.role === Role.APPROVER ? "approver" : "member"}`);
  context.print(`key      ${found.keyId}${origin === undefined ? "" : `; ${origin.credential}`}`);
  const bound = boundText(found);
  if (bound !== "") context.print(`bound to ${bound}`);
  const confirmed = confirmText(found.confirm);
  if (confirmed !== "") context.print(`confirm  ${confirmed}`);
  context.print(`service  ${origin?.url ?? ""}`);
}

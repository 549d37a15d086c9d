import { GrantSchema } from "@svc/gen/grants";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";

/** Adds `svc grants revoke`. */
export function addGrantRevoke(grants: Command, context: CommandContext): void {
  const revoke = grants
    .command("revoke")
    .description("end a grant with all its tokens, for good")
    .argument("<id>", "id of the grant")
    .action(async (id: string, options: ProjectOptions & JsonOption) => {
      const { grants: client } = await openProjectClient(options, context);
      const { grant } = await client.revokeGrant({ id });
      if (options.json && grant !== undefined) return context.print(messageText(GrantSchema, grant));
      context.print(`${plainText(id)} has ended`);
    });
  addExamples(addProjectOptions(addJson(revoke, "the grant as JSON")), [
    "svc grants revoke grt_01h455vb4pex5vsknk084sn02q",
  ]);
}

import { ApiKeySchema } from "@svc/gen/admin";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { timeText } from "../text/table.ts";

/** Adds `svc agent-keys revoke`. */
export function addAgentKeyRevoke(keys: Command, context: CommandContext): void {
  const revoke = keys
    .command("revoke")
    .description("end a key that your key made, for good")
    .argument("<id>", "id of the key, key_…")
    .action(async (id: string, options: ProjectOptions & JsonOption) => {
      const { grants } = await openProjectClient(options, context);
      const { apiKey } = await grants.revokeAgentKey({ id });
      if (apiKey === undefined) return;
      if (options.json) context.print(messageText(ApiKeySchema, apiKey));
      else context.print(`${apiKey.id} is revoked since ${timeText(apiKey.revokedAt)}`);
    });
  addExamples(addProjectOptions(addJson(revoke, "the key as JSON")), [
    "svc agent-keys revoke key_01h455vb4pex5vsknk084sn02q",
  ]);
}

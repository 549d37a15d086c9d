import { ApiKeySchema } from "@svc/gen/admin";
import type { Command } from "commander";
import { type AdminOptions, addAdminOptions, openAdminClient } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { timeText } from "../text/table.ts";

/** Adds `svc keys revoke`. */
export function addKeyRevoke(keys: Command, context: CommandContext): void {
  const revoke = keys
    .command("revoke")
    .description("end a key for good")
    .argument("<id>", "id of the key, key_…")
    .action(async (id: string, options: AdminOptions & JsonOption) => {
      const { apiKey } = await openAdminClient(options, context).admin.revokeApiKey({ id });
      if (apiKey === undefined) return;
      if (options.json) context.print(messageText(ApiKeySchema, apiKey));
      else context.print(`${apiKey.id} is revoked since ${timeText(apiKey.revokedAt)}`);
    });
  addExamples(addAdminOptions(addJson(revoke, "the key as JSON")), ["svc keys revoke key_01h455vb4pex5vsknk084sn02q"]);
}

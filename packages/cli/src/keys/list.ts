import { ApiKeySchema } from "@svc/gen/admin";
import { type ApiKey, Role } from "@svc/sdk";
import type { Command } from "commander";
import { type AdminOptions, addAdminOptions, openAdminClient } from "../client/open-client.ts";
import { collectPages } from "../client/pages.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { findProjectId } from "../projects/find-project.ts";
import { boundText, confirmText, keyStateText } from "../text/bound.ts";
import { messageListText } from "../text/message.ts";
import { tableLines, timeText } from "../text/table.ts";

/** Adds `svc keys list`. */
export function addKeyList(keys: Command, context: CommandContext): void {
  const list = keys
    .command("list")
    .description("list the keys of a project without their text, newest first")
    .option("--project <id or name>", "project that the keys belong to", "default")
    .action(async (options: AdminOptions & JsonOption & { project: string }) => {
      const client = openAdminClient(options, context);
      const projectId = await findProjectId(client, options.project);
      const found = await collectPages(async (pageToken) => {
        const { apiKeys, nextPageToken } = await client.admin.listApiKeys({ projectId, pageSize: 500, pageToken });
        return { items: apiKeys, nextPageToken };
      });
      if (options.json) return context.print(messageListText(ApiKeySchema, found));
      const header = ["ID", "ROLE", "HINT", "STATE", "LAST USED", "BOUND TO", "CONFIRMED", "MADE BY", "NAME"];
      for (const line of tableLines(header, found.map(keyRow))) context.print(line);
    });
  addExamples(addAdminOptions(addJson(list, "the keys as a JSON list")), [
    "svc keys list",
    "svc keys list --project billing",
  ]);
}

function keyRow(key: ApiKey): string[] {
  const { id, role, hint, lastUsedAt, makerKeyId, name } = key;
  const seen = [hint, keyStateText(key), timeText(lastUsedAt), boundText(key), confirmText(key.confirm)];
  return [id, role === Role.APPROVER ? "approver" : "member", ...seen, makerKeyId, name];
}

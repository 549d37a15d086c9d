import { timestampMs } from "@bufbuild/protobuf/wkt";
import { systemClock } from "@svc/core";
import { type ApiKey, ApiKeySchema } from "@svc/gen/admin";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import { collectPages } from "../client/pages.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { boundText, confirmText, keyStateText } from "../text/bound.ts";
import { messageListText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { tableLines, timeText } from "../text/table.ts";

/** Adds `svc agent-keys list`. */
export function addAgentKeyList(keys: Command, context: CommandContext): void {
  const list = keys
    .command("list", { isDefault: true })
    .description("list the keys that your key made for agents, newest first, without their text")
    .option("--all", "also those that have ended")
    .action(async (options: ProjectOptions & JsonOption & { all?: true }) => {
      const { grants } = await openProjectClient(options, context);
      const found = await collectPages(async (pageToken) => {
        const { apiKeys, nextPageToken } = await grants.listAgentKeys({ pageSize: 500, pageToken });
        return { items: apiKeys, nextPageToken };
      });
      const shown = found.filter((key) => options.all || isValid(key));
      if (options.json) return context.print(messageListText(ApiKeySchema, shown));
      const header = ["ID", "HINT", "STATE", "LAST USED", "BOUND TO", "CONFIRMED", "NAME"];
      for (const line of tableLines(header, shown.map(keyRow))) context.print(line);
    });
  addExamples(addProjectOptions(addJson(list, "the keys as a JSON list")), [
    "svc agent-keys list",
    "svc agent-keys list --all",
  ]);
}

function isValid({ revokedAt, expiresAt }: ApiKey): boolean {
  return revokedAt === undefined && expiresAt !== undefined && timestampMs(expiresAt) > systemClock.now();
}

function keyRow(key: ApiKey): string[] {
  const { id, hint, lastUsedAt, confirm, name } = key;
  const seen = [timeText(lastUsedAt), boundText(key), confirmText(confirm), plainText(name)];
  return [id, hint, keyStateText(key), ...seen];
}

import { QuarantinedPostSchema } from "@svc/gen/admin";
import type { QuarantinedPost } from "@svc/sdk";
import { type Command, Option } from "commander";
import { type AdminOptions, addAdminOptions, openAdminClient } from "../client/open-client.ts";
import { collectPages } from "../client/pages.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption, parseCount } from "../command/options.ts";
import { messageListText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { tableLines, timeText } from "../text/table.ts";

type ListOptions = AdminOptions &
  JsonOption & { toolkit?: string; reason?: string; includeReleased?: true; limit: number };

const reasons = ["no_trigger", "invalid_payload", "no_project"];

/** Adds `svc quarantine list`. */
export function addQuarantineList(quarantine: Command, context: CommandContext): void {
  const list = quarantine
    .command("list", { isDefault: true })
    .description("list the posts in quarantine with what was wrong, newest first")
    .option("--toolkit <slug>", "only posts to this toolkit's path")
    .addOption(new Option("--reason <reason>", "only posts that are here for this reason").choices(reasons))
    .option("--include-released", "those that were released, too")
    .option("--limit <count>", "most posts to list", parseCount, 100)
    .action((options: ListOptions) => listPosts(options, context));
  addExamples(addAdminOptions(addJson(list, "the posts, without their bodies, as a JSON list")), [
    "svc quarantine list",
    "svc quarantine list --toolkit calendar --reason no_project",
  ]);
}

async function listPosts(options: ListOptions, context: CommandContext): Promise<void> {
  const { admin } = openAdminClient(options, context);
  const { toolkit: toolkitSlug = "", reason = "", includeReleased = false, limit } = options;
  const found = await collectPages(async (pageToken) => {
    const request = { toolkitSlug, reason, includeReleased, pageSize: Math.min(limit, 500), pageToken };
    const { posts: items, nextPageToken } = await admin.listQuarantinedPosts(request);
    return { items, nextPageToken };
  }, limit);
  if (options.json) return context.print(messageListText(QuarantinedPostSchema, found));
  const header = ["RECEIVED", "ID", "TOOLKIT", "REASON", "RELEASED", "DETAIL"];
  for (const line of tableLines(header, found.map(postRow))) context.print(line);
}

function postRow({ receivedAt, id, toolkitSlug, reason, releasedAt, detail }: QuarantinedPost): string[] {
  return [timeText(receivedAt), id, toolkitSlug, reason, timeText(releasedAt), plainText(detail)];
}

import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type AuditEvent, AuditEventSchema } from "@svc/gen/admin";
import type { Command } from "commander";
import { type AdminOptions, addAdminOptions, openAdminClient } from "../client/open-client.ts";
import { collectPages } from "../client/pages.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption, parseCount, parseMoment } from "../command/options.ts";
import { messageListText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { tableLines, timeText } from "../text/table.ts";

type ListOptions = AdminOptions &
  JsonOption & {
    project?: string;
    actor?: string;
    action?: string;
    since?: number;
    until?: number;
    limit: number;
  };

/** Adds `svc audit list`. */
export function addAuditList(audit: Command, context: CommandContext): void {
  const list = audit
    .command("list", { isDefault: true })
    .description("list who did what, newest first")
    .option("--project <id>", "only what was done in or to this project")
    .option("--actor <actor>", "only what was done by admin, or by this key or job")
    .option("--action <action>", "only this, such as AdminService.CreateApiKey or ToolCall.Send")
    .option("--since <time>", "only from this time on, such as 2026-03-14T09:00:00Z or 2h ago (2h)", parseMoment)
    .option("--until <time>", "only before this time", parseMoment)
    .option("--limit <count>", "most events to list", parseCount, 100)
    .action((options: ListOptions) => listEvents(options, context));
  addExamples(addAdminOptions(addJson(list, "the events as a JSON list")), [
    "svc audit list",
    "svc audit list --action AdminService.CreateApiKey --since 30d",
  ]);
}

async function listEvents(options: ListOptions, context: CommandContext): Promise<void> {
  const { admin } = openAdminClient(options, context);
  const { project: projectId = "", actor = "", action = "", since, until, limit } = options;
  const filter = {
    ...{ projectId, actor, action },
    ...(since !== undefined && { since: timestampFromMs(since) }),
    ...(until !== undefined && { until: timestampFromMs(until) }),
  };
  const found = await collectPages(async (pageToken) => {
    const request = { ...filter, pageSize: Math.min(limit, 500), pageToken };
    const { events: items, nextPageToken } = await admin.listAuditEvents(request);
    return { items, nextPageToken };
  }, limit);
  if (options.json) return context.print(messageListText(AuditEventSchema, found));
  const header = ["AT", "PROJECT", "ACTOR", "ACTION", "SUBJECT", "OUTCOME"];
  for (const line of tableLines(header, found.map(eventRow))) context.print(line);
}

function eventRow({ at, projectId, actor, action, subject, outcome }: AuditEvent): string[] {
  return [timeText(at), projectId || "-", actor, action, plainText(subject), outcome];
}

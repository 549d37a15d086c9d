import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ToolCallSchema } from "@svc/gen/tools";
import { Code, ConnectError, type SvcClient, type ToolCall } from "@svc/sdk";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import { ownProjectId } from "../client/own-project.ts";
import { collectPages } from "../client/pages.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption, parseCount, parseMoment } from "../command/options.ts";
import { messageListText } from "../text/message.ts";
import { tableLines, timeText } from "../text/table.ts";

type ListOptions = ProjectOptions &
  JsonOption & {
    tool?: string;
    entity?: string;
    outcome?: string;
    since?: number;
    job?: string;
    account?: string;
    key?: string;
    limit: number;
  };

/** Adds `svc tool-calls list`. */
export function addToolCallList(calls: Command, context: CommandContext): void {
  const list = calls
    .command("list", { isDefault: true })
    .description("list the project's latest calls, newest first")
    .option("--tool <slug>", "only calls of this tool")
    .option("--entity <id>", "only calls for this entity")
    .option("--outcome <outcome>", "only calls with this outcome, such as ok, held or outcome_unknown")
    .option("--job <id>", "only calls that this job made, job_…")
    .option("--account <id>", "only calls with this account, acc_…")
    .option("--key <id>", "only calls that this key made, key_…")
    .option("--since <when>", "only calls made then or later: 2h ago, or 2026-03-14T09:00:00Z", parseMoment)
    .option("--limit <count>", "most calls to list", parseCount, 20)
    .action((options: ListOptions) => listCalls(options, context));
  addExamples(addProjectOptions(addJson(list, "the calls, without arguments and results, as a JSON list")), [
    "svc tool-calls list",
    "svc tool-calls list --tool calendar.create_event --since 2h",
  ]);
}

async function listCalls(options: ListOptions, context: CommandContext): Promise<void> {
  const client = await openProjectClient(options, context);
  const { tools } = client;
  const { tool: toolSlug = "", entity: entityId = "", outcome = "", since, limit } = options;
  const of = { jobId: options.job ?? "", connectedAccountId: options.account ?? "", keyId: options.key ?? "" };
  const from = since === undefined ? {} : { since: timestampFromMs(since) };
  const found = await collectPages(async (pageToken) => {
    const request = { toolSlug, entityId, outcome, ...of, ...from, pageSize: Math.min(limit, 500), pageToken };
    const { calls: items, nextPageToken } = await tools.listToolCalls(request);
    return { items, nextPageToken };
  }, limit);
  if (options.json) context.print(messageListText(ToolCallSchema, found));
  else for (const line of tableLines(header, found.map(callRow))) context.print(line);
  if (found.length === 0) context.note(await whyNone(client, toolSlug));
}

const header = ["MADE", "ID", "TOOL", "ENTITY", "OUTCOME", "HTTP", "MS"];

/** A misspelt tool looks like one that was never called. */
async function whyNone(client: SvcClient, slug: string): Promise<string> {
  if (slug === "") return "No call fits.";
  try {
    await client.catalog.getTool({ slug, projectId: await ownProjectId(client) });
    return `No call of ${slug} fits.`;
  } catch (err) {
    if (!(err instanceof ConnectError) || err.code !== Code.NotFound) throw err;
    return `No call fits, and the project sees no tool ${slug}; \`svc search\` finds tools.`;
  }
}

function callRow({ createdAt, id, toolSlug, entityId, outcome, providerStatus, durationMs }: ToolCall): string[] {
  const status = providerStatus === 0 ? "-" : String(providerStatus);
  return [timeText(createdAt), id, toolSlug, entityId || "-", outcome, status, String(durationMs)];
}

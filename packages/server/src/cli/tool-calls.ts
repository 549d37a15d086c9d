import { toJson } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { parseDuration, systemClock } from "@svc/core";
import { ToolCallSchema } from "@svc/gen/tools";
import { Code, ConnectError, type SvcClient, type ToolCall } from "@svc/sdk";
import { type Command, InvalidArgumentError } from "commander";
import { indentJson } from "./call-json.ts";
import { ownProjectId } from "./catalog-project.ts";
import type { CommandContext } from "./command-context.ts";
import { addProjectOptions, connectProject, type ProjectOptions } from "./connection.ts";
import { addExamples } from "./examples.ts";
import { jsonListText, tableLines, timeText } from "./output.ts";
import { collectPages } from "./pages.ts";

type ListOptions = ProjectOptions & {
  tool?: string;
  entity?: string;
  outcome?: string;
  since?: number;
  limit: number;
  json?: true;
};

/** Adds `svc tool-calls list|show`. */
export function addToolCallsCommand(program: Command, context: CommandContext): void {
  const calls = program.command("tool-calls").description("read the ledger of tool calls");
  addExamples(calls, ["svc tool-calls", "svc tool-calls list --outcome outcome_unknown"]);
  addList(calls, context);
  addShow(calls, context);
}

function addList(calls: Command, context: CommandContext): void {
  const list = calls
    .command("list", { isDefault: true })
    .description("list the project's latest calls, newest first")
    .option("--tool <slug>", "only calls of this tool")
    .option("--entity <id>", "only calls for this entity")
    .option("--outcome <outcome>", "only calls with this outcome, such as ok, held or outcome_unknown")
    .option("--since <duration>", "only calls of the last 10m, 2h, 3d and so on", parseAge)
    .option("--limit <count>", "most calls to list", parseCount, 20)
    .option("--json", "print the calls, without arguments and results, as a JSON list")
    .action((options: ListOptions) => listCalls(options, context));
  addExamples(addProjectOptions(list), [
    "svc tool-calls list",
    "svc tool-calls list --tool calendar.create_event --since 2h",
  ]);
}

async function listCalls(options: ListOptions, context: CommandContext): Promise<void> {
  const client = await connectProject(options, context);
  const { tools } = client;
  const { tool: toolSlug = "", entity: entityId = "", outcome = "", since, limit } = options;
  const from = since === undefined ? {} : { since: timestampFromMs(systemClock.now() - since) };
  const found = await collectPages(async (pageToken) => {
    const request = { toolSlug, entityId, outcome, ...from, pageSize: Math.min(limit, 500), pageToken };
    const { calls: items, nextPageToken } = await tools.listToolCalls(request);
    return { items, nextPageToken };
  }, limit);
  if (options.json) context.print(jsonListText(ToolCallSchema, found));
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

function addShow(calls: Command, context: CommandContext): void {
  const show = calls
    .command("show")
    .description("show one call with its arguments and the first 64 KiB of its result; sensitive values are masked")
    .argument("<id>", "id of the call, call_…")
    .option("--json", "print the service's message as JSON")
    .action((id: string, options: ProjectOptions & { json?: true }) => showCall(id, options, context));
  addExamples(addProjectOptions(show), ["svc tool-calls show call_01h455vb4pex5vsknk084sn02q"]);
}

async function showCall(id: string, options: ProjectOptions & { json?: true }, context: CommandContext): Promise<void> {
  const { tools } = await connectProject(options, context);
  const { call } = await tools.getToolCall({ id });
  if (call === undefined) return;
  if (options.json) {
    const message = toJson(ToolCallSchema, call, { alwaysEmitImplicit: true });
    context.print(JSON.stringify(message, undefined, 2));
    return;
  }
  const facts = factsOf(call).filter(([, value]) => value !== "");
  const width = Math.max(...facts.map(([name]) => name.length));
  for (const [name, value] of facts) context.print(`${name.padEnd(width)}  ${value}`);
  if (call.argumentsJson !== "") printPart("Arguments", call.argumentsJson, context);
  if (call.resultJson !== "") printPart(call.truncated ? "Result, cut off" : "Result", call.resultJson, context);
}

function factsOf(call: ToolCall): [name: string, value: string][] {
  const { providerStatus, durationMs, providerMs } = call;
  return [
    ["call", call.id],
    ["tool", `${call.toolSlug} (${call.accessClass})`],
    ["outcome", `${call.outcome}${providerStatus === 0 ? "" : `, HTTP ${providerStatus}`}`],
    ["message", call.message],
    ["entity", call.entityId],
    ["account", call.connectedAccountId],
    ["key", call.keyId],
    ["job", [call.jobId, call.stepId].filter(Boolean).join(", step ")],
    ["made", timeText(call.createdAt)],
    ["took", `${durationMs} ms, the app ${providerMs} ms of it`],
    ["idempotency key", call.idempotencyKey],
    ["sandbox", call.sandbox ? "yes: the result is made up" : ""],
  ];
}

function printPart(title: string, json: string, context: CommandContext): void {
  context.print("");
  context.print(`${title}:`);
  context.print(indentJson(json));
}

function parseAge(text: string): number {
  try {
    return parseDuration(text);
  } catch (err) {
    throw new InvalidArgumentError(err instanceof Error ? err.message : String(err));
  }
}

function parseCount(text: string): number {
  const count = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (count >= 1) return count;
  throw new InvalidArgumentError("expected a whole number from 1 to 999999");
}

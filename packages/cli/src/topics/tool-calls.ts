import { ToolsService } from "@svc/gen/tools";
import { Code, ConnectError, type ToolCall } from "@svc/sdk";
import { ownProjectId } from "../command/client.ts";
import type { Run } from "../command/declared.ts";
import { parseCount } from "../command/options.ts";
import { call, list, topic } from "../command/topic.ts";
import { isSkill, spokenMessage } from "../custom/call/result.ts";
import { indentJson } from "../text/message.ts";
import { factLines, timeText } from "../text/table.ts";

/** The command `svc tool-calls show`, which shows one tool call with its arguments and its result. */
const addToolCallShow = call(ToolsService.method.getToolCall, {
  says: "show one call with its arguments and the first 64 KiB of its result; sensitive values are masked (those of a job's call are kept with the job)",
  takes: { "<id>": "id of the call, call_…" },
  result: "call",
  json: "the call as JSON",
  shows: ({ call: made }) => (made === undefined ? [] : [...factLines(factsOf(made)), ...partsOf(made)]),
  examples: ["svc tool-calls show call_01h455vb4pex5vsknk084sn02q"],
});

function partsOf({ jobId, argumentsJson, resultJson, truncated }: ToolCall): string[] {
  if (jobId !== "")
    return [
      "",
      "Arguments and result belong to the job and are not shown here:",
      `  \`svc jobs show ${jobId}\` shows its steps and its declared result.`,
    ];
  const parts = [
    ["Arguments", argumentsJson],
    [truncated ? "Result, cut off" : "Result", resultJson],
  ] as const;
  return parts.flatMap(([title, json]) => (json === "" ? [] : ["", `${title}:`, indentJson(json)]));
}

function factsOf(call: ToolCall): [name: string, value: string][] {
  const { providerStatus, durationMs, providerMs } = call;
  return [
    ["call", call.id],
    ["tool", `${call.toolSlug} (${call.accessClass})`],
    ["outcome", `${call.outcome}${providerStatus === 0 ? "" : `, HTTP ${providerStatus}`}`],
    ["message", spokenMessage(call.message, { toolSlug: call.toolSlug, entity: call.entityId })],
    ["entity", call.entityId],
    ["account", call.connectedAccountId],
    ["key", call.keyId],
    ["job", [call.jobId, call.stepId].filter(Boolean).join(", step ")],
    ["made", timeText(call.createdAt)],
    ["took", `${durationMs} ms, of which the app took ${providerMs} ms`],
    ["idempotency key", call.idempotencyKey],
    ["sandbox", sandboxText(call)],
    ...call.hooks.map(({ hookId, decision, durationMs: ms }): [string, string] => [
      "hook",
      `${hookId}: ${decision}, in ${ms} ms`,
    ]),
  ];
}

function sandboxText({ sandbox, toolSlug }: ToolCall): string {
  if (!sandbox) return "";
  return isSkill(toolSlug) ? "yes: the results of its job's calls are made up" : "yes: the result is made up";
}

/** The commands `svc tool-calls list|show`, for the ledger (record of all tool calls). */
export const addToolCallsCommand = topic({
  says: "read the ledger of tool calls",
  examples: ["svc tool-calls", "svc tool-calls list --outcome outcome_unknown"],
  commands: {
    list: list(ToolsService.method.listToolCalls, {
      says: "list the project's latest calls, newest first",
      isDefault: true,
      options: [
        ["--tool <slug>", "only calls of this tool", { fills: "toolSlug" }],
        ["--entity <id>", "only calls for this entity", { fills: "entityId" }],
        ["--outcome <outcome>", "only calls with this outcome, such as ok, held or outcome_unknown"],
        ["--failed", "only failed calls: their outcome is not ok, running or held"],
        ["--job <id>", "only calls of this job, job_…", { fills: "jobId" }],
        ["--step <id>", "only calls of this step of the job, such as send", { fills: "stepId" }],
        ["--account <id>", "only calls with this account, acc_…", { fills: "connectedAccountId" }],
        ["--key <id>", "only calls of this key, key_…", { fills: "keyId" }],
        ["--since <when>", "only calls made at or after this time: 2h for two hours ago, or 2026-03-14T09:00:00Z"],
        ["--limit <count>", "largest number of calls to list", { parse: parseCount, default: 20 }],
      ],
      rows: "calls",
      table: {
        MADE: "createdAt",
        ID: "id",
        TOOL: ({ toolSlug }) => toolSlug,
        ENTITY: ({ entityId }) => entityId || "-",
        OUTCOME: ({ outcome }) => outcome,
        HTTP: ({ providerStatus }) => (providerStatus === 0 ? "-" : String(providerStatus)),
        MS: "durationMs",
      },
      remark: async (found, run) => {
        if (found.length === 0) run.context.note(await emptyText(run));
      },
      json: "the calls, without arguments and results, as a JSON list",
      examples: ["svc tool-calls list", "svc tool-calls list --tool calendar.create_event --since 2h"],
    }),
    show: addToolCallShow,
  },
});

/** Returns why a list of calls is empty. The reason matters, because a misspelled tool looks like a tool that was never called. */
async function emptyText({ values: { tool }, project }: Run<Readonly<Record<string, unknown>>>): Promise<string> {
  if (typeof tool !== "string" || tool === "") return "No call matches.";
  const client = await project();
  try {
    await client.catalog.getTool({ slug: tool, projectId: await ownProjectId(client) });
    return `No call of ${tool} matches.`;
  } catch (err) {
    if (!(err instanceof ConnectError) || err.code !== Code.NotFound) throw err;
    return `No call matches, and the project has no tool ${tool}; \`svc search\` finds tools.`;
  }
}

import { ToolsService } from "@svc/gen/tools";
import { Code, ConnectError } from "@svc/sdk";
import { ownProjectId } from "../command/client.ts";
import type { Run } from "../command/declared.ts";
import { parseCount } from "../command/options.ts";
import { list, topic } from "../command/topic.ts";
import { addToolCallShow } from "../custom/show-call.ts";

/** `svc tool-calls list|show`. */
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
        ["--job <id>", "only calls that this job made, job_…", { fills: "jobId" }],
        ["--account <id>", "only calls with this account, acc_…", { fills: "connectedAccountId" }],
        ["--key <id>", "only calls that this key made, key_…", { fills: "keyId" }],
        ["--since <when>", "only calls made then or later: 2h ago, or 2026-03-14T09:00:00Z"],
        ["--limit <count>", "most calls to list", { parse: parseCount, default: 20 }],
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

/** Returns why a list is empty: a misspelt tool looks like one that was never called. */
async function emptyText({ values: { tool }, project }: Run<Readonly<Record<string, unknown>>>): Promise<string> {
  if (typeof tool !== "string" || tool === "") return "No call fits.";
  const client = await project();
  try {
    await client.catalog.getTool({ slug: tool, projectId: await ownProjectId(client) });
    return `No call of ${tool} fits.`;
  } catch (err) {
    if (!(err instanceof ConnectError) || err.code !== Code.NotFound) throw err;
    return `No call fits, and the project sees no tool ${tool}; \`svc search\` finds tools.`;
  }
}

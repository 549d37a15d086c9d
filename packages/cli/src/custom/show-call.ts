import { ToolCallSchema, ToolsService } from "@svc/gen/tools";
import type { ToolCall } from "@svc/sdk";
import type { ProjectOptions } from "../command/client.ts";
import type { CommandContext } from "../command/context.ts";
import { command, type Run } from "../command/declared.ts";
import type { JsonOption } from "../command/options.ts";
import { indentJson, messageText } from "../text/message.ts";
import { factLines, timeText } from "../text/table.ts";
import { isSkill, spokenMessage } from "./call/result.ts";

/** Adds `svc tool-calls show`. */
export const addToolCallShow = command(
  ToolsService.method.getToolCall,
  {
    says: "show one call with its arguments and the first 64 KiB of its result (those of a job's call stay with the job); sensitive values are masked",
    takes: { "<id>": "id of the call, call_…" },
    json: "the call as JSON",
    examples: ["svc tool-calls show call_01h455vb4pex5vsknk084sn02q"],
  },
  async ({ values: options, context, project, asJson }: Run<ProjectOptions & JsonOption & { readonly id: string }>) => {
    const { id } = options;
    const { tools } = await project();
    const { call } = await tools.getToolCall({ id });
    if (call === undefined) return;
    if (asJson) return context.print(messageText(ToolCallSchema, call));
    for (const line of factLines(factsOf(call))) context.print(line);
    if (call.jobId !== "") {
      context.print("");
      context.print("Arguments and result are the job's, and not shown here:");
      context.print(`  \`svc jobs show ${call.jobId}\` shows what became of it, and the result that it declares.`);
      return;
    }
    if (call.argumentsJson !== "") printPart("Arguments", call.argumentsJson, context);
    if (call.resultJson !== "") printPart(call.truncated ? "Result, cut off" : "Result", call.resultJson, context);
  },
);

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
    ["took", `${durationMs} ms, the app ${providerMs} ms of it`],
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
  return isSkill(toolSlug) ? "yes: what the calls of its job answer is made up" : "yes: the result is made up";
}

function printPart(title: string, json: string, context: CommandContext): void {
  context.print("");
  context.print(`${title}:`);
  context.print(indentJson(json));
}

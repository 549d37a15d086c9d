import { assertExhaustive, beginSpan, type ProjectId, type SpanStart, spanned } from "@svc/core";
import { type CodeContext, callCodeTool } from "./call-code.ts";
import { type CallReply, replyOf } from "./call-reply.ts";
import type { CallRequest } from "./call-request.ts";
import { takeToTheGate } from "./gate/gate.ts";
import { reviewed } from "./gate/hooked-call.ts";
import { createKeyStore } from "./gate/keyed-call.ts";
import { enterAndSend } from "./gate/limited-call.ts";
import { dryRun, endDoubted, endUnsent, type PersonContext } from "./gate/unsent-call.ts";
import type { MadeCall } from "./prepare/prepared-call.ts";
import { type ReadyCall, type ReadyContext, readyCall } from "./ready-call.ts";
import type { ExecuteContext } from "./send/execute.ts";

/** Calls tools. Rejects only if the database is unavailable before the call is sent. */
export type ToolCaller = {
  call(request: CallRequest): Promise<CallReply>;
  /**
   * Prepares a call and records nothing, so that the caller can store the call with its own changes. Resolves to undefined if the caller
   * must use `call` instead.
   */
  ready(request: CallRequest): Promise<ReadyCall | undefined>;
  /**
   * Returns the SHA-256 (hexadecimal) of an MCP server's description of a tool, as an approver of the project has accepted it. Undefined if
   * the project has no such tool, or if the tool is not one of an MCP server.
   */
  acceptedDescription(projectId: ProjectId, toolSlug: string): Promise<string | undefined>;
};

/** Makes tool calls and tracks those that are still running. */
export type DrainingToolCaller = ToolCaller & {
  /**
   * Resolves when no tool call is running on this node. Each call then has an answer. Its outcome is stored, unless the database failed.
   */
  drain(): Promise<void>;
};

/** Dependencies of tool calls. */
export type ToolCallContext = ReadyContext & ExecuteContext & CodeContext & PersonContext;

/** Creates the object that calls tools for a node, from the node's database, accounts and limits. */
export function createToolCaller(options: Omit<ToolCallContext, "keys">): DrainingToolCaller {
  const context: ToolCallContext = { ...options, keys: createKeyStore(options.db) };
  const underWay = new Set<Promise<unknown>>();
  const during = <T>(answer: Promise<T>): Promise<T> => {
    underWay.add(answer);
    const end = () => underWay.delete(answer);
    answer.then(end, end);
    return answer;
  };
  return {
    call: (request) => {
      const span = beginSpan(toolSpan, { context, request });
      return during(spanned(span, () => call(context, request), errorOf));
    },
    async ready(request) {
      const ready = await readyCall(context, request);
      if (ready === undefined) return undefined;
      const send = () => {
        const span = beginSpan(toolSpan, { context, request });
        return spanned(span, ready.send, ({ called }) => errorOf(called));
      };
      return { ...ready, send: () => during(send()) };
    },
    async acceptedDescription(projectId, toolSlug) {
      const tool = (await context.views.forProject(projectId)).tools.get(toolSlug);
      return tool?.kind === "action" ? tool.mcp?.digest : undefined;
    },
    async drain() {
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
  };
}

/**
 * Describes the span of a tool call, with the names that OpenTelemetry gives to the tools of agents. A tool of a project's own is not named,
 * because the project chose the name.
 */
function toolSpan({
  context,
  request,
}: {
  readonly context: ToolCallContext;
  readonly request: CallRequest;
}): SpanStart {
  const { toolSlug, caller } = request;
  const tool = context.views.shared.tools.has(toolSlug) ? toolSlug : "private";
  const facts = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool, "gen_ai.tool.type": "extension" };
  return { name: `execute_tool ${tool}`, facts: { ...facts, "svc.project.id": caller.projectId } };
}

/** Returns the outcome of a call that failed; undefined if it succeeded, or waits for a confirmation. */
function errorOf(called: CallReply): string | undefined {
  if (called.outcome === "held") return undefined;
  if (called.outcome !== "answered") return called.outcome;
  const { outcome } = called.answer.result;
  return outcome === "ok" ? undefined : outcome;
}

async function call(context: ToolCallContext, request: CallRequest): Promise<CallReply> {
  const taken = await takeToTheGate(context, request);
  switch (taken.at) {
    case "end":
      return taken.called;
    case "code":
      return callCodeTool(context, taken.entry, { tool: taken.tool, isDryRun: request.isDryRun });
    case "doubt":
      return endDoubted(context, taken.entry, taken.prepared, taken.restoredFrom);
    case "gate":
      return pass(context, taken.made);
    default:
      return assertExhaustive(taken);
  }
}

/**
 * Asks the project's hooks (URLs that svc asks about tool calls) about a call. Afterwards answers a dry run, sends the call, or records
 * that the call is refused. Returns the reply.
 */
async function pass(context: ToolCallContext, made: MadeCall): Promise<CallReply> {
  const { entry, plan, prepared, hooks } = made.hooks === undefined ? made : await reviewed(context, made);
  if (plan.isDryRun) return replyOf(dryRun(context, plan, prepared));
  if ("action" in prepared) return enterAndSend(context, { entry, plan, prepared, hooks });
  return endUnsent(context, entry, plan, prepared);
}

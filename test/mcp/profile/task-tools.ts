import type { McpContext, McpOutcome } from "@svc/tools";
import { text } from "./content.ts";
import { type Asked, ask, elicit } from "./input-tools.ts";

/** Parameters of a call to a tool of the suite. */
export type Called = Asked & { readonly arguments?: Readonly<Record<string, unknown>> };

/** Runs a program by svc's own tool. */
export type RunProgram = (args: object, context: McpContext) => Promise<McpOutcome>;

type TaskTool = (params: Called, context: McpContext, run: RunProgram) => Promise<McpOutcome> | McpOutcome;

const programOf = (title: string, parts: object) => ({ version: 1, title, ...parts });
const pause = (seconds: unknown) => ({ id: "pause", wait: `${seconds}s` });
const rows = { id: "rows", take: "input.rows", key: "id", keep: ["id", "text"] };
const given = {
  inputSchema: { type: "object", properties: { rows: { type: "array", items: { type: "object" } } } },
  input: { rows: [{ id: 1, text: "x" }] },
};
const tasks = { extensions: { "io.modelcontextprotocol/tasks": {} } };

/** The suite's tools that become tasks. Each task is a job of svc. */
export const taskTools: Readonly<Record<string, TaskTool>> = {
  greet: ({ arguments: args }) => ({ type: "complete", result: { content: [text(`Hello, ${args?.["name"]}!`)] } }),
  slow_compute({ arguments: args }, context, run) {
    const seconds = Number(args?.["seconds"]);
    if (seconds === 0) return run({ program: programOf("At once", { ...given, steps: [rows] }) }, context);
    return run({ program: programOf("Waits", { steps: [pause(seconds)] }), wait_seconds: 0 }, context);
  },
  failing_job(_params, context, run) {
    if (context.client?.["extensions"] === undefined) {
      const message = "Missing required client capability";
      return { type: "error", error: { code: -32_021, message, data: { requiredCapabilities: tasks } } };
    }
    const sum = { id: "sum", reduce: "rows", as: { all: "sum text" } };
    return run({ program: programOf("Fails", { ...given, steps: [pause(1), rows, sum] }), wait_seconds: 0 }, context);
  },
  confirm_delete(_params, context, run) {
    const point = { question: "Delete it?", continuations: ["proceed", "abort"], escalation: [{ principal: "owner" }] };
    const program = programOf("Asks", { steps: [{ id: "gate", judge: "sure" }], points: { sure: point } });
    return run({ program, wait_seconds: 0 }, context);
  },
  test_tool_with_task({ inputResponses = {} }, context, run) {
    const said = inputResponses["user_name"] as { content?: { name?: string } } | undefined;
    if (said === undefined) return ask(context, { user_name: elicit("What is your name?", "name") });
    const parts = {
      params: { name: said.content?.name },
      steps: [pause(1)],
      result: { name: { $ref: "params.name" } },
    };
    return run({ program: programOf("Greets", parts), wait_seconds: 0 }, context);
  },
};

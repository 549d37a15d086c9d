import { ToolsService } from "@svc/gen/tools";
import { InvalidArgumentError } from "commander";
import { command, type Run } from "../../command/declared.ts";
import { type Arguments, readArguments, type TypedArgument, typeArguments } from "./arguments.ts";
import { printCall } from "./result.ts";

type CallValues = {
  readonly arg: readonly TypedArgument[];
  readonly argsJson?: string;
  readonly confirm?: true;
  readonly tool: string;
  readonly entity?: string;
  readonly dryRun?: true;
};

const notes = `
Values get the types of the tool's input schema: 5 and true become a number and a boolean if it has them, objects and lists
can be written as JSON, and start.date=2026-03-14 sets a field of an object. \`svc toolkits show <tool>\` shows the schema.

Exit status: 0 executed, 1 refused or failed, 2 wrong options, 3 needs confirmation. Only the result goes to standard output.`;

/** The command `svc call`, which calls a tool with a connected account and prints its result as JSON. */
export const addCallCommand = command(
  ToolsService.method.callTool,
  {
    says: "call a tool with a connected account and print its result as JSON",
    takes: { "<tool>": ["slug of the tool, such as calendar.list_events", { fills: "toolSlug" }] },
    options: [
      [
        "--arg <name=value>",
        "an argument; repeat it for further arguments, or for further items of a list",
        { parse: collect, default: [] },
      ],
      ["--args-json <json>", "arguments as a JSON object, or @file, or @- for standard input; --arg takes precedence"],
      ["--entity <id>", "entity whose account makes the call, as given to `svc connect`", { fills: "entityId" }],
      ["--account <id>", "account that makes the call, acc_…", { fills: "connectedAccountId" }],
      ["--confirm", "execute a destructive tool, which otherwise needs confirmation"],
      ["--dry-run", "print the request without sending it"],
      [
        "--fields <paths>",
        "fields of the result to keep, separated by commas: items.id,nextPageToken",
        { parse: (text) => text.split(",").map((path) => path.trim()) },
      ],
      ["--max-bytes <count>", "longest result, in bytes, from 256; lists are shortened to fit", { parse: parseBytes }],
      ["--idempotency-key <text>", "make the call safe to repeat: with the same key it is executed once in 24 hours"],
    ],
    json: "the server's answer as JSON, for every outcome; a refusal goes to standard error as one line",
    more: notes,
    examples: [
      "svc call calendar.list_events --entity ada --arg calendar_id=primary --fields items.id,items.summary",
      "svc call messaging_bot.send_message --entity ada --arg chat_id=4711 --arg text='We are live'",
      "svc call messaging_bot.delete_message --entity ada --arg chat_id=4711 --arg message_id=5 --confirm",
    ],
  },
  async ({ values, context, project, asJson }: Run<CallValues>, request) => {
    const { tools } = await project();
    const { arg, argsJson, confirm, tool: toolSlug, entity, dryRun = false } = values;
    const given = argsJson === undefined ? {} : await readArguments(argsJson, context);
    const args = arg.length === 0 ? given : await typedArguments(given);
    const argumentsJson = JSON.stringify(confirm ? { ...args, confirm } : args);
    const response = await tools.callTool({ ...request, argumentsJson });
    printCall(response, { toolSlug, isDryRun: dryRun, entity, asMessage: asJson }, context);

    async function typedArguments(start: Arguments): Promise<Arguments> {
      const { tool } = await tools.describeTool({ slug: toolSlug });
      return typeArguments(JSON.parse(tool?.inputSchemaJson || "{}"), arg, start);
    }
  },
);

function collect(text: string, before: readonly TypedArgument[]): TypedArgument[] {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("expected name=value");
  return [...before, { name: text.slice(0, at), text: text.slice(at + 1) }];
}

function parseBytes(text: string): number {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (count >= 256) return count;
  throw new InvalidArgumentError("expected a whole number from 256");
}

import { CreateHookResponseSchema } from "@svc/gen/tools";
import { Argument, type Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption, parseWords } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { factLines } from "../text/table.ts";
import { parsePosition } from "./position.ts";

type CreateOptions = ProjectOptions & JsonOption & { toolkits: string[]; access: string[]; position: number };

/** Adds `svc hooks create`. */
export function addHookCreate(hooks: Command, context: CommandContext): void {
  const create = hooks
    .command("create")
    .description("have an address asked about calls, and print the id and the secret that signs what it is asked")
    .addArgument(
      new Argument("<phase>", "before a call is sent, or after, about its result").choices(["before", "after"]),
    )
    .argument("<url>", "address that is asked; https, unless its host is loopback")
    .option("--toolkits <slugs>", "the toolkits whose calls it is asked about, such as calendar,sales_crm", parseWords, [])
    .option("--access <classes>", "the classes it is asked about, such as write,destructive", parseWords, [])
    .option("--position <number>", "its place among those of its phase, the lowest first", parsePosition, 0)
    .action((phase: string, url: string, options: CreateOptions) => createHook(phase, url, options, context));
  addExamples(addProjectOptions(addJson(create, "the hook and its secret as JSON")), [
    "svc hooks create before https://hooks.example.com/calls",
    "svc hooks create after https://hooks.example.com/redact --toolkits sales_crm --access read",
  ]);
}

async function createHook(
  phase: string,
  endpointUrl: string,
  { toolkits, access, position, ...options }: CreateOptions,
  context: CommandContext,
): Promise<void> {
  const { tools } = await openProjectClient(options, context);
  const request = { phase, endpointUrl, toolkitSlugs: toolkits, accessClasses: access, position };
  const created = await tools.createHook(request);
  if (options.json) context.print(messageText(CreateHookResponseSchema, created));
  else {
    const facts = [["hook", created.hook?.id ?? ""] as const, ["signing secret", created.signingSecret] as const];
    for (const line of factLines(facts)) context.print(line);
  }
  context.note("Keep the secret: it is not shown again.");
}

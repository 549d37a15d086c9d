import { ContactSchema } from "@svc/gen/contacts";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { CommandError } from "../command/error.ts";
import { addExamples } from "../command/examples.ts";
import { readJsonOption } from "../command/input.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";

type PutOptions = ProjectOptions &
  JsonOption & {
    name: string;
    approver?: true;
    reachTool?: string;
    reachEntity?: string;
    reachArgs?: string;
  };

/** Adds `svc contacts put`. */
export function addContactPut(contacts: Command, context: CommandContext): void {
  const put = contacts
    .command("put")
    .description("create a contact, or replace it as a whole")
    .argument("<principal>", "your own id of the person: what programs and answers name")
    .requiredOption("--name <name>", "what people call them")
    .option("--approver", "approvals may be decided in their name")
    .option("--reach-tool <slug>", "tool that tells them of a question; not a destructive one")
    .option("--reach-entity <id>", "entity whose account it uses")
    .option("--reach-args <json>", "its arguments as JSON, or @file, or @- for standard input")
    .action((principalId: string, options: PutOptions) => putContact(principalId, options, context));
  addProjectOptions(addJson(put, "the contact as JSON")).addHelpText(
    "after",
    "\nIn the texts of --reach-args {question}, {jobId} and {requestId} stand for those of the question; {{ is a brace.",
  );
  addExamples(put, [
    "svc contacts put owner --name Owner --approver",
    `svc contacts put lead --name Ada --reach-tool messaging_bot.send_message --reach-entity ops \\
    --reach-args '{"chat_id": "@ada", "text": "{question} Answer: svc answer {requestId}"}'`,
  ]);
}

async function putContact(principalId: string, options: PutOptions, context: CommandContext): Promise<void> {
  const { name, approver = false } = options;
  const reach = await readReach(options, context);
  const { contacts } = await openProjectClient(options, context);
  const contact = { principalId, name, approver, ...(reach && { reach }) };
  const put = await contacts.putContact({ contact });
  if (options.json && put.contact !== undefined) return context.print(messageText(ContactSchema, put.contact));
  const means = reach === undefined ? "is reached by no tool" : `is reached by ${reach.toolSlug}`;
  context.print(`${plainText(principalId)} is ${approver ? "an approver" : "no approver"} and ${means}`);
}

async function readReach({ reachTool, reachEntity, reachArgs }: PutOptions, context: CommandContext) {
  if (reachTool === undefined) {
    if (reachEntity === undefined && reachArgs === undefined) return undefined;
    throw new CommandError("--reach-entity and --reach-args belong to --reach-tool, which is not given");
  }
  const argsJson = reachArgs === undefined ? "{}" : await readJsonOption("--reach-args", reachArgs, context);
  return { toolSlug: reachTool, entityId: reachEntity ?? "", argsJson };
}

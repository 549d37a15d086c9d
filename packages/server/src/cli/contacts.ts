import type { Contact } from "@svc/gen/contacts";
import type { Command } from "commander";
import type { CommandContext } from "./command-context.ts";
import { CommandError } from "./command-error.ts";
import { addProjectOptions, connectProject, type ProjectOptions } from "./connection.ts";
import { addExamples } from "./examples.ts";
import { readJsonOption } from "./job-json.ts";
import { plainText } from "./job-text.ts";
import { tableLines } from "./output.ts";
import { collectPages } from "./pages.ts";

/** Adds `svc contacts list|put|delete`. */
export function addContactsCommand(program: Command, context: CommandContext): void {
  const contacts = program.command("contacts").description("list, put and delete the people whom jobs may ask");
  addExamples(contacts, ["svc contacts", "svc contacts put lead --name 'Ada, team lead'"]);
  addList(contacts, context);
  addPut(contacts, context);
  addDelete(contacts, context);
}

function addList(contacts: Command, context: CommandContext): void {
  const list = contacts
    .command("list", { isDefault: true })
    .description("list the project's contacts by their ids")
    .action(async (options: ProjectOptions) => {
      const { contacts: client } = await connectProject(options, context);
      const found = await collectPages(async (pageToken) => {
        const { contacts: items, nextPageToken } = await client.listContacts({ pageSize: 500, pageToken });
        return { items, nextPageToken };
      });
      const header = ["PRINCIPAL", "APPROVER", "REACHED BY", "NAME"];
      for (const line of tableLines(header, found.map(contactRow))) context.print(line);
    });
  addExamples(addProjectOptions(list), ["svc contacts list"]);
}

function contactRow({ principalId, name, approver, reach }: Contact): string[] {
  const means = reach === undefined ? "-" : `${reach.toolSlug} as ${plainText(reach.entityId)}`;
  return [plainText(principalId), approver ? "yes" : "no", means, plainText(name)];
}

type PutOptions = ProjectOptions & {
  name: string;
  approver?: true;
  reachTool?: string;
  reachEntity?: string;
  reachArgs?: string;
};

function addPut(contacts: Command, context: CommandContext): void {
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
  addProjectOptions(put).addHelpText(
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
  const { contacts } = await connectProject(options, context);
  const contact = { principalId, name, approver, ...(reach && { reach }) };
  await contacts.putContact({ contact });
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

function addDelete(contacts: Command, context: CommandContext): void {
  const remove = contacts
    .command("delete")
    .description("delete a contact that no pending question has reached")
    .argument("<principal>", "id of the contact")
    .action(async (principalId: string, options: ProjectOptions) => {
      const { contacts: client } = await connectProject(options, context);
      await client.deleteContact({ principalId });
      context.print(`${plainText(principalId)} is deleted`);
    });
  addExamples(addProjectOptions(remove), ["svc contacts delete lead"]);
}

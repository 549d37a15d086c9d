import { ContactsService } from "@svc/gen/contacts";
import type { CommandContext } from "../command/context.ts";
import type { Run } from "../command/declared.ts";
import { CommandError } from "../command/error.ts";
import { readJsonOption } from "../command/input.ts";
import { call, list, topic } from "../command/topic.ts";
import { plainText } from "../text/plain.ts";

const { listContacts, putContact, deleteContact } = ContactsService.method;

type PutValues = {
  readonly principal: string;
  readonly name: string;
  readonly approver?: true;
  readonly reachTool?: string;
  readonly reachEntity?: string;
  readonly reachArgs?: string;
};

/** The commands `svc contacts list|put|delete`, for the people whom jobs may ask. */
export const addContactsCommand = topic({
  says: "list, create and delete the people whom jobs may ask",
  examples: ["svc contacts", "svc contacts put lead --name 'Ada, team lead'"],
  commands: {
    list: list(listContacts, {
      says: "list the project's contacts by their ids",
      isDefault: true,
      rows: "contacts",
      table: {
        PRINCIPAL: "principalId",
        APPROVER: "approver",
        "REACHED BY": ({ reach }) => (reach === undefined ? "-" : `${reach.toolSlug} as ${plainText(reach.entityId)}`),
        NAME: "name",
      },
      json: "the contacts as a JSON list",
      examples: ["svc contacts list"],
    }),
    put: call(putContact, {
      says: "create a contact, or replace it completely",
      takes: { "<principal>": "your own id of the person, which programs and answers use" },
      options: [
        ["--name <name>", "name of the person", { required: true }],
        ["--approver", "the contact may decide approvals"],
        ["--reach-tool <slug>", "tool that sends questions to the contact; must not be destructive"],
        ["--reach-entity <id>", "entity whose account the tool uses"],
        ["--reach-args <json>", "arguments of the tool as JSON, or @file, or @- for standard input"],
      ],
      request: async ({ values, context }: Run<PutValues>) => {
        const { principal: principalId, name, approver = false } = values;
        const reach = await readReach(values, context);
        return { contact: { principalId, name, approver, ...(reach && { reach }) } };
      },
      result: "contact",
      json: "the contact as JSON",
      shows: (_, { values: { principal, approver, reachTool } }) => {
        const means = reachTool === undefined ? "is not reached by a tool" : `is reached by ${reachTool}`;
        return `${plainText(principal)} is ${approver ? "an approver" : "no approver"} and ${means}`;
      },
      more: "\nIn the texts of --reach-args, {question}, {jobId} and {requestId} are replaced by the question's values; write {{ for a brace.",
      examples: [
        "svc contacts put owner --name Owner --approver",
        `svc contacts put lead --name Ada --reach-tool messaging_bot.send_message --reach-entity ops \\
    --reach-args '{"chat_id": "@ada", "text": "{question} Answer: svc answer {requestId}"}'`,
      ],
    }),
    delete: call(deleteContact, {
      says: "delete a contact; refused if a pending question has reached the contact",
      takes: { "<principal>": ["id of the contact", { fills: "principalId" }] },
      deleted: "principalId",
      json: "the id as JSON",
      shows: "{principalId} is deleted",
      examples: ["svc contacts delete lead"],
    }),
  },
});

async function readReach({ reachTool, reachEntity, reachArgs }: PutValues, context: CommandContext) {
  if (reachTool === undefined) {
    if (reachEntity === undefined && reachArgs === undefined) return undefined;
    throw new CommandError("--reach-entity and --reach-args need --reach-tool, which is missing");
  }
  const argsJson = reachArgs === undefined ? "{}" : await readJsonOption("--reach-args", reachArgs, context);
  return { toolSlug: reachTool, entityId: reachEntity ?? "", argsJson };
}

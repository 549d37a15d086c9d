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

/** `svc contacts list|put|delete`. */
export const addContactsCommand = topic({
  says: "list, put and delete the people whom jobs may ask",
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
      says: "create a contact, or replace it as a whole",
      takes: { "<principal>": "your own id of the person: what programs and answers name" },
      options: [
        ["--name <name>", "what people call them", { required: true }],
        ["--approver", "approvals may be decided in their name"],
        ["--reach-tool <slug>", "tool that tells them of a question; not a destructive one"],
        ["--reach-entity <id>", "entity whose account it uses"],
        ["--reach-args <json>", "its arguments as JSON, or @file, or @- for standard input"],
      ],
      request: async ({ values, context }: Run<PutValues>) => {
        const { principal: principalId, name, approver = false } = values;
        const reach = await readReach(values, context);
        return { contact: { principalId, name, approver, ...(reach && { reach }) } };
      },
      result: "contact",
      json: "the contact as JSON",
      shows: (_, { values: { principal, approver, reachTool } }) => {
        const means = reachTool === undefined ? "is reached by no tool" : `is reached by ${reachTool}`;
        return `${plainText(principal)} is ${approver ? "an approver" : "no approver"} and ${means}`;
      },
      more: "\nIn the texts of --reach-args {question}, {jobId} and {requestId} stand for those of the question; {{ is a brace.",
      examples: [
        "svc contacts put owner --name Owner --approver",
        `svc contacts put lead --name Ada --reach-tool messaging_bot.send_message --reach-entity ops \\
    --reach-args '{"chat_id": "@ada", "text": "{question} Answer: svc answer {requestId}"}'`,
      ],
    }),
    delete: call(deleteContact, {
      says: "delete a contact that no pending question has reached",
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
    throw new CommandError("--reach-entity and --reach-args belong to --reach-tool, which is not given");
  }
  const argsJson = reachArgs === undefined ? "{}" : await readJsonOption("--reach-args", reachArgs, context);
  return { toolSlug: reachTool, entityId: reachEntity ?? "", argsJson };
}

import type { Command } from "commander";
import type { CommandContext } from "./command/context.ts";
import { addExamples } from "./command/examples.ts";
import { addContactDelete } from "./contacts/delete.ts";
import { addContactList } from "./contacts/list.ts";
import { addContactPut } from "./contacts/put.ts";

/** Adds `svc contacts list|put|delete`. */
export function addContactsCommand(program: Command, context: CommandContext): void {
  const contacts = program.command("contacts").description("list, put and delete the people whom jobs may ask");
  addExamples(contacts, ["svc contacts", "svc contacts put lead --name 'Ada, team lead'"]);
  addContactList(contacts, context);
  addContactPut(contacts, context);
  addContactDelete(contacts, context);
}

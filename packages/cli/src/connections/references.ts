import { ConnectedAccountSchema } from "@svc/gen/connections";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { CommandError } from "../command/error.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";

type ReferencesOptions = ProjectOptions & JsonOption & { clear?: true };

/** Adds `svc connections references`. */
export function addConnectionReferences(connections: Command, context: CommandContext): void {
  const references = connections
    .command("references")
    .description("set the app's own keys of an account, by which inbound events are matched with it, and print them")
    .argument("<id>", "id of the account, acc_…")
    .argument("[reference...]", "all of the keys: what is not given is taken away; what the app itself gave stays")
    .option("--clear", "take all of them away")
    .action((id: string, given: string[], options: ReferencesOptions) => setReferences(id, given, options, context));
  addExamples(addProjectOptions(addJson(references, "the account as JSON")), [
    "svc connections references acc_01h455vb4pex5vsknk084sn02q channel-7 channel-8",
    "svc connections references acc_01h455vb4pex5vsknk084sn02q --clear",
  ]);
}

async function setReferences(
  id: string,
  references: string[],
  options: ReferencesOptions,
  context: CommandContext,
): Promise<void> {
  if (references.length > 0 === (options.clear === true)) {
    throw new CommandError("give all the references that the account is to have, or --clear for none", 2);
  }
  const { connections } = await openProjectClient(options, context);
  const { account } = await connections.setAccountReferences({ id, references });
  if (account === undefined) return;
  if (options.json) return context.print(messageText(ConnectedAccountSchema, account));
  for (const reference of account.references) context.print(plainText(reference));
  if (account.references.length === 0) context.note(`${id} has no references: no event is matched with it.`);
}

import { ConnectedAccountSchema } from "@svc/gen/connections";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { credentialText } from "./credential-text.ts";

/** Adds `svc connections show`. */
export function addConnectionShow(connections: Command, context: CommandContext): void {
  const show = connections
    .command("show")
    .description("show one account with its variables, scopes and references, as JSON; credentials are never shown")
    .argument("<id>", "id of the account, acc_…")
    .action(async (id: string, options: ProjectOptions & JsonOption) => {
      const { connections: client } = await openProjectClient(options, context);
      const { account } = await client.getConnection({ id });
      if (account === undefined) return;
      context.print(messageText(ConnectedAccountSchema, account));
      if (!options.json) context.note(`Credential: ${credentialText(account)}`);
    });
  addExamples(addProjectOptions(addJson(show, "the account as JSON, as without it")), [
    "svc connections show acc_01h455vb4pex5vsknk084sn02q",
  ]);
}

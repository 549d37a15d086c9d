import { TestConnectionResponseSchema } from "@svc/gen/connections";
import type { Command } from "commander";
import { addProjectOptions, openProjectClient, type ProjectOptions } from "../client/open-client.ts";
import type { CommandContext } from "../command/context.ts";
import { CommandError } from "../command/error.ts";
import { addExamples } from "../command/examples.ts";
import { addJson, type JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { timeText } from "../text/table.ts";

/** Adds `svc connections test`. */
export function addConnectionTest(connections: Command, context: CommandContext): void {
  const test = connections
    .command("test")
    .description("try an account's credential with one harmless read of its app, and print what the app made of it")
    .argument("<id>", "id of the account, acc_…")
    .action((id: string, options: ProjectOptions & JsonOption) => testAccount(id, options, context));
  addProjectOptions(addJson(test, "the result as JSON")).addHelpText("after", notes);
  addExamples(test, ["svc connections test acc_01h455vb4pex5vsknk084sn02q"]);
}

const notes = `
The read is a call of a tool: limits and rules of the project apply, and \`svc tool-calls\` lists it. It is the tool by which
the toolkit identifies an account, or else its smallest read without arguments.

Prints works, refused or unknown. After a 401 the account is expired: connect it again. An app that fails or cannot be
reached changes nothing.

Exit status: 0 works, 1 refused or not testable, 2 wrong options, 3 unknown.`;

const unknownExitCode = 3;

async function testAccount(id: string, options: ProjectOptions & JsonOption, context: CommandContext): Promise<void> {
  const { connections } = await openProjectClient(options, context);
  const result = await connections.testConnection({ id });
  const { outcome, message, toolSlug, providerStatus, testedAt } = result;
  if (options.json) context.print(messageText(TestConnectionResponseSchema, result));
  else {
    const status = providerStatus === 0 ? "no answer" : `HTTP ${providerStatus}`;
    const how = toolSlug === "" ? "nothing sent" : `${toolSlug}, ${status}`;
    context.print(`${outcome}: ${plainText(message)} (${how}, ${timeText(testedAt)})`);
  }
  if (outcome === "works") return;
  if (outcome !== "refused") {
    throw new CommandError(`It is not known whether the credential of ${id} is good.`, unknownExitCode);
  }
  const isExpired = result.account?.state === "expired";
  const advice = isExpired ? "It is expired, and no call is made with it: connect it again with `svc connect`." : "";
  throw new CommandError(`The app refused the credential of ${id}. ${advice}`.trimEnd());
}

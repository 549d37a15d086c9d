import { ConnectionsService, TestConnectionResponseSchema } from "@svc/gen/connections";
import type { ProjectOptions } from "../command/client.ts";
import { command, type Run } from "../command/declared.ts";
import { CommandError } from "../command/error.ts";
import type { JsonOption } from "../command/options.ts";
import { messageText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { timeText } from "../text/table.ts";

const notes = `
The read is a call of a tool: limits and rules of the project apply, and \`svc tool-calls\` lists it. It is the tool by which
the toolkit identifies an account, or else its smallest read without arguments.

Prints works, refused or unknown. After a 401 the account is expired: connect it again. An app that fails or cannot be
reached changes nothing.

Exit status: 0 works, 1 refused or not testable, 2 wrong options, 3 unknown.`;

/** Adds `svc connections test`. */
export const addConnectionTest = command(
  ConnectionsService.method.testConnection,
  {
    says: "try an account's credential with one harmless read of its app, and print what the app made of it",
    takes: { "<id>": "id of the account, acc_…" },
    json: "the result as JSON",
    more: notes,
    examples: ["svc connections test acc_01h455vb4pex5vsknk084sn02q"],
  },
  async ({ values: options, context, project, asJson }: Run<ProjectOptions & JsonOption & { readonly id: string }>) => {
    const { id } = options;
    const { connections } = await project();
    const result = await connections.testConnection({ id });
    const { outcome, message, toolSlug, providerStatus, testedAt } = result;
    if (asJson) context.print(messageText(TestConnectionResponseSchema, result));
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
  },
);

const unknownExitCode = 3;

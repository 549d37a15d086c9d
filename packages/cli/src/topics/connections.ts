import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { systemClock } from "@svc/core";
import { ConnectedAccountSchema, ConnectionsService, TestConnectionResponseSchema } from "@svc/gen/connections";
import type { ConnectedAccount } from "@svc/sdk";
import { command, type Run } from "../command/declared.ts";
import { CommandError } from "../command/error.ts";
import { parseCount, parseSpan } from "../command/options.ts";
import { call, list, topic } from "../command/topic.ts";
import { messageText } from "../text/message.ts";
import { plainText } from "../text/plain.ts";
import { timeText } from "../text/table.ts";

const notes = `
The read is a call of a tool: limits and rules of the project apply, and \`svc tool-calls\` lists it. It is the tool by which
the toolkit identifies an account, or else its smallest read without arguments.

Prints works, refused or unknown. After a 401 the account is expired: connect it again. An app that fails or cannot be
reached changes nothing.

Exit status: 0 works, 1 refused or not testable, 2 wrong options, 3 unknown.`;

/** The command `svc connections test`, which tests an account's credential with one harmless read and prints the result. */
const addConnectionTest = command(
  ConnectionsService.method.testConnection,
  {
    says: "test an account's credential with one harmless read, and print the result",
    takes: { "<id>": "id of the account, acc_…" },
    json: "the result as JSON",
    more: notes,
    examples: ["svc connections test acc_01h455vb4pex5vsknk084sn02q"],
  },
  async ({ values: { id }, context, project, asJson }: Run<{ readonly id: string }>) => {
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
      throw new CommandError(`The result says nothing about the credential of ${id}.`, unknownExitCode);
    }
    const isExpired = result.account?.state === "expired";
    const advice = isExpired ? "It is expired and can make no calls: connect it again with `svc connect`." : "";
    throw new CommandError(`The app refused the credential of ${id}. ${advice}`.trimEnd());
  },
);

const unknownExitCode = 3;

const { listConnections, getConnection, setAccountReferences, createConnectLink, deleteConnection } =
  ConnectionsService.method;
const exampleId = "acc_01h455vb4pex5vsknk084sn02q";

type ReferencesValues = { readonly id: string; readonly reference: readonly string[]; readonly clear?: true };

/** The commands `svc connections list|show|test|references|link|delete`, for connected accounts. */
export const addConnectionsCommand = topic({
  says: "list, show, test and delete connected accounts, and set which events belong to them",
  examples: ["svc connections", "svc connections list --entity ada"],
  commands: {
    list: list(listConnections, {
      says: "list the project's accounts in every state, newest first",
      isDefault: true,
      options: [
        ["--toolkit <slug>", "only accounts of this toolkit", { fills: "toolkitSlug" }],
        ["--entity <id>", "only accounts of this entity", { fills: "entityId" }],
        [
          "--state <state>",
          "only accounts in this state",
          { choices: ["pending", "active", "expired", "superseded", "revoked"] },
        ],
        ["--limit <count>", "largest number of accounts to list", { parse: parseCount, default: 100 }],
      ],
      rows: "accounts",
      table: {
        ID: "id",
        TOOLKIT: ({ toolkitSlug }) => toolkitSlug,
        // The project's own credential belongs to no entity.
        ENTITY: ({ entityId }) => entityId || "-",
        SCHEME: ({ scheme }) => scheme,
        STATE: ({ state }) => state,
        CREDENTIAL: credentialText,
        CONNECTED: "createdAt",
        "LAST ERROR": ({ lastError }) => lastError || "-",
      },
      json: "the accounts as a JSON list",
      examples: ["svc connections list", "svc connections list --toolkit calendar --state active"],
    }),
    show: call(getConnection, {
      says: "show one account with its variables, scopes and references, as JSON; svc never shows credentials",
      takes: { "<id>": "id of the account, acc_…" },
      result: "account",
      json: "the account as JSON, which is also the default",
      shows: ({ account }) => (account === undefined ? [] : messageText(ConnectedAccountSchema, account)),
      notes: ({ account }, { asJson }) =>
        asJson || account === undefined ? [] : `Credential: ${credentialText(account)}`,
      examples: [`svc connections show ${exampleId}`],
    }),
    test: addConnectionTest,
    references: call(setAccountReferences, {
      says: "set the app's own ids of an account, which svc matches inbound events with, and print them",
      takes: {
        "<id>": "id of the account, acc_…",
        "[reference...]": "all ids; ids that you leave out are removed, and the id that the app itself reported stays",
      },
      options: [["--clear", "remove all ids"]],
      request: ({ values: { reference, clear } }: Run<ReferencesValues>) => {
        if (reference.length > 0 === (clear === true))
          throw new CommandError("give all references that the account should have, or --clear for none", 2);
        return { references: [...reference] };
      },
      result: "account",
      json: "the account as JSON",
      shows: ({ account }, { context, values: { id } }) => {
        const references = account?.references ?? [];
        if (references.length === 0) context.note(`${id} has no references, so no event is matched with it.`);
        return references.map(plainText);
      },
      examples: [
        `svc connections references ${exampleId} channel-7 channel-8`,
        `svc connections references ${exampleId} --clear`,
      ],
    }),
    link: call(createConnectLink, {
      says: "create a link with which a person without a key connects an account, and print it; svc does not show it again",
      takes: { "<toolkit>": ["slug of the toolkit", { fills: "toolkitSlug" }] },
      options: [
        ["--entity <id>", "entity that the account will belong to", { fills: "entityId", required: true }],
        ["--scheme <scheme>", "scheme of the toolkit, if it declares several"],
        ["--redirect-url <url>", "for oauth2: the page that the person's browser is sent to at the end"],
        [
          "--expires-in <duration>",
          "how long the link is valid, such as 2d or PT12H, at most 7 days (default: 7 days)",
          { parse: parseSpan },
        ],
      ],
      request: ({ values: { expiresIn } }: Run<{ readonly expiresIn?: number }>) =>
        expiresIn === undefined ? {} : { expiresAt: timestampFromMs(systemClock.now() + expiresIn) },
      json: "the link as JSON",
      shows: ({ url }) => url,
      notes: ({ expiresAt }) => `Valid until ${timeText(expiresAt)}. Anyone with the link can use it.`,
      examples: ["svc connections link calendar --entity ada"],
    }),
    delete: call(deleteConnection, {
      says: "revoke an account permanently and erase its credentials",
      takes: { "<id>": "id of the account, acc_…" },
      deleted: "id",
      json: "the id as JSON",
      shows: "{id} is revoked; its credentials are erased",
      examples: [`svc connections delete ${exampleId}`],
    }),
  },
});

/**
 * Returns the last known answer of the app to an account's credential (for example "worked at 2026-03-14T09:26:53Z"). Returns `-` if there
 * is none.
 */
function credentialText({ scheme, sandbox, credentialTry }: ConnectedAccount): string {
  if (scheme === "none") return "-";
  if (sandbox) return "not tested: sandbox";
  return credentialTry === undefined ? "not tested yet" : `${credentialTry.outcome} at ${timeText(credentialTry.at)}`;
}

import { systemClock } from "@svc/core";
import { ConnectedAccountSchema, ConnectionsService } from "@svc/gen/connections";
import { Code, ConnectError, type ConnectedAccount, type SvcClient } from "@svc/sdk";
import { openProjectClient, originOf, ownProjectId, type ProjectOptions } from "../../command/client.ts";
import type { CommandContext } from "../../command/context.ts";
import { command, type Run } from "../../command/declared.ts";
import { CommandError, failureText } from "../../command/error.ts";
import type { JsonOption } from "../../command/options.ts";
import { messageText } from "../../text/message.ts";
import { accountOptions, type ConnectInputs, chooseScheme, fillVariables, readCredential } from "./inputs.ts";

type ConnectOptions = ProjectOptions &
  JsonOption &
  ConnectInputs & { entity: string; open: boolean; redirectUrl?: string };

const notes = `
No option takes a secret, because it would stay in the shell's history and in the list of processes. At a terminal the
command asks for the key without showing it; otherwise give it with --key-stdin or --key-env. --api-key is the project's key of svc.`;

/** The command `svc connect`, which connects an entity's account of an app and prints the account's id. */
export const addConnectCommand = command(
  ConnectionsService.method.initiateConnection,
  {
    says: "connect an entity's account of an app, and print the account's id",
    takes: { "<toolkit>": "slug of the toolkit, such as calendar" },
    options: [
      ["--entity <id>", "owner of the account: your own id of a user, up to 200 characters", { required: true }],
      ...accountOptions,
      ["--redirect-url <url>", "page that the browser is sent to after consent (default: a plain page)"],
    ],
    json: "the account as JSON",
    more: notes,
    examples: [
      "svc connect calendar --entity ada                             # oauth2: in the browser",
      "svc connect messaging_bot --entity ada                        # asks for the key",
      "svc connect messaging_bot --entity ada --key-stdin < bot-key",
      "svc connect search_engine --entity ada --var hostname=search.example.com --key-env SEARCH_KEY",
    ],
  },
  ({ values: options, context }: Run<ConnectOptions & { readonly toolkit: string }>) => {
    const { toolkit } = options;
    return connectAccount(toolkit, options, context).catch((err: unknown) => {
      throw withKeyHint(err, options, context);
    });
  },
);

/**
 * Returns the error of a call, with a hint if svc does not know the given key. The option `--api-key` is for the project's key of svc.
 * Users sometimes give it the app's own key, which belongs to `--key-stdin` or `--key-env`; the hint says so. Returns other errors
 * unchanged.
 */
function withKeyHint(err: unknown, { apiKey }: ConnectOptions, context: CommandContext): unknown {
  if (apiKey === undefined || !(err instanceof ConnectError) || err.code !== Code.Unauthenticated) return err;
  return new CommandError(
    `${failureText(err, originOf(context))} --api-key is the project's key of svc; give the app's own key with --key-stdin or --key-env.`,
  );
}

/** Connects an account. Standard output contains only the id of the account, so that a shell can store it in a variable. */
async function connectAccount(toolkitSlug: string, options: ConnectOptions, context: CommandContext): Promise<void> {
  const client = await openProjectClient(options, context);
  const opened = await openAccount(client, toolkitSlug, options, context);
  if (opened === undefined) return;
  const { account, isConsented, credentialTried } = opened;
  const { id } = account;
  context.print(options.json ? messageText(ConnectedAccountSchema, account) : id);
  context.note(`${toolkitSlug} is connected for ${options.entity} with ${account.scheme}.`);
  if (!account.sandbox && !credentialTried && !isConsented && account.scheme !== "none")
    context.note(
      `The credential was stored but not tested: ${toolkitSlug} names no call that identifies an account. Test it: \`svc connections test ${id}\`.`,
    );
  if (account.sandbox)
    context.note("Sandbox: no app was asked, and any credential is accepted; results of calls are made up.");
}

/**
 * A new account. `isConsented`: true if a person gave consent for it (OAuth). `credentialTried`: true if the app accepted its credential.
 */
type OpenedAccount = {
  readonly account: ConnectedAccount;
  readonly isConsented: boolean;
  readonly credentialTried: boolean;
};

/**
 * Connects an account with the given options, and waits for the consent of OAuth. Asks for missing values at the terminal. Returns undefined
 * if the toolkit has no accounts.
 */
export async function openAccount(
  client: SvcClient,
  toolkitSlug: string,
  options: ConnectInputs & Pick<ConnectOptions, "entity" | "open" | "redirectUrl">,
  context: CommandContext,
): Promise<OpenedAccount | undefined> {
  const projectId = await ownProjectId(client);
  const { spec } = await client.catalog.getToolkitConnectSpec({ slug: toolkitSlug, projectId });
  if (spec === undefined) return undefined;
  const scheme = await chooseScheme(options, spec, context);
  const accountVariables = await fillVariables(options, spec, context);
  const credential = await readCredential(scheme, options, context);
  const redirectUrl = options.redirectUrl ?? "";
  const request = { toolkitSlug, entityId: options.entity, scheme, accountVariables, ...credential, redirectUrl };
  const { account, authorizeUrl, credentialTried } = await client.connections.initiateConnection(request);
  if (account === undefined) return undefined;
  if (authorizeUrl === "") return { account, isConsented: false, credentialTried };
  const { id } = account;
  const active = await awaitConsent(client, { id, authorizeUrl, canOpen: options.open }, context);
  return { account: active, isConsented: true, credentialTried };
}

/** Time in milliseconds that the command waits for the consent of the user. After this time, the authorize URL has expired. */
const consentMs = 10 * 60_000;
/** Interval in milliseconds at which the command reads the account's state while it waits for the user's consent. */
const pollMs = 1_000;

/**
 * Sends the user to the app's consent page, and waits until the account is active. Rejects with CommandError if the user refuses consent,
 * gives no consent within 10 minutes, or interrupts the wait.
 */
async function awaitConsent(
  client: SvcClient,
  { id, authorizeUrl, canOpen }: { id: string; authorizeUrl: string; canOpen: boolean },
  context: CommandContext,
): Promise<ConnectedAccount> {
  const { terminal } = context;
  const isOpened = canOpen && ((await terminal?.openPage(authorizeUrl)) ?? false);
  context.note(
    isOpened ? "Your browser should show the page. If it does not, open:" : "Open this page within 10 minutes:",
  );
  context.note(authorizeUrl);
  const stopSpinner = await terminal?.startSpinner("Waiting for consent");
  try {
    return await pollAccount(client, id, context.untilInterrupted());
  } finally {
    stopSpinner?.();
  }
}

async function pollAccount({ connections }: SvcClient, id: string, signal: AbortSignal): Promise<ConnectedAccount> {
  const untilMs = systemClock.now() + consentMs;
  while (systemClock.now() < untilMs && !signal.aborted) {
    const { account } = await connections.getConnection({ id }, { signal }).catch((err: unknown) => {
      if (signal.aborted) return { account: undefined };
      throw err;
    });
    if (account?.state === "active") return account;
    if (account !== undefined && account.state !== "pending") {
      throw new CommandError(`the account was not connected: ${account.lastError || `it is ${account.state}`}`);
    }
    await systemClock.wait(pollMs, signal);
  }
  if (!signal.aborted) throw new CommandError("consent was not given within 10 minutes; run the command again");
  throw new CommandError(`stopped waiting; \`svc connections show ${id}\` shows the account's state`);
}

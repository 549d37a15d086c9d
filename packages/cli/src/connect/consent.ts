import { systemClock } from "@svc/core";
import type { ConnectedAccount, SvcClient } from "@svc/sdk";
import type { CommandContext } from "../command/context.ts";
import { CommandError } from "../command/error.ts";

/** How long an authorize URL is good, and how often the account is looked at, milliseconds. */
const consentMs = 10 * 60_000;
const pollMs = 1_000;

/**
 * Sends the person to the app's consent page and waits until the account is active. Rejects with CommandError when consent was refused
 * or not given in 10 minutes, or the wait was interrupted.
 */
export async function awaitConsent(
  client: SvcClient,
  { id, authorizeUrl, canOpen }: { id: string; authorizeUrl: string; canOpen: boolean },
  context: CommandContext,
): Promise<ConnectedAccount> {
  const { terminal } = context;
  const isOpened = canOpen && ((await terminal?.openPage(authorizeUrl)) ?? false);
  context.note(
    isOpened ? "Your browser should show the page; if it does not, open:" : "Open this page within 10 minutes:",
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
  throw new CommandError(`not waited for any longer; \`svc connections show ${id}\` tells what becomes of it`);
}

import type { IncomingMessage } from "node:http";
import { type Clock, digestSecret, Fault } from "@svc/core";
import { type ApiKey, type ConsoleLink, type Database, findConsoleLink, findKeyById } from "@svc/db";
import { isValidKey } from "../auth/key-cache.ts";
import { linkInvalid } from "./errors.ts";
import type { SignInLimit } from "./sign-in-limit.ts";

/** A link that is good, and the key that vouches for it. */
export type GoodLink = { readonly link: ConsoleLink; readonly key: ApiKey };

/** How a dead link's reader gets another, by purpose. */
const helps: Readonly<Record<ConsoleLink["purpose"], string>> = {
  sign_in: "Run `npx svc console` for another one, or sign in with a key.",
  answer: "Ask whoever sent it for another one.",
  connect: "Ask whoever sent it for another one.",
  confirm: "It is no link of the console's: call the tool again.",
};

/** How a dead link's reader gets another. */
export function linkHelp(purpose: ConsoleLink["purpose"]): string {
  return helps[purpose];
}

/** What opening links works with. */
export type LinkOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly limit: SignInLimit;
  /** Who sent a request, as addresses are counted. */
  readonly addressOf: (req: IncomingMessage) => string;
};

/**
 * Lets an address try a secret, unless too many of its attempts failed: then rejects with SIGN_INS_EXCEEDED, and nothing is looked up. What
 * rejects as unauthenticated counts as failed.
 */
export async function withinLimit<Result>(
  { limit, addressOf }: Pick<LinkOptions, "limit" | "addressOf">,
  req: IncomingMessage,
  attempt: () => Promise<Result>,
): Promise<Result> {
  const address = addressOf(req);
  const refusal = limit.refusalOf(address);
  if (refusal !== undefined) throw refusal;
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof Fault && error.code === "unauthenticated") limit.noteFailure(address);
    throw error;
  }
}

/**
 * Finds the link of a token. Rejects with LINK_INVALID for one that is none, of another purpose, spent, over, or whose key has ended.
 */
export async function findGoodLink(
  { db, clock }: Pick<LinkOptions, "db" | "clock">,
  purpose: ConsoleLink["purpose"],
  token: string,
): Promise<GoodLink> {
  const help = helps[purpose];
  const link = await findConsoleLink(db, digestSecret(token));
  if (link === undefined || link.purpose !== purpose) throw linkInvalid("the link is unknown", help);
  if (link.spentAt !== null) throw linkInvalid("the link was used already: it works once", help);
  if (link.expiresAt <= clock.now()) throw linkInvalid("the link's time is over", help);
  const key = await findKeyById(db, link.keyId);
  if (key === undefined || !isValidKey(key, clock.now()))
    throw linkInvalid("the key that vouched for the link is revoked or expired", help);
  return { link, key };
}

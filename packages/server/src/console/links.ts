import { type Clock, digestSecret } from "@svc/core";
import { type ApiKey, type ConsoleLink, type Database, findConsoleLink, findKeyById } from "@svc/db";
import { isValidKey } from "../auth/key-cache.ts";
import { linkInvalid } from "./errors.ts";

/** A link that is good, and the key that vouches for it. */
export type GoodLink = { readonly link: ConsoleLink; readonly key: ApiKey };

/** How a dead link's reader gets another, by purpose. */
const helps: Readonly<Record<ConsoleLink["purpose"], string>> = {
  sign_in: "Run `npx svc console` for another one, or sign in with a key.",
  answer: "Ask whoever sent it for another one.",
  connect: "Ask whoever sent it for another one.",
};

/**
 * Finds the link of a token. Rejects with LINK_INVALID for one that is none, of another purpose, spent, over, or whose key has ended.
 */
export async function findGoodLink(
  { db, clock }: { db: Database; clock: Clock },
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

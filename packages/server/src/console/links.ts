import type { IncomingMessage } from "node:http";
import { type Clock, coreFaults, digestSecret } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { type ConsoleLink, findConsoleLink } from "@svc/db/console/links";
import { type CallerKey, findCallerKeyById } from "@svc/db/keys/repo";
import { isValidKey } from "../auth/key-cache.ts";
import { consoleFaults } from "./errors.ts";
import type { SignInLimit } from "./sign-in-limit.ts";

/** A console link that can still be used, and the key with which the link was created. */
export type GoodLink = { readonly link: ConsoleLink; readonly key: CallerKey };

/** Advice on how to get a new link, by the link's purpose. */
const helps: Readonly<Record<ConsoleLink["purpose"], string>> = {
  sign_in: "Run `npx svc console` for another one, or sign in with a key.",
  answer: "Ask the sender for another one.",
  connect: "Ask the sender for another one.",
  confirm: "It is not a link of the console: call the tool again.",
  portal: "Ask the sender for another one.",
};

/** Returns the advice for a person whose console link does not work: how to get a new link for the same purpose. */
export function linkHelp(purpose: ConsoleLink["purpose"]): string {
  return helps[purpose];
}

/** Dependencies of the handlers that open console links (links for one purpose, which work without a key). */
export type LinkOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly limit: SignInLimit;
  /** Returns the address of a request's sender. Attempts to sign in or to open a link with a secret are counted for this address. */
  readonly addressOf: (req: IncomingMessage) => string;
};

/**
 * Runs `attempt`, in which the sender of a request tries a secret, and returns its result. Rejects with SIGN_INS_EXCEEDED after too many
 * attempts.
 */
export function withinLimit<Result>(
  { limit, addressOf }: Pick<LinkOptions, "limit" | "addressOf">,
  req: IncomingMessage,
  secret: string,
  attempt: () => Promise<Result>,
): Promise<Result> {
  return limit.attempt(addressOf(req), digestSecret(secret).toString("latin1"), attempt);
}

/**
 * Returns the link that a token belongs to. Rejects with LINK_INVALID if the link is unknown, used or expired, has another purpose, or if
 * its key has ended.
 */
export async function findGoodLink(
  { db, clock }: Pick<LinkOptions, "db" | "clock">,
  purpose: ConsoleLink["purpose"],
  token: string,
): Promise<GoodLink> {
  const help = helps[purpose];
  const link = await findConsoleLink(db, digestSecret(token));
  if (link === undefined || link.purpose !== purpose) throw consoleFaults.LINK_INVALID("the link is unknown", help);
  if (link.spentAt !== null) throw consoleFaults.LINK_INVALID("the link was used already: it works once", help);
  if (link.expiresAt <= clock.now()) throw consoleFaults.LINK_INVALID("the link has expired", help);
  const key = await findCallerKeyById(db, link.keyId);
  if (key === undefined || !isValidKey(key, clock.now()))
    throw consoleFaults.LINK_INVALID("the key that vouched for the link is revoked or expired", help);
  if (key.hold !== "") throw coreFaults.PROJECT_MOVING(key.hold, key.movedTo);
  return { link, key };
}

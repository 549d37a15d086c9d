import { createId, digestSecret, generateToken, type LinkId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { type ConsoleLink, insertConsoleLink } from "./links.ts";

/** What a link is made of; times are epoch milliseconds. */
export type NewConsoleLink = Pick<ConsoleLink, "purpose" | "target" | "projectId" | "keyId" | "expiresAt"> & {
  readonly nowMs: number;
};

/** Makes a link. Its token is answered here and kept nowhere. */
export async function makeConsoleLink(
  db: Executor,
  { nowMs, ...link }: NewConsoleLink,
): Promise<{ readonly id: LinkId; readonly token: string }> {
  const token = generateToken();
  const id = createId("lnk", nowMs);
  await insertConsoleLink(db, { ...link, id, digest: digestSecret(token), createdAt: nowMs, spentAt: null });
  return { id, token };
}

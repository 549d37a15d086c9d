import type { VaultKey } from "@svc/core";
import { type Database, openDatabase } from "@svc/db/connect";
import type { Config } from "../config/settings.ts";
import { MoveError } from "./errors.ts";

/** The databases of the two cells (deployments) between which a project moves, and the vault key that they share. */
export type OpenMove = AsyncDisposable & {
  readonly from: Database;
  readonly to: Database;
  readonly vaultKeys: readonly VaultKey[];
};

/**
 * Opens the two databases of a project's move: that of the configuration, and `destination`. Throws MoveError if the configuration names no
 * database or no vault key. An embedded database cannot be used, because the running service lets no other process connect to it.
 */
export function openMove(
  { databaseUrl, vaultKeys }: Pick<Config, "databaseUrl" | "vaultKeys">,
  destination: string | undefined,
): OpenMove {
  if (databaseUrl === undefined)
    throw new MoveError("SVC_DATABASE_URL is not set: give the address of the source's PostgreSQL");
  if (destination === undefined)
    throw new MoveError("SVC_MOVE_DATABASE_URL is not set: give the address of the destination's PostgreSQL");
  if (vaultKeys === undefined) throw new MoveError("SVC_VAULT_KEY is not set: give the vault key of both cells");
  const [from, to] = [databaseUrl, destination].map((url) => openDatabase({ url, applicationName: "svc move" }));
  if (from === undefined || to === undefined) throw new Error("a database was not opened");
  return {
    ...{ from, to, vaultKeys },
    async [Symbol.asyncDispose]() {
      await Promise.all([from.close(), to.close()]);
    },
  };
}

/** Returns an error of the database with its own message. Otherwise it would only say which statement failed. Other errors stay. */
export function plainError(error: unknown): unknown {
  if (!(error instanceof Error) || !(error.cause instanceof Error)) return error;
  return new MoveError(`the database refused or did not answer: ${error.cause.message}`);
}

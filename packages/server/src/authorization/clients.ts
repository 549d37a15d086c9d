import { type Database, findGrantClient } from "@svc/db";

/** Who asks a person for a grant. */
export type Client = {
  readonly id: string;
  /** What it calls itself; empty where it says nothing. Nobody has checked it. */
  readonly name: string;
  readonly redirectUris: readonly string[];
  /** The host that its description was read from; undefined for one that registered itself, from anywhere. */
  readonly host: string | undefined;
};

/** Finds a client by its id; undefined where there is none. */
export type FindClient = (id: string) => Promise<Client | undefined>;

const idCharactersMax = 1_024;

/** Makes the way to clients. */
export function createFindClient({ db }: { db: Database }): FindClient {
  return async (id) => {
    if (id.length > idCharactersMax) return undefined;
    const found = await findGrantClient(db, id);
    return found && { ...found, host: undefined };
  };
}

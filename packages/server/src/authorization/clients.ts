import type { IncomingMessage } from "node:http";
import type { Database } from "@svc/db/connect";
import { findGrantClient } from "@svc/db/grants/codes";
import { type Client, type ClientDocuments, isClientUrl } from "./client.ts";
import type { AddressLimit } from "./register.ts";
import { AuthorizationRefusal } from "./serve.ts";

/** Finds a client by its id; undefined where there is none. Throws ClientDocumentError where its description cannot be had. */
export type FindClient = (id: string, req: IncomingMessage) => Promise<Client | undefined>;

const idCharactersMax = 1_024;

/** Makes the way to clients: by their address, or as they registered. */
export function createFindClient({
  db,
  documents,
  limit,
}: {
  db: Database;
  documents: ClientDocuments;
  /** Of lookups of addresses, which anyone can have made. */
  limit: AddressLimit;
}): FindClient {
  return async (id, req) => {
    if (id.length > idCharactersMax) return undefined;
    if (isClientUrl(id)) {
      const waitMs = limit(req);
      if (waitMs !== undefined) throw tooMany(waitMs);
      return documents.find(id);
    }
    const found = await findGrantClient(db, id);
    return found && { ...found, host: undefined };
  };
}

function tooMany(waitMs: number): AuthorizationRefusal {
  const why = "Too many programs were looked up from this address. Try again in a minute.";
  return new AuthorizationRefusal("temporarily_unavailable", why, 429, Math.ceil(waitMs / 1_000));
}

import { createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Clock, generateToken, type JsonObject, type Sealer } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { type GrantClient, grantClientSender, insertGrantClient } from "@svc/db/grants/codes";
import { addressGroup } from "../listen/client-address.ts";
import { createMinuteCount } from "../minute-count.ts";
import { readClientName, readRedirectUris } from "./clients.ts";
import { type AuthorizationOptions, AuthorizationRefusal, answerUnkept, readJson } from "./serve.ts";

/** Counts a request of an address. Returns the time to wait in milliseconds if the address exceeds its limit, otherwise undefined. */
type AddressLimit = (req: IncomingMessage) => number | undefined;

/** Creates a limit of `most` requests per address, minute and node. */
export function createAddressLimit(options: {
  clock: Clock;
  most: number;
  /** Returns the caller's address. */
  addressOf: (req: IncomingMessage) => string;
}): AddressLimit {
  const count = createMinuteCount(options);
  return (req) => count(addressGroup(options.addressOf(req)));
}

/** Services of the registration. */
export type RegisterOptions = AuthorizationOptions & {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Pick<Sealer, "subkey">;
  /** Returns the caller's address. */
  readonly addressOf: (req: IncomingMessage) => string;
};

/** Maximum clients without a grant. Beyond it, svc deletes the oldest client of the address that registered the most. */
const unusedMax = 1_000;
/** Maximum registrations per address, minute and node. */
const perAddressMax = 20;

/**
 * Creates the handler that registers a client without a metadata document (RFC 7591). The client gets an id and never a secret, because the code
 * verifier alone protects its codes.
 */
export function createRegister(options: RegisterOptions): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  const { db, clock, sealer } = options;
  const limit = createAddressLimit({ ...options, most: perAddressMax });
  return async (req, res) => {
    const waitMs = limit(req);
    if (waitMs !== undefined) throw tooMany(waitMs);
    const sender = senderOf(addressGroup(options.addressOf(req)), sealer);
    const client = readClient(await readJson(req, options), { nowMs: clock.now(), sender });
    await insertGrantClient(db, client, unusedMax);
    answerUnkept(res, 201, {
      client_id: client.id,
      client_id_issued_at: Math.floor(client.createdAt / 1_000),
      client_name: client.name,
      redirect_uris: client.redirectUris,
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    });
  };
}

/** Returns the sender prefix of a client's id, so that an address that registers many displaces its own. It does not reveal the address. */
function senderOf(address: string, sealer: Pick<Sealer, "subkey">): string {
  return createHmac("sha256", sealer.subkey("senders of clients"))
    .update(address)
    .digest("base64url")
    .slice(0, grantClientSender.characters);
}

function tooMany(waitMs: number): AuthorizationRefusal {
  const why = `more than ${perAddressMax} clients were registered from this address within a minute`;
  return new AuthorizationRefusal("temporarily_unavailable", why, 429, Math.ceil(waitMs / 1_000));
}

/** Reads the client's description. Throws AuthorizationRefusal if it is not valid. */
function readClient(json: JsonObject, { nowMs, sender }: { nowMs: number; sender: string }): GrantClient {
  const redirectUris = readRedirectUris(json["redirect_uris"]);
  if (typeof redirectUris === "string") throw new AuthorizationRefusal("invalid_redirect_uri", redirectUris);
  const name = readClientName(json["client_name"]);
  if (name === undefined)
    throw new AuthorizationRefusal(
      "invalid_client_metadata",
      "client_name is a text of at most 100 printable characters",
    );
  return { id: `client_${sender}${generateToken()}`, name, redirectUris, createdAt: nowMs, usedAt: null };
}

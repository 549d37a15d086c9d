import { createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Clock, generateToken, type JsonObject, type Sealer } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { type GrantClient, grantClientSender, insertGrantClient } from "@svc/db/grants/codes";
import { addressGroup } from "../listen/client-address.ts";
import { createMinuteCount } from "../minute-count.ts";
import { readClientName, readRedirectUris } from "./client.ts";
import { type AuthorizationOptions, AuthorizationRefusal, answerUnkept, readJson } from "./serve.ts";

/** Counts what addresses do, on a node: answers how long one must wait, milliseconds, that has done it too often; undefined where it may. */
export type AddressLimit = (req: IncomingMessage) => number | undefined;

/** Makes the count: `most` within a minute. */
export function createAddressLimit(options: {
  clock: Clock;
  most: number;
  /** Who sent a request, as addresses are counted. */
  addressOf: (req: IncomingMessage) => string;
}): AddressLimit {
  const count = createMinuteCount(options);
  return (req) => count(addressGroup(options.addressOf(req)));
}

/** What registering works with. */
export type RegisterOptions = AuthorizationOptions & {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Pick<Sealer, "subkey">;
  /** Who sent a request, as addresses are counted. */
  readonly addressOf: (req: IncomingMessage) => string;
};

/** Clients without a grant that are known at once; the oldest of the address that registered the most gives way. */
const unusedMax = 1_000;
/** Registrations of an address within a minute, on a node. */
const perAddressMax = 20;

/**
 * Registers a client (RFC 7591): for those that have no address of their own to be known by. It gets an id and no secret, whatever it asked
 * for: what a code is worth hangs on its verifier alone.
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

/** What stands for who registers at the beginning of a client's id: whoever registers many pushes out its own. It tells no address. */
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

/** Throws AuthorizationRefusal for a description that is none. */
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

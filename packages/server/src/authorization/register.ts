import { createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Clock, createMinuteCount, generateToken, type JsonObject, type Sealer } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { type GrantClient, grantClientSender, insertGrantClient } from "@svc/db/grants/codes";
import { addressGroup } from "../listen/client-address.ts";
import { readClientName, readRedirectUris } from "./clients.ts";
import { type AuthorizationOptions, AuthorizationRefusal, answerUnkept, readJson } from "./serve.ts";

/**
 * Counts a request from the IP address of its sender. Returns undefined if the request is within the limit. Otherwise returns the time in
 * milliseconds after which the sender may try again.
 */
type AddressLimit = (req: IncomingMessage) => number | undefined;

/**
 * Creates a limit of `most` requests per minute. Each node counts by itself, and separately for each IPv4 address or IPv6 network (64 bits)
 * of a sender.
 */
export function createAddressLimit(options: {
  clock: Clock;
  most: number;
  /** Returns the IP address from which a request was sent. */
  addressOf: (req: IncomingMessage) => string;
}): AddressLimit {
  const count = createMinuteCount(options);
  return (req) => count(addressGroup(options.addressOf(req)));
}

/** Dependencies of the endpoint at which OAuth clients register. */
export type RegisterOptions = AuthorizationOptions & {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Pick<Sealer, "subkey">;
  /** Returns the IP address from which a request was sent. */
  readonly addressOf: (req: IncomingMessage) => string;
};

/**
 * Maximum number of OAuth clients without a grant (a person's permission for an agent). If there are more, svc deletes the oldest client of
 * the address that registered the most.
 */
const unusedMax = 1_000;
/** Maximum number of client registrations per minute on each node, for each IPv4 address or IPv6 network (64 bits). */
const perAddressMax = 20;

/**
 * Creates the handler that registers an OAuth client without a metadata document (RFC 7591). The client receives an id but no secret. A
 * secret is not needed, because PKCE (the code verifier) protects the client's authorization codes.
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

/**
 * Returns a prefix for the id of a client that registers itself. The prefix identifies the sender's address without revealing it. When
 * there are too many clients, svc uses the prefix to delete clients of the address that registered the most.
 */
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

/** Returns the client that a registration request describes. Throws AuthorizationRefusal if the description is not valid. */
function readClient(json: JsonObject, { nowMs, sender }: { nowMs: number; sender: string }): GrantClient {
  const redirectUris = readRedirectUris(json["redirect_uris"]);
  if (typeof redirectUris === "string") throw new AuthorizationRefusal("invalid_redirect_uri", redirectUris);
  const name = readClientName(json["client_name"]);
  if (name === undefined)
    throw new AuthorizationRefusal(
      "invalid_client_metadata",
      "client_name must be a text of at most 100 printable characters",
    );
  return { id: `client_${sender}${generateToken()}`, name, redirectUris, createdAt: nowMs, usedAt: null };
}

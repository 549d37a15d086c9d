import type { IncomingMessage, ServerResponse } from "node:http";
import { type Clock, generateToken, isPrintableText, type JsonObject, LeastRecentlyUsed } from "@svc/core";
import { type Database, type GrantClient, insertGrantClient } from "@svc/db";
import { addressGroup } from "../http/client-address.ts";
import { AuthorizationRefusal, answerUnkept } from "./answers.ts";
import { redirectUriFault } from "./redirect-uri.ts";
import { readJson, type ServeOptions } from "./serve.ts";

/** What registering works with. */
export type RegisterOptions = ServeOptions & {
  readonly db: Database;
  readonly clock: Clock;
  /** Who sent a request, as addresses are counted. */
  readonly addressOf: (req: IncomingMessage) => string;
};

/** Clients without a grant that are known at once; the one that registered longest ago gives way. */
const unusedMax = 1_000;
/** Registrations of an address within a minute, on a node. */
const perAddressMax = 20;
const windowMs = 60_000;
const addressesMax = 10_000;
const redirectUrisMax = 10;
/** Most characters of a client's name. */
export const clientNameCharacters = 100;

/**
 * Registers a client (RFC 7591): for those that have no address of their own to be known by. It gets an id and no secret, whatever it asked
 * for: what a code is worth hangs on its verifier alone.
 */
export function createRegister(options: RegisterOptions): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  const { db, clock, addressOf } = options;
  const limit = createLimit(clock);
  return async (req, res) => {
    limit(addressGroup(addressOf(req)));
    const client = readClient(await readJson(req, options), clock.now());
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

function readClient(json: JsonObject, nowMs: number): GrantClient {
  const uris = json["redirect_uris"];
  const redirectUris = readRedirectUris(uris);
  return {
    ...{ id: `client_${generateToken()}`, redirectUris, createdAt: nowMs, usedAt: null },
    name: readClientName(json["client_name"]) ?? "",
  };
}

/** Reads the redirect URIs of a client. Throws AuthorizationRefusal with invalid_redirect_uri. */
export function readRedirectUris(value: unknown): string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > redirectUrisMax)
    throw new AuthorizationRefusal(
      "invalid_redirect_uri",
      `redirect_uris is a list of 1 to ${redirectUrisMax} addresses`,
    );
  return value.map((uri: unknown) => {
    const why = typeof uri === "string" ? redirectUriFault(uri) : "a redirect URI is a text";
    if (why !== undefined) throw new AuthorizationRefusal("invalid_redirect_uri", why);
    return String(uri);
  });
}

/** Reads what a client calls itself; undefined where it says nothing. Throws AuthorizationRefusal with invalid_client_metadata. */
export function readClientName(value: unknown): string | undefined {
  if (value === undefined || value === "") return undefined;
  if (typeof value === "string" && isPrintableText(value, clientNameCharacters)) return value;
  throw new AuthorizationRefusal(
    "invalid_client_metadata",
    `client_name is a text of at most ${clientNameCharacters} characters without control characters`,
  );
}

/** Counts registrations by address; the function throws AuthorizationRefusal beyond the limit. */
function createLimit(clock: Clock): (address: string) => void {
  const counted = new LeastRecentlyUsed<string, { count: number; readonly untilMs: number }>(addressesMax);
  return (address) => {
    const nowMs = clock.now();
    const found = counted.get(address);
    if (found === undefined || found.untilMs <= nowMs) {
      counted.set(address, { count: 1, untilMs: nowMs + windowMs });
      return;
    }
    found.count += 1;
    if (found.count <= perAddressMax) return;
    const seconds = Math.ceil((found.untilMs - nowMs) / 1_000);
    const why = `more than ${perAddressMax} clients were registered from this address within a minute`;
    throw new AuthorizationRefusal("temporarily_unavailable", why, 429, seconds);
  };
}

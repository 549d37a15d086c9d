import type { IncomingMessage } from "node:http";
import {
  type AddressGuard,
  type Clock,
  isObject,
  type JsonObject,
  LeastRecentlyUsed,
  parseExactJson,
  type ResolveName,
  readForeignText,
} from "@svc/core";
import { createGuardedAgent, type GuardedAgent } from "@svc/core/dial";
import type { Database } from "@svc/db/connect";
import { findGrantClient } from "@svc/db/grants/codes";
import { type Client, readClientName, readRedirectUris } from "./clients.ts";
import { createAddressLimit } from "./register.ts";
import { AuthorizationRefusal } from "./serve.ts";

/**
 * Reads client metadata documents (JSON files in which OAuth clients describe themselves). The id of a client that has such a document is
 * the document's address.
 */
export type ClientDocuments = {
  /**
   * Returns the client with this id. The id is the address of a document that describes the client. Throws ClientDocumentError if the
   * document cannot be used.
   */
  find(id: string): Promise<Client>;
  /** Closes the connections over which client metadata documents (JSON files in which OAuth clients describe themselves) were read. */
  close(): Promise<void>;
};

/** Error for a client metadata document that svc cannot use. The message is a sentence for the person whom the client sent here. */
export class ClientDocumentError extends Error {
  override readonly name = "ClientDocumentError";
}

const bytesMax = 16_384;
const depthMax = 8;
const timeoutDefaultMs = 5_000;
/** Maximum number of metadata documents that are read at the same time. */
const underWayMax = 16;
/** Maximum number of clients that are cached. */
const keptMax = 500;
/**
 * Milliseconds for which a client's metadata document is cached. `minMs` and `maxMs`: limits. `defaultMs`: used if the server of the
 * document gives no time.
 */
const kept = { minMs: 60_000, defaultMs: 300_000, maxMs: 3_600_000 };

/**
 * Creates the reader of client metadata documents (draft-ietf-oauth-client-id-metadata-document). The reader connects through the address
 * guard, by https, without redirects, for at most 5 s and 16 KiB. Valid documents are cached for 1 to 60 minutes, by default 5. Failures
 * are not cached.
 */
export function createClientDocuments(options: {
  guard: AddressGuard;
  clock: Clock;
  resolve?: ResolveName;
  /** Timeout for reading a metadata document, in milliseconds. Default 5,000. */
  timeoutMs?: number;
}): ClientDocuments {
  const { clock, timeoutMs = timeoutDefaultMs } = options;
  const agent = createGuardedAgent({
    ...options,
    connections: 2,
    connectTimeoutMs: timeoutMs,
    headersTimeoutMs: timeoutMs,
    bodyTimeoutMs: timeoutMs,
    responseBytesMax: bytesMax,
    keepAliveMaxMs: 1_000,
  });
  const known = new LeastRecentlyUsed<string, { readonly client: Client; readonly untilMs: number }>(keptMax);
  const underWay = new Map<string, Promise<Client>>();
  const read = async (id: string): Promise<Client> => {
    const { json, keptMs } = await fetchDocument(agent, documentUrl(id), timeoutMs);
    const client = readDocument(id, json);
    if (keptMs > 0) known.set(id, { client, untilMs: clock.now() + keptMs });
    return client;
  };
  return {
    async find(id) {
      const found = known.get(id);
      if (found !== undefined && found.untilMs > clock.now()) return found.client;
      const pending = underWay.get(id);
      if (pending !== undefined) return pending;
      if (underWay.size >= underWayMax)
        throw new ClientDocumentError("Too many programs are looked up now. Try again in a moment.");
      const reading = read(id).finally(() => underWay.delete(id));
      underWay.set(id, reading);
      return reading;
    },
    close: () => agent.destroy(),
  };
}

/** True if an OAuth client's id is the address of its client metadata document (a JSON file in which the client describes itself). */
function isClientUrl(id: string): boolean {
  return id.startsWith("https://");
}

/**
 * Returns the URL in a client's id. Throws ClientDocumentError unless the URL is https, has a path, has no user name or password, and is
 * written in its normal form (as the class URL writes it).
 */
function documentUrl(id: string): URL {
  const url = URL.parse(id);
  const isPlain = url?.href === id && url.username === "" && url.password === "" && !id.includes("#");
  if (url?.protocol !== "https:" || !isPlain || url.pathname === "/")
    throw new ClientDocumentError(
      "The program's id is not an https address with a path. It must be the address of its description.",
    );
  return url;
}

async function fetchDocument(
  agent: GuardedAgent,
  url: URL,
  timeoutMs: number,
): Promise<{ json: JsonObject; keptMs: number }> {
  const unreadable = (why: string) =>
    new ClientDocumentError(`The program's description at ${url.host} cannot be read: ${why}.`);
  try {
    const answer = await agent.request({
      ...{ origin: url.origin, path: `${url.pathname}${url.search}`, method: "GET" },
      headers: { accept: "application/json", "user-agent": "svc" },
      signal: AbortSignal.timeout(timeoutMs),
    });
    const read = readForeignText(await answer.body.bytes());
    if (answer.statusCode !== 200) throw unreadable(`the answer has status ${answer.statusCode}`);
    const json = "text" in read ? parse(read.text) : undefined;
    if (json === undefined) throw unreadable("it is not a JSON object");
    return { json, keptMs: keptOf(String(answer.headers["cache-control"] ?? "")) };
  } catch (error) {
    if (error instanceof ClientDocumentError) throw error;
    // The message does not contain the exact reason, because anyone can see this page. With the reason, it would show which addresses
    // answer, and how.
    throw unreadable("its server gave no valid answer in time");
  }
}

function parse(text: string): JsonObject | undefined {
  try {
    const json: unknown = parseExactJson(text, { depthMax });
    return isObject(json) ? (json as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

function keptOf(cacheControl: string): number {
  if (/\bno-(?:store|cache)\b/.test(cacheControl)) return kept.minMs;
  const seconds = /\bmax-age=(\d{1,9})\b/.exec(cacheControl)?.[1];
  if (seconds === undefined) return kept.defaultMs;
  return Math.min(kept.maxMs, Math.max(kept.minMs, Number(seconds) * 1_000));
}

function readDocument(id: string, json: JsonObject): Client {
  if (json["client_id"] !== id)
    throw new ClientDocumentError("The client_id in the program's description is another address.");
  if (json["client_secret"] !== undefined)
    throw new ClientDocumentError("The program's description is public, and contains a client_secret.");
  const redirectUris = readRedirectUris(json["redirect_uris"]);
  if (typeof redirectUris === "string")
    throw new ClientDocumentError(`The program's description is wrong: ${redirectUris}.`);
  const name = readClientName(json["client_name"]);
  if (name === undefined)
    throw new ClientDocumentError("The program's description is wrong: client_name is not a name.");
  return { id, name, redirectUris, host: new URL(id).host };
}

/**
 * Returns the client with an id, or undefined if the client is unknown. Throws ClientDocumentError if its metadata document cannot be used.
 */
export type FindClient = (id: string, req: IncomingMessage) => Promise<Client | undefined>;

const idCharactersMax = 1_024;
/** Maximum number of lookups of metadata documents per minute on each node, for each IPv4 address or IPv6 network (64 bits) of a caller. */
const lookupsMax = 20;

/**
 * Creates the function that finds an OAuth client by its id. If the id is a URL, the document at this URL describes the client. Otherwise,
 * the client must be registered.
 */
export function createFindClient({
  db,
  documents,
  ...parts
}: {
  db: Database;
  clock: Clock;
  documents: ClientDocuments;
  /** Returns the IP address from which a request was sent. */
  addressOf: (req: IncomingMessage) => string;
}): FindClient {
  const limit = createAddressLimit({ ...parts, most: lookupsMax });
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

import {
  type AddressGuard,
  type Clock,
  isObject,
  isPrintableText,
  type JsonObject,
  LeastRecentlyUsed,
  parseExactJson,
  type ResolveName,
  readForeignText,
} from "@svc/core";
import { createGuardedAgent, type GuardedAgent } from "@svc/core/dial";
import { redirectUriFault } from "./redirect-uri.ts";

/** Who asks a person for a grant. */
export type Client = {
  readonly id: string;
  /** What it calls itself; empty where it says nothing. Nobody has checked it. */
  readonly name: string;
  readonly redirectUris: readonly string[];
  /** The host that its description was read from; undefined for one that registered itself, from anywhere. */
  readonly host: string | undefined;
};

const redirectUrisMax = 10;
const nameCharacters = 100;
/** What is not seen, or turns the direction of what is: a name with it shows as another one. */
const unseen = /\p{Cf}/u;

/** Reads the redirect addresses of a client; what is wrong with them where they are none. */
export function readRedirectUris(value: unknown): string[] | string {
  if (!Array.isArray(value) || value.length === 0 || value.length > redirectUrisMax)
    return `redirect_uris is a list of 1 to ${redirectUrisMax} addresses`;
  const uris: string[] = [];
  for (const uri of value) {
    const why = typeof uri === "string" ? redirectUriFault(uri) : "a redirect URI is a text";
    if (why !== undefined) return why;
    uris.push(uri);
  }
  return uris;
}

/** Reads what a client calls itself, empty where it says nothing; undefined for what is no name of at most 100 printable characters. */
export function readClientName(value: unknown): string | undefined {
  if (value === undefined) return "";
  const isName = typeof value === "string" && isPrintableText(value, nameCharacters) && !unseen.test(value);
  return isName ? value : undefined;
}

/** Reads what clients say of themselves at the addresses that they are known by. */
export type ClientDocuments = {
  /** The client of an address. Throws ClientDocumentError where it has none that can be read. */
  find(id: string): Promise<Client>;
  /** Ends its connections. */
  close(): Promise<void>;
};

/** Why the description of a client cannot be had, as a sentence for the person who was led here. */
export class ClientDocumentError extends Error {
  override readonly name = "ClientDocumentError";
}

const bytesMax = 16_384;
const depthMax = 8;
const timeoutDefaultMs = 5_000;
/** Requests under way at once: anyone can ask for one. */
const underWayMax = 16;
const keptMax = 500;
/** How long a description is believed, whatever its server says: between a minute and an hour, five minutes where it says nothing. */
const kept = { minMs: 60_000, defaultMs: 300_000, maxMs: 3_600_000 };

/**
 * Makes the reader (draft-ietf-oauth-client-id-metadata-document). An address is dialled through the guard, by https, without redirects, for 5 s
 * and 16 KiB at most; what came of it is kept for a while, and what did not is asked for again.
 */
export function createClientDocuments(options: {
  guard: AddressGuard;
  clock: Clock;
  resolve?: ResolveName;
  /** Default 5 s. */
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
      const asked = underWay.get(id);
      if (asked !== undefined) return asked;
      if (underWay.size >= underWayMax)
        throw new ClientDocumentError("Too many programs are looked up now. Try again in a moment.");
      const reading = read(id).finally(() => underWay.delete(id));
      underWay.set(id, reading);
      return reading;
    },
    close: () => agent.destroy(),
  };
}

/** Whether a client's id is an address. */
export function isClientUrl(id: string): boolean {
  return id.startsWith("https://");
}

/** An address that a client may be known by: https, a path of its own, and nothing that another spelling would leave out. */
function documentUrl(id: string): URL {
  const url = URL.parse(id);
  const isPlain = url?.href === id && url.username === "" && url.password === "" && !id.includes("#");
  if (url?.protocol !== "https:" || !isPlain || url.pathname === "/")
    throw new ClientDocumentError(
      "The program's id is no https address with a path, as addresses of descriptions are.",
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
    if (answer.statusCode !== 200) throw unreadable(`it was answered with ${answer.statusCode}`);
    const json = "text" in read ? parse(read.text) : undefined;
    if (json === undefined) throw unreadable("it is no JSON object");
    return { json, keptMs: keptOf(String(answer.headers["cache-control"] ?? "")) };
  } catch (error) {
    if (error instanceof ClientDocumentError) throw error;
    // Which addresses answer, and how, is told to nobody: the page is open to all.
    throw unreadable("its server gave no such answer in time");
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
    throw new ClientDocumentError(
      "The program's description is that of another address: its client_id is not its own.",
    );
  if (json["client_secret"] !== undefined)
    throw new ClientDocumentError("The program's description holds a client_secret, which everybody could read.");
  const redirectUris = readRedirectUris(json["redirect_uris"]);
  if (typeof redirectUris === "string")
    throw new ClientDocumentError(`The program's description is wrong: ${redirectUris}.`);
  const name = readClientName(json["client_name"]);
  if (name === undefined) throw new ClientDocumentError("The program's description is wrong: client_name is no name.");
  return { id, name, redirectUris, host: new URL(id).host };
}

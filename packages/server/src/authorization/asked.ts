import {
  type Clock,
  createSealer,
  isPrintableText,
  type KeyId,
  type ProjectId,
  SealError,
  type Sealer,
} from "@svc/core";
import type { Client } from "./client.ts";
import type { Place } from "./metadata.ts";
import { isRedirectUriOf } from "./redirect-uri.ts";
import { type AccessScope, accessScopes, firstScopes } from "./scopes.ts";
import { AuthorizationRefusal, requireOnce } from "./serve.ts";

/** What a client asks a person for. It travels in the page, sealed. */
export type Asked = Place & {
  readonly clientId: string;
  readonly clientName: string;
  /** The host that the client's description was read from; undefined for one that registered itself. */
  readonly clientHost: string | undefined;
  readonly redirectUri: string;
  readonly challenge: string;
  /** The client's own; empty for none. */
  readonly state: string;
  readonly scopes: readonly AccessScope[];
  readonly toolkitSlugs: readonly string[];
  /** Digest of the cookie of the browser that opened the page, base64url. */
  readonly browser: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
};

/** The same once the person has shown who they are. */
export type Vouched = Asked & { readonly projectId: ProjectId; readonly keyId: KeyId };

/** Why a request may not be answered to its client: it is unknown, or its address is not the client's. */
export class ClientUntrusted extends Error {
  override readonly name = "ClientUntrusted";
}

/** A client asks for what nobody could give; it may be told so. */
export type Unanswerable = Pick<Asked, "redirectUri" | "state" | "issuer" | "clientName"> & {
  readonly refusal: AuthorizationRefusal;
};

const stateCharactersMax = 2_048;

/**
 * Reads an authorization request (RFC 6749, 4.1.1; 7636; 8707). Throws ClientUntrusted before the client and its address are known to belong
 * together; what is wrong then is answered.
 */
export async function readAsked(
  parameters: URLSearchParams,
  place: Place,
  findClient: (id: string) => Promise<Client | undefined>,
): Promise<Omit<Asked, "browser" | "expiresAt"> | Unanswerable> {
  const client = await findClientOf(parameters, findClient);
  const redirectUri = parameters.get("redirect_uri") ?? "";
  if (!isRedirectUriOf(client.redirectUris, redirectUri))
    throw new ClientUntrusted("The address that the answer is to be sent to is none that the program registered.");
  const state = parameters.get("state") ?? "";
  const known = {
    ...place,
    redirectUri,
    state: state.length > stateCharactersMax ? "" : state,
    clientName: client.name,
  };
  try {
    requireOnce(parameters);
    if (state.length > stateCharactersMax)
      throw new AuthorizationRefusal("invalid_request", `state has more than ${stateCharactersMax} characters`);
    return {
      ...known,
      ...{ clientId: client.id, clientHost: client.host },
      challenge: readChallenge(parameters),
      scopes: readScopes(parameters, place),
      toolkitSlugs: readToolkits(parameters),
    };
  } catch (error) {
    if (error instanceof AuthorizationRefusal) return { ...known, refusal: error };
    throw error;
  }
}

async function findClientOf(parameters: URLSearchParams, findClient: Parameters<typeof readAsked>[2]): Promise<Client> {
  const [id = "", ...more] = parameters.getAll("client_id");
  if (more.length > 0 || parameters.getAll("redirect_uri").length > 1)
    throw new ClientUntrusted("The request names its program or its address more than once.");
  const client = id === "" ? undefined : await findClient(id);
  if (client === undefined)
    throw new ClientUntrusted(
      "The program that asks is unknown here. It has to register again: remove its connection to this address and add it anew.",
    );
  return client;
}

function readChallenge(parameters: URLSearchParams): string {
  if (parameters.get("response_type") !== "code")
    throw new AuthorizationRefusal("unsupported_response_type", "response_type is code");
  const challenge = parameters.get("code_challenge") ?? "";
  if (parameters.get("code_challenge_method") !== "S256" || !/^[A-Za-z0-9_-]{43}$/.test(challenge))
    throw new AuthorizationRefusal("invalid_request", "code_challenge is needed, with code_challenge_method S256");
  return challenge;
}

function readScopes(parameters: URLSearchParams, { resource }: Place): readonly AccessScope[] {
  if ((parameters.get("resource") ?? resource) !== resource)
    throw new AuthorizationRefusal("invalid_target", `the resource of this service is ${resource}`);
  // Names that mean nothing here, offline_access among them, are left out: what is given is answered.
  const asked = (parameters.get("scope") ?? "").split(" ");
  const known = accessScopes.filter((scope) => asked.includes(scope));
  return known.length === 0 ? firstScopes : known;
}

const toolkitsMax = 100;

/** Those that `toolkit:…` names. */
function readToolkits(parameters: URLSearchParams): string[] {
  const asked = (parameters.get("scope") ?? "").split(" ");
  const slugs = asked.flatMap((scope) => /^toolkit:([a-z][a-z0-9_]{0,62})$/.exec(scope)?.[1] ?? []);
  return [...new Set(slugs)].slice(0, toolkitsMax);
}

/** Seals what travels in the page: as asked, and as vouched for. One never passes for the other. */
export type Seals = {
  readonly asked: Seal<Asked>;
  readonly vouched: Seal<Vouched>;
};

/** Seals and opens one of them. */
export type Seal<Value> = {
  seal(value: Value): string;
  /** Undefined when this service did not make it, and when its time is over. */
  open(text: string): Value | undefined;
};

/** Makes the seals of a vault, under a key of their own: what they make is handed out. */
export function createSeals(sealer: Sealer, clock: Clock): Seals {
  const own = createSealer(sealer.subkeys("grants"));
  const sealOf = <Value extends Asked>(use: string): Seal<Value> => ({
    seal: (value) => own.seal(Buffer.from(JSON.stringify(value), "utf8"), use).toString("base64url"),
    open(text) {
      const value = openSealed(text, (sealed) => own.open(sealed, use)) as Value | undefined;
      return value !== undefined && value.expiresAt > clock.now() ? value : undefined;
    },
  });
  return { asked: sealOf("grants/asked"), vouched: sealOf("grants/vouched") };
}

function openSealed(text: string, open: (sealed: Buffer) => Buffer): unknown {
  const sealed = Buffer.from(text, "base64url");
  // Decoding skips foreign characters and spare bits; only the text that was handed out is accepted.
  if (text === "" || sealed.toString("base64url") !== text) return undefined;
  try {
    return JSON.parse(open(sealed).toString("utf8"));
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}

/** Where a client is answered, with the issuer that answers (RFC 9207) and its own state. */
export function answerUrl(
  { redirectUri, state, issuer }: Pick<Asked, "redirectUri" | "state" | "issuer">,
  parameters: Readonly<Record<string, string>>,
): string {
  const query = new URLSearchParams({ ...parameters, ...(state !== "" && { state }), iss: issuer });
  return `${redirectUri}${redirectUri.includes("?") ? "&" : "?"}${query}`;
}

/** A client's name as people read it. */
export function nameOf({ clientName }: Pick<Asked, "clientName">): string {
  return isPrintableText(clientName, 100) && clientName.trim() !== "" ? clientName : "A program without a name";
}

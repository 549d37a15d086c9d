import { type Clock, createSealer, type KeyId, type ProjectId, SealError, type Sealer } from "@svc/core";
import { type Client, isRedirectUriOf } from "./clients.ts";
import type { ServiceUrls } from "./metadata.ts";
import { type AccessScope, accessScopes, firstScopes } from "./scopes.ts";
import { AuthorizationRefusal, requireOnce } from "./serve.ts";

/** A client's request for a person's consent. The consent pages contain it in encrypted form, so that a browser cannot change it. */
export type ConsentRequest = ServiceUrls & {
  readonly clientId: string;
  readonly clientName: string;
  /** Host of the client's metadata document; undefined if the client registered itself. */
  readonly clientHost: string | undefined;
  readonly redirectUri: string;
  readonly challenge: string;
  /** The `state` parameter of the client's request; empty if it sent none. */
  readonly state: string;
  readonly scopes: readonly AccessScope[];
  readonly toolkitSlugs: readonly string[];
  /** Digest of the cookie of the browser that opened the page, base64url. */
  readonly browser: string;
  /** Time when the consent request expires, in epoch milliseconds. */
  readonly expiresAt: number;
};

/** A consent request after the person was identified. `keyId`: the person's key. */
export type VouchedRequest = ConsentRequest & { readonly projectId: ProjectId; readonly keyId: KeyId };

/**
 * Error for a request that svc does not answer to the client: the client is unknown, or the redirect URI does not belong to the client. The
 * message is for the person.
 */
export class UntrustedClientError extends Error {
  override readonly name = "UntrustedClientError";
}

/** A client's request that no person can grant. svc may report the refusal to the client. */
export type RefusedRequest = Pick<ConsentRequest, "redirectUri" | "state" | "issuer" | "clientName"> & {
  readonly refusal: AuthorizationRefusal;
};

const stateCharactersMax = 2_048;

/**
 * Returns the consent request in an authorization request (RFC 6749, 4.1.1; 7636; 8707). Throws UntrustedClientError if the client is
 * unknown or the redirect URI does not belong to the client. Other errors are returned as a RefusedRequest.
 */
export async function readConsentRequest(
  parameters: URLSearchParams,
  urls: ServiceUrls,
  findClient: (id: string) => Promise<Client | undefined>,
): Promise<Omit<ConsentRequest, "browser" | "expiresAt"> | RefusedRequest> {
  const client = await findClientOf(parameters, findClient);
  const redirectUri = parameters.get("redirect_uri") ?? "";
  if (!isRedirectUriOf(client.redirectUris, redirectUri))
    throw new UntrustedClientError("The program has not registered the address that the answer goes to.");
  const state = parameters.get("state") ?? "";
  const known = {
    ...urls,
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
      scopes: readScopes(parameters, urls),
      toolkitSlugs: readToolkits(parameters),
    };
  } catch (error) {
    if (error instanceof AuthorizationRefusal) return { ...known, refusal: error };
    throw error;
  }
}

async function findClientOf(
  parameters: URLSearchParams,
  findClient: Parameters<typeof readConsentRequest>[2],
): Promise<Client> {
  const [id = "", ...more] = parameters.getAll("client_id");
  if (more.length > 0 || parameters.getAll("redirect_uri").length > 1)
    throw new UntrustedClientError("The request names its program or its address more than once.");
  const client = id === "" ? undefined : await findClient(id);
  if (client === undefined)
    throw new UntrustedClientError(
      "The program is unknown here. It must register again: remove its connection to this address and add it again.",
    );
  return client;
}

function readChallenge(parameters: URLSearchParams): string {
  if (parameters.get("response_type") !== "code")
    throw new AuthorizationRefusal("unsupported_response_type", "response_type must be code");
  const challenge = parameters.get("code_challenge") ?? "";
  if (parameters.get("code_challenge_method") !== "S256" || !/^[A-Za-z0-9_-]{43}$/.test(challenge))
    throw new AuthorizationRefusal("invalid_request", "code_challenge with code_challenge_method S256 is missing");
  return challenge;
}

function readScopes(parameters: URLSearchParams, { resource }: ServiceUrls): readonly AccessScope[] {
  if ((parameters.get("resource") ?? resource) !== resource)
    throw new AuthorizationRefusal("invalid_target", `resource must be ${resource}, the address of this service`);
  // Unknown scopes, such as offline_access, are ignored. The token response lists the granted scopes.
  const asked = (parameters.get("scope") ?? "").split(" ");
  const known = accessScopes.filter((scope) => asked.includes(scope));
  return known.length === 0 ? firstScopes : known;
}

const toolkitsMax = 100;

/** Returns the toolkits (apps with their tools and webhooks) named by scopes of the form `toolkit:…`. */
function readToolkits(parameters: URLSearchParams): string[] {
  const asked = (parameters.get("scope") ?? "").split(" ");
  const slugs = asked.flatMap((scope) => /^toolkit:([a-z][a-z0-9_]{0,62})$/.exec(scope)?.[1] ?? []);
  return [...new Set(slugs)].slice(0, toolkitsMax);
}

/**
 * Two objects that encrypt the data of an OAuth request. The consent pages contain this data, and the encryption prevents that a browser
 * changes it. `asked` is for pages before the person is identified, and `vouched` for pages after that. A text that one object encrypted
 * cannot be decrypted with the other.
 */
export type Seals = {
  readonly asked: Seal<ConsentRequest>;
  readonly vouched: Seal<VouchedRequest>;
};

/** Encrypts requests of one kind to texts (`seal`), and decrypts such texts (`open`). */
export type Seal<Value> = {
  seal(value: Value): string;
  /**
   * Returns the request that the text contains in sealed (encrypted) form. Returns undefined if this service did not seal the text, or if
   * the request has expired.
   */
  open(text: string): Value | undefined;
};

/**
 * Creates the objects that encrypt the clients' requests for the consent pages. They use a separate key derived from the service's key,
 * because browsers receive the encrypted texts.
 */
export function createSeals(sealer: Sealer, clock: Clock): Seals {
  const own = createSealer(sealer.subkeys("grants"));
  const sealOf = <Value extends ConsentRequest>(use: string): Seal<Value> => ({
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
  // Only the exact text that svc issued is accepted. Decoding ignores foreign characters and unused bits, so a changed text could decode to
  // the same bytes.
  if (text === "" || sealed.toString("base64url") !== text) return undefined;
  try {
    return JSON.parse(open(sealed).toString("utf8"));
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}

/** Returns the URL that carries an answer to the client, with the issuer (RFC 9207) and the client's `state`. */
export function answerUrl(
  { redirectUri, state, issuer }: Pick<ConsentRequest, "redirectUri" | "state" | "issuer">,
  parameters: Readonly<Record<string, string>>,
): string {
  const query = new URLSearchParams({ ...parameters, ...(state !== "" && { state }), iss: issuer });
  return `${redirectUri}${redirectUri.includes("?") ? "&" : "?"}${query}`;
}

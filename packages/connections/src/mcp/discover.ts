import type { OauthDocument, OpenIdReading } from "@svc/catalog";
import {
  type Clock,
  isObject,
  isPrintableText,
  type ProjectId,
  parseExactJson,
  readForeignText,
  type Sealer,
} from "@svc/core";
import { type FoundToolkitClient, toolkitClientsForProject } from "@svc/db/catalog/clients";
import type { Database } from "@svc/db/connect";
import type { AppAnswer, AppRequest } from "../app-transport.ts";
import type { NetworkTransport } from "../network-transport.ts";
import { callbackUrlOf, issuerKeyOf } from "../oauth-flow.ts";
import type { IssuerReading } from "../options.ts";
import { sealClientSecret } from "../toolkit-clients.ts";

/** Objects and addresses that are needed to find out how a server authorizes its callers, and to register a client there. */
export type DiscoveryOptions = {
  readonly network: Pick<NetworkTransport, "exchange">;
  /** Returns the public address of this service (SVC_PUBLIC_URL). */
  readonly publicUrl: () => string;
  readonly db: Database;
  readonly sealer: Sealer;
  readonly clock: Clock;
};

/**
 * A server that answered 401. `challenge`: its header `WWW-Authenticate`; empty if it sent none. `slug`: slug of its toolkit, empty if the
 * caller chose none.
 */
export type ChallengingServer = {
  readonly url: string;
  readonly challenge: string;
  readonly projectId: ProjectId;
  readonly slug: string;
};

/**
 * Result of reading the OAuth metadata of a server: `found` with the authentication scheme of its toolkit, or the reason why svc cannot use
 * it, as the end of a sentence. `client`: the OAuth client to store with the toolkit; undefined if the project has one already.
 */
export type Discovery =
  | { readonly kind: "found"; readonly scheme: OauthDocument; readonly client: FoundToolkitClient | undefined }
  | { readonly kind: "unusable"; readonly message: string };

/** Options of one discovery. `endMs`: its end, in milliseconds of `performance.now()`. */
type TimedOptions = Pick<DiscoveryOptions, "network"> & { readonly endMs: number };

/** Maximum time in milliseconds of a discovery: all its documents and the registration of the client together. */
const discoveryMs = 30_000;

/** Error for a server whose OAuth cannot be used. */
class UnusableError extends Error {
  override name = "UnusableError";
}

/**
 * Finds out how an MCP server authorizes its callers with OAuth, and finds or gets an OAuth client of the project. `known`: the toolkit's
 * present OAuth scheme; a client id in it is kept if the issuer is the same. `isTrial`: true to register no client.
 */
export async function discoverOauth(
  given: DiscoveryOptions,
  server: ChallengingServer,
  { known, isTrial }: { readonly known: OauthDocument | undefined; readonly isTrial: boolean },
): Promise<Discovery> {
  const options = { ...given, endMs: performance.now() + discoveryMs };
  return orUnusable(async () => {
    // By RFC 9728 (resource), RFC 8414 (issuer) and RFC 7591 (registration of the client).
    const { resource, issuer, scopes } = await readResource(options, server);
    const metadata = await readIssuer(options, issuer, server.projectId);
    const { authorizeUrl, tokenUrl } = endpointsOf(metadata, issuer);
    const clientId = known?.issuer === issuer ? known.clientId : undefined;
    const registration = { issuer, tokenUrl, projectId: server.projectId, slug: server.slug, isTrial };
    const isKept = (await hasClient(options, registration)) || clientId !== undefined;
    const client = isKept ? undefined : await makeClient(options, metadata, registration);
    const scheme = { type: "oauth2", authorizeUrl, tokenUrl, defaultScopes: scopes, refresh: true } as const;
    const named = { ...scheme, issuer, resource, ...(clientId !== undefined && { clientId }) };
    return { kind: "found", scheme: named, client } as const;
  });
}

/**
 * Returns a new OAuth client for a toolkit that has an OAuth scheme but no client. Returns undefined if the toolkit has a client, or if svc
 * can get none. `known`: the toolkit's OAuth scheme.
 */
export async function replaceMissingClient(
  given: DiscoveryOptions,
  { projectId, slug }: Pick<ChallengingServer, "projectId" | "slug">,
  { known, isTrial }: { readonly known: OauthDocument; readonly isTrial: boolean },
): Promise<FoundToolkitClient | undefined> {
  const { issuer = "", tokenUrl, clientId } = known;
  if (issuer === "" || clientId !== undefined) return undefined;
  const options = { ...given, endMs: performance.now() + discoveryMs };
  const registration = { issuer, tokenUrl, projectId, slug, isTrial };
  const made = await orUnusable(async () => {
    if (await hasClient(options, registration)) return undefined;
    const metadata = await readIssuer(options, issuer, projectId);
    if (endpointsOf(metadata, issuer).tokenUrl !== tokenUrl) return undefined;
    return makeClient(options, metadata, registration);
  });
  return made !== undefined && "clientId" in made ? made : undefined;
}

/** Returns a function that reads the metadata of an OAuth issuer for a project. */
export function createIssuerReader({
  network,
}: Pick<DiscoveryOptions, "network">): (issuer: string, projectId: ProjectId) => Promise<IssuerReading> {
  return (issuer, projectId) =>
    orUnusable(async () => {
      const options = { network, endMs: performance.now() + discoveryMs };
      const metadata = await readIssuer(options, issuer, projectId);
      const method = secretMethodOf(metadata);
      const { tokenUrl } = endpointsOf(metadata, issuer);
      const namesItself = metadata["authorization_response_iss_parameter_supported"] === true;
      return { kind: "found", tokenUrl, secretPlace: method && placesOfMethods[method], namesItself } as const;
    });
}

/** Returns the result of `read`, or the reason of the UnusableError with which it ends. */
async function orUnusable<Found>(
  read: () => Promise<Found>,
): Promise<Found | { readonly kind: "unusable"; readonly message: string }> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof UnusableError) return { kind: "unusable", message: error.message };
    throw error;
  }
}

/**
 * Reads the metadata of an OpenID provider at the address that an OpenAPI document names (OpenID Connect Discovery). The address must end
 * with `/.well-known/openid-configuration` after the name of the issuer, so that no provider can pass itself off as another.
 */
export async function discoverOpenId(
  given: Pick<DiscoveryOptions, "network">,
  url: string,
  projectId: ProjectId,
): Promise<OpenIdReading> {
  const options = { ...given, endMs: performance.now() + discoveryMs };
  return orUnusable(async () => {
    const metadata = await readFirst(options, [url], projectId);
    if (metadata === undefined) throw new UnusableError("it has no metadata of an OpenID provider");
    const { issuer } = metadata;
    const isOwn = typeof issuer === "string" && url === `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
    if (!isOwn) throw new UnusableError(`its metadata is of another issuer (${shown(issuer)})`);
    return { kind: "found", url, issuer, ...endpointsOf(metadata, issuer) } as const;
  });
}

type Metadata = Readonly<Record<string, unknown>>;

/** Reads the metadata of the protected server: its own name for itself, its issuer, and the scopes to ask for. */
async function readResource(options: TimedOptions, { url, challenge, projectId }: ChallengingServer) {
  const { origin, pathname } = new URL(url);
  const named = parameterOf(challenge, "resource_metadata");
  const wellKnown = `${origin}/.well-known/oauth-protected-resource`;
  const addresses = named === undefined ? [`${wellKnown}${pathname.replace(/\/$/, "")}`, wellKnown] : [named];
  const metadata = await readFirst(options, addresses, projectId);
  if (metadata === undefined)
    throw new UnusableError("it answered 401 and publishes no metadata about its authorization");
  const { resource, authorization_servers: issuers, scopes_supported: supported } = metadata;
  if (typeof resource !== "string" || !contains(resource, url))
    throw new UnusableError(`its metadata is for another resource (${shown(resource)})`);
  const [issuer] = Array.isArray(issuers) ? issuers : [];
  if (typeof issuer !== "string") throw new UnusableError("its metadata names no authorization server");
  const scopes = parameterOf(challenge, "scope")?.split(/\s+/) ?? (Array.isArray(supported) ? supported : []);
  return { resource, issuer, scopes: scopes.filter(isScope).slice(0, 50) };
}

/** True if the address of a server is the resource itself, or below it. */
function contains(resource: string, url: string): boolean {
  const [outer, inner] = [URL.parse(resource), URL.parse(url)];
  if (outer === null || inner === null || outer.origin !== inner.origin) return false;
  const path = outer.pathname.replace(/\/$/, "");
  return (
    inner.pathname === outer.pathname ||
    inner.pathname.replace(/\/$/, "") === path ||
    inner.pathname.startsWith(`${path}/`)
  );
}

async function readIssuer(options: TimedOptions, issuer: string, projectId: ProjectId): Promise<Metadata> {
  const address = URL.parse(issuer);
  if (address === null || !isSecure(issuer))
    throw new UnusableError(`the issuer ${shown(issuer)} is not an https address`);
  const path = address.pathname.replace(/\/$/, "");
  const metadata = await readFirst(
    options,
    [
      `${address.origin}/.well-known/oauth-authorization-server${path}`,
      `${address.origin}/.well-known/openid-configuration${path}`,
      `${address.origin}${path}/.well-known/openid-configuration`,
    ],
    projectId,
  );
  if (metadata === undefined) throw new UnusableError(`the issuer ${shown(issuer)} publishes no metadata`);
  // RFC 8414, 3.3: otherwise one issuer could pass itself off as another.
  if (metadata["issuer"] !== issuer) throw new UnusableError(`the metadata of ${shown(issuer)} names another issuer`);
  const methods = metadata["code_challenge_methods_supported"];
  if (!Array.isArray(methods) || !methods.includes("S256"))
    throw new UnusableError(`the issuer ${shown(issuer)} does not offer PKCE with S256`);
  return metadata;
}

function endpointsOf(metadata: Metadata, issuer: string) {
  const { authorization_endpoint: authorizeUrl, token_endpoint: tokenUrl } = metadata;
  if (
    typeof authorizeUrl !== "string" ||
    typeof tokenUrl !== "string" ||
    !isSecure(authorizeUrl) ||
    !isSecure(tokenUrl)
  )
    throw new UnusableError(`the issuer ${shown(issuer)} has no https endpoints for consent and tokens`);
  return { authorizeUrl, tokenUrl };
}

/** A client that svc needs at an issuer. `slug`: slug of the toolkit, empty if the caller chose none. `isTrial`: true to register none. */
type Registration = {
  readonly issuer: string;
  readonly tokenUrl: string;
  readonly projectId: ProjectId;
  readonly slug: string;
  readonly isTrial: boolean;
};

/**
 * True if the project has a client that fits. Throws UnusableError if an approver has set one for another issuer or token endpoint, because
 * an import does not replace it.
 */
async function hasClient(options: DiscoveryOptions, registration: Registration): Promise<boolean> {
  const { issuer, tokenUrl, projectId, slug } = registration;
  const stored = slug === "" ? undefined : await toolkitClientsForProject(options.db, projectId).find(slug);
  if (stored === undefined) return false;
  const fits = stored.issuer === issuer && stored.tokenUrl === tokenUrl;
  if (stored.registration === "manual" && !fits)
    throw new UnusableError(
      `its issuer is ${shown(issuer)} with the token endpoint ${shown(tokenUrl)}, and the OAuth client of toolkit ${slug} is for ${shown(stored.issuer)}: set or delete that client first`,
    );
  return fits && (stored.expiresAt === null || stored.expiresAt > options.clock.now());
}

/** Returns a client to store for a toolkit: a document that svc publishes, if the issuer takes one, or a dynamic registration. */
async function makeClient(
  options: DiscoveryOptions & TimedOptions,
  metadata: Metadata,
  registration: Registration,
): Promise<FoundToolkitClient> {
  const { issuer, tokenUrl, projectId } = registration;
  const publicUrl = options.publicUrl().replace(/\/$/, "");
  const updatedAt = options.clock.now();
  const made = { issuer, tokenUrl, clientSecret: null, secretPlace: null, expiresAt: null, updatedAt };
  if (metadata["client_id_metadata_document_supported"] === true && publicUrl.startsWith("https://")) {
    const clientId = clientDocumentUrl(publicUrl, projectId, issuerKeyOf(issuer));
    return { ...made, registration: "document", clientId };
  }
  const redirectUri = callbackUrlOf(publicUrl, issuer);
  const endpoint = metadata["registration_endpoint"];
  if (typeof endpoint !== "string" || !isSecure(endpoint)) throw new UnusableError(adviceOf(registration, redirectUri));
  const registered = registration.isTrial
    ? { clientId: trialClient }
    : await register(options, metadata, { ...registration, endpoint, redirectUri });
  return { ...made, ...registered, registration: "dynamic" };
}

/** Returns the end of a sentence which says what client to register at an issuer, and what to do with it. */
function adviceOf({ issuer, slug }: Registration, redirectUri: string): string {
  return `its issuer ${shown(issuer)} registers no clients by itself: register one there with the redirect address ${redirectUri}, store it for ${slug === "" ? "a slug of your choice" : `the slug ${slug}`} and this issuer, then import with that slug`;
}

/** Client id of a toolkit that is only tried, so that no client is registered for it. */
const trialClient = "not-registered";

/** Places of the client secret in a token request, by the method of client authentication (RFC 7591). */
const placesOfMethods = { client_secret_basic: "basic", client_secret_post: "post" } as const;

type SecretMethod = keyof typeof placesOfMethods;

/** Returns the method by which an issuer takes a client's secret. Null if it takes none that svc can send. */
function secretMethodOf(metadata: Metadata): SecretMethod | null {
  const methods = methodsOf(metadata);
  const known = ["client_secret_basic", "client_secret_post"] as const;
  return known.find((method) => methods.includes(method)) ?? null;
}

function methodsOf(metadata: Metadata): readonly unknown[] {
  const methods = metadata["token_endpoint_auth_methods_supported"];
  // RFC 8414, 2: the default. Issuers that leave the list out often take clients without a secret as well.
  return Array.isArray(methods) ? methods : ["client_secret_basic", "none"];
}

/**
 * Path below which svc serves the documents that describe it as an OAuth client. An OAuth server (issuer) reads such a document to learn
 * about svc.
 */
export const clientDocumentsPath = "/oauth/clients/";

function clientDocumentUrl(publicUrl: string, projectId: string, issuerKey: string): string {
  return `${publicUrl}${clientDocumentsPath}${projectId}-${issuerKey}.json`;
}

/**
 * Returns the document that describes svc to one OAuth server as its client. `name`: `<project id>-<16 digits for the issuer>.json`.
 * Returns undefined for any other name.
 */
export function clientDocument(publicUrl: string, name: string): object | undefined {
  const [, projectId, issuerKey] = /^(prj_[0-9a-hjkmnp-tv-z]{26})-([0-9a-f]{16})\.json$/.exec(name) ?? [];
  const base = publicUrl.replace(/\/$/, "");
  if (projectId === undefined || issuerKey === undefined) return undefined;
  const redirectUri = `${callbackUrlOf(base, undefined)}/${issuerKey}`;
  return { client_id: clientDocumentUrl(base, projectId, issuerKey), ...clientMetadata(redirectUri, "none") };
}

function clientMetadata(redirectUri: string, method: SecretMethod | "none") {
  return {
    client_name: "svc",
    // Issuers accept a callback on this machine only from applications of the type native (SEP-837).
    application_type: redirectUri.startsWith("https://") ? "web" : "native",
    redirect_uris: [redirectUri],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: method,
  };
}

/** Registers a client at an issuer (RFC 7591). It has a secret only if the issuer takes no clients without one. */
async function register(
  options: DiscoveryOptions & TimedOptions,
  metadata: Metadata,
  given: Registration & { readonly endpoint: string; readonly redirectUri: string },
): Promise<Pick<FoundToolkitClient, "clientId" | "clientSecret" | "secretPlace" | "expiresAt">> {
  const { issuer, projectId, endpoint, redirectUri } = given;
  const wanted = methodsOf(metadata).includes("none") ? "none" : secretMethodOf(metadata);
  if (wanted === null)
    throw new UnusableError(`its issuer ${shown(issuer)} takes no client secret in a way that svc can send it`);
  const headers = { "content-type": "application/json", accept: "application/json", "user-agent": "svc/0.1" };
  const body = JSON.stringify(clientMetadata(redirectUri, wanted));
  const answer = await send(options, { method: "POST", url: endpoint, headers, body }, projectId);
  const made = answer.kind === "answer" && answer.status < 300 ? jsonOf(answer.body) : undefined;
  const clientId = made?.["client_id"];
  if (made === undefined || !isPrintable(clientId, 2_000))
    throw new UnusableError(`its issuer ${shown(issuer)} refused to register a client`);
  const method = made["token_endpoint_auth_method"] ?? wanted;
  const secret = method === "none" ? "" : (made["client_secret"] ?? "");
  const isKnown = method === "none" || method === "client_secret_basic" || method === "client_secret_post";
  if (!isKnown || (secret !== "" && !isPrintable(secret, 8_192)))
    throw new UnusableError(`its issuer ${shown(issuer)} registered a client whose secret svc cannot send`);
  return {
    clientId,
    clientSecret: sealClientSecret(options.sealer, projectId, { clientId, issuer, secret }),
    secretPlace: method === "none" ? null : placesOfMethods[method],
    expiresAt: secret === "" ? null : endOf(made["client_secret_expires_at"]),
  };
}

function isPrintable(value: unknown, lengthMax: number): value is string {
  return typeof value === "string" && value !== "" && isPrintableText(value, lengthMax);
}

/** Returns the end of a client secret in epoch milliseconds. Null if it does not end: 0 means this (RFC 7591, 3.2.1). */
function endOf(seconds: unknown): number | null {
  const isTime = typeof seconds === "number" && seconds > 0 && seconds < 8.64e12;
  return isTime ? Math.floor(seconds) * 1_000 : null;
}

/** Sends a request of a discovery for a project. Throws UnusableError if the time of the discovery has ended. */
function send({ network, endMs }: TimedOptions, request: AppRequest, projectId: ProjectId): Promise<AppAnswer> {
  const timeoutMs = endMs - performance.now();
  if (timeoutMs <= 0)
    throw new UnusableError(`the metadata of its authorization took more than ${discoveryMs / 1_000} s`);
  return network.exchange(request, { projectId, toolkit: { ownerProjectId: projectId } }, { timeoutMs });
}

const documentHeaders = { accept: "application/json", "user-agent": "svc/0.1" };

/** Returns the JSON object at the first of the addresses that has one; undefined if none has. */
async function readFirst(
  options: TimedOptions,
  addresses: readonly string[],
  projectId: ProjectId,
): Promise<Metadata | undefined> {
  for (const address of addresses) {
    if (!isSecure(address)) continue;
    const answer = await send(
      options,
      { method: "GET", url: address, headers: documentHeaders, body: undefined },
      projectId,
    );
    if (answer.kind === "refused") throw new UnusableError(`svc may not read ${shown(address)}: ${answer.message}`);
    const value = answer.kind === "answer" && answer.status === 200 ? jsonOf(answer.body) : undefined;
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Maximum bytes of a metadata document. */
const metadataBytesMax = 262_144;

function jsonOf(body: Buffer): Metadata | undefined {
  if (body.byteLength > metadataBytesMax) return undefined;
  const read = readForeignText(body, "application/json; charset=utf-8");
  if ("fault" in read) return undefined;
  try {
    const value = parseExactJson(read.text, { depthMax: 50 });
    return isObject(value) ? value : undefined;
  } catch {
    // The body is no JSON, so it is no metadata document.
    return undefined;
  }
}

/** True for an https address, and for an http address of this machine, as for every address of a private toolkit. */
function isSecure(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "" || text.length > 2_000) return false;
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback);
}

function isScope(value: unknown): value is string {
  return typeof value === "string" && /^[\x21-\x7e]{1,500}$/.test(value);
}

/** Returns a parameter of the challenge `Bearer` in a header `WWW-Authenticate`; undefined if it is absent. */
function parameterOf(challenge: string, name: string): string | undefined {
  if (!/\bBearer\b/i.test(challenge)) return undefined;
  const [, quoted, bare] =
    new RegExp(`\\b${name}\\s*=\\s*(?:"([^"]*)"|([^\\s,"]+))`, "i").exec(challenge.slice(0, 8_192)) ?? [];
  return quoted ?? bare;
}

function shown(value: unknown): string {
  return JSON.stringify(String(value).slice(0, 200).toWellFormed());
}

import { isObject, isReadableForm, LeastRecentlyUsed, readForeignText } from "@svc/core";
import type { AuthorizationServer, ClientAuth, ResponseBodyError, TokenEndpointResponse } from "oauth4webapi";
import { errorWords } from "./error-words.ts";
import type { ToolkitOauthClient } from "./options.ts";
import type { TokenFetch } from "./token-fetch.ts";

/** Longest accepted lifetime of a token, in seconds: ten years. A longer value is ignored. */
const expiresInMax = 315_360_000;
const scopesMax = 1_000;
const scopeLengthMax = 500;

/**
 * Returns the fields of a token endpoint's answer. The answer is JSON, or a form, which some apps send against RFC 6749, 5.1. Undefined for
 * any other text.
 */
function parseTokenBody(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    // A field with the value null counts as absent.
    return isObject(value)
      ? Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))
      : undefined;
  } catch {
    return parseForm(text);
  }
}

function parseForm(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!/^(?:[\w.-]+=[^&\s]*&?)+$/.test(text.trim()) || !isReadableForm(text)) return undefined;
  const form = new URLSearchParams(text.trim());
  const isTwice = [...form.keys()].some((name) => form.getAll(name).length > 1);
  return isTwice || !(form.has("access_token") || form.has("error")) ? undefined : Object.fromEntries(form);
}

/** Token types that are keys for signing requests. Such a token cannot be sent as a bearer token. */
const signingTypes = /^(?:dpop|pop|mac|hok)$/i;

/**
 * Returns the answer of a token endpoint in corrected form. Apps make common mistakes in optional fields; a field that cannot be read is
 * left out. The answer must not be refused for such a field: a code is valid only once, and the old refresh token may be invalid now. An
 * id_token is removed, because svc does not use it. A token_type that names the owner (`bot`, `user`) counts as bearer.
 */
export function cleanTokenBody(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { id_token: _dropped, token_type, expires_in, refresh_token, scope, ...rest } = body;
  if (typeof rest["access_token"] !== "string") return { ...body };
  const expiresIn = secondsOf(expires_in);
  return {
    ...rest,
    token_type: typeof token_type === "string" && signingTypes.test(token_type) ? token_type : "bearer",
    ...(expiresIn === undefined ? {} : { expires_in: expiresIn }),
    ...(typeof refresh_token === "string" && refresh_token !== "" ? { refresh_token } : {}),
    scope: scopesOf(scope).join(" "),
  };
}

/**
 * Returns the lifetime of a token in whole seconds, from a number or a text in the app's answer. Returns undefined if the value is not a
 * valid lifetime.
 */
function secondsOf(value: unknown): number | undefined {
  const text = typeof value === "number" ? String(value) : typeof value === "string" ? value.trim() : "";
  const [, number] = /^(\d+(?:\.\d+)?)s?$/.exec(text) ?? [];
  const seconds = Number(number);
  return seconds > 0 && seconds <= expiresInMax ? Math.max(1, Math.floor(seconds)) : undefined;
}

/**
 * Returns the error code of an answer without a token, for any HTTP status. The code is a text (RFC 6749, 5.2), or is inside an object, as
 * some apps send it. Undefined if the answer has no error.
 */
function tokenErrorOf(body: Readonly<Record<string, unknown>>): string | undefined {
  const { access_token: token, error } = body;
  if (typeof token === "string" && token !== "") return undefined;
  const named = isObject(error) ? [error["code"], error["type"], error["error"], error["status"]] : [error];
  const code = named.find((value) => typeof value === "string" && value !== "");
  if (typeof code === "string") return code;
  return isObject(error) ? "error" : undefined;
}

/** Returns the first 1,000 scopes of a text or a list, separated by spaces or commas. RFC 6749, 3.3 defines them as printable ASCII. */
export function scopesOf(value: unknown): string[] {
  const text = Array.isArray(value) ? value.filter((item) => typeof item === "string").join(" ") : value;
  if (typeof text !== "string") return [];
  const scopes = text.split(/[\s,]+/).filter((scope) => /^[\x21-\x7e]+$/.test(scope) && scope.length <= scopeLengthMax);
  return [...new Set(scopes)].slice(0, scopesMax);
}

/** The OAuth client of a toolkit (the tools and webhooks of one app), or of a project. */
export type OauthClient = Pick<
  ToolkitOauthClient,
  "clientId" | "clientSecret" | "secretPlace" | "tokenUrl" | "resource"
>;

/**
 * Values of a request to an app's token endpoint. `code`: for tokens after a consent. `refresh`: for the renewal of a token. `client`: for
 * a token of the OAuth client itself.
 */
export type TokenRequest =
  | { readonly grant: "code"; readonly code: string; readonly redirectUri: string; readonly codeVerifier: string }
  | { readonly grant: "refresh"; readonly refreshToken: string }
  | { readonly grant: "client"; readonly scopes: readonly string[]; readonly audience?: string };

/**
 * Answer of a token endpoint. `refused`: the app refused with an OAuth error and will refuse again. `failed`: there was no reliable answer.
 * No message contains a secret of the exchange. The app's words are quoted only if they have the form of a code.
 */
export type TokenEndpointAnswer =
  | {
      readonly kind: "token";
      readonly accessToken: string;
      readonly refreshToken: string | undefined;
      /** Lifetime of the token in seconds. Undefined if the app does not report one. */
      readonly expiresIn: number | undefined;
      /** The scopes that the app granted. Empty if the app lists none. */
      readonly scopes: readonly string[];
    }
  | { readonly kind: "refused"; readonly error: string; readonly message: string }
  | { readonly kind: "failed"; readonly message: string };

/**
 * Matches error codes of a token endpoint that look like a refusal but mean a temporary failure. They are codes of OAuth and similar codes
 * of apps.
 */
const passing =
  /^(?:temporarily_unavailable|(?:internal_|server_|fatal_)(?:server_)?error|slow_down|rate_?limit\w*|too_many_requests|service_unavailable|unavailable|timeout|request_timeout)$/i;

/**
 * Clients that are known to need their secret in the body of the request. RFC 6749 (2.3.1) prefers the header, but some apps accept only
 * the body.
 */
const postClients = new LeastRecentlyUsed<string, true>(10_000);

/** The OAuth library. It is loaded at the first token request, because many nodes have no account that needs it. */
type OauthLibrary = typeof import("oauth4webapi");

/** Sends a request to an app's token endpoint. Never rejects: a failure is part of the returned answer. */
export async function requestToken(
  client: OauthClient,
  request: TokenRequest,
  fetch: TokenFetch,
): Promise<TokenEndpointAnswer> {
  if (client.clientSecret === "") return requestOnce(client, request, fetch, "none");
  const key = JSON.stringify([client.tokenUrl, client.clientId]);
  const first = client.secretPlace ?? (postClients.get(key) === true ? "post" : "basic");
  const answer = await requestOnce(client, request, fetch, first);
  if (answer.kind !== "refused" || answer.error !== "invalid_client") return answer;
  // The first request failed because the server did not recognize the client. It has not used up the grant (the code or refresh token), so
  // a second request can send the secret in the other place.
  const second = await requestOnce(client, request, fetch, first === "basic" ? "post" : "basic");
  if (second.kind === "refused" && second.error === "invalid_client") return answer;
  if (second.kind !== "failed") {
    if (first === "basic") postClients.set(key, true);
    else postClients.delete(key);
  }
  return second;
}

async function requestOnce(
  client: OauthClient,
  request: TokenRequest,
  fetch: TokenFetch,
  method: "basic" | "post" | "none",
): Promise<TokenEndpointAnswer> {
  const library = await import("oauth4webapi");
  const { clientSecret } = client;
  const authentications = {
    basic: () => basicAuthentication(clientSecret),
    post: () => library.ClientSecretPost(clientSecret),
    none: () => library.None(),
  };
  try {
    return toAnswer(await exchange(library, client, request, { fetch, authentication: authentications[method]() }));
  } catch (error) {
    return toFailure(library, error, secretsOf(client, request));
  }
}

function exchange(
  library: OauthLibrary,
  { clientId, tokenUrl, resource }: OauthClient,
  request: TokenRequest,
  { fetch, authentication }: { readonly fetch: TokenFetch; readonly authentication: ClientAuth },
): Promise<TokenEndpointResponse> {
  const server: AuthorizationServer = { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl };
  const client = { client_id: clientId };
  const options = {
    // Allows http in the library. The catalog and the deployment file already allow http for loopback addresses only.
    [library.allowInsecureRequests]: true,
    ...(resource !== undefined && { additionalParameters: { resource } }),
    [library.customFetch]: (url: string, init: Parameters<TokenFetch>[1]) => fetchLeniently(fetch, url, init),
  };
  switch (request.grant) {
    case "code": {
      // The library's check of the OAuth parameter `state` is skipped here. The caller has already checked the parameter by decrypting it.
      const parameters = library.validateAuthResponse(
        server,
        client,
        new URLSearchParams({ code: request.code }),
        library.skipStateCheck,
      );
      const { redirectUri, codeVerifier } = request;
      const asked = library.authorizationCodeGrantRequest(
        server,
        client,
        authentication,
        parameters,
        redirectUri,
        codeVerifier,
        options,
      );
      return asked.then((response) => library.processAuthorizationCodeResponse(server, client, response));
    }
    case "refresh": {
      const asked = library.refreshTokenGrantRequest(server, client, authentication, request.refreshToken, options);
      return asked.then((response) => library.processRefreshTokenResponse(server, client, response));
    }
    case "client": {
      const { scopes, audience = "" } = request;
      const parameters: Record<string, string> = {
        ...(scopes.length > 0 && { scope: scopes.join(" ") }),
        ...(audience !== "" && { audience }),
      };
      const asked = library.clientCredentialsGrantRequest(server, client, authentication, parameters, options);
      return asked.then((response) => library.processClientCredentialsResponse(server, client, response));
    }
  }
}

/**
 * Sends a token request, and corrects mistakes in the app's answer before the OAuth library reads it:
 * - Answers in form encoding, `null` values and a wrong content type.
 * - Challenge headers that repeat the error of the body.
 * - Errors with a success status.
 * - Parts that `cleanTokenBody` removes.
 */
async function fetchLeniently(fetch: TokenFetch, url: string, init: Parameters<TokenFetch>[1]): Promise<Response> {
  const response = await fetch(url, init);
  const read = readForeignText(
    new Uint8Array(await response.arrayBuffer()),
    response.headers.get("content-type") ?? "",
  );
  // A body that is not valid text is not used. Replacing its invalid bytes would change the token.
  const body = "text" in read ? parseTokenBody(read.text) : undefined;
  const headers = { "content-type": "application/json" };
  if (body === undefined) return new Response(null, { status: response.status, headers });
  const error = tokenErrorOf(body);
  const status = error !== undefined && response.status < 400 ? 400 : response.status;
  const { access_token: _none, error_description: _words, ...rest } = body;
  const clean = error === undefined ? cleanTokenBody(body) : { ...rest, ...describedBy(body), error };
  return new Response(JSON.stringify(clean), { status, headers });
}

/**
 * Returns an object with the app's description of its error. If the description is not a text, the object is empty, because the OAuth
 * library accepts only texts.
 */
function describedBy({ error, error_description: words }: Readonly<Record<string, unknown>>): object {
  const message = words ?? (isObject(error) ? error["message"] : undefined);
  return typeof message === "string" ? { error_description: message } : {};
}

function toAnswer(response: TokenEndpointResponse): TokenEndpointAnswer {
  return {
    kind: "token",
    accessToken: response.access_token,
    refreshToken: response.refresh_token,
    expiresIn: response.expires_in,
    scopes: scopesOf(response.scope),
  };
}

/** Returns the secrets in a request to an app's token endpoint. The app's answer could repeat them. */
function secretsOf({ clientId, clientSecret }: OauthClient, request: TokenRequest): string[] {
  const encoded = formEncoded(clientSecret);
  if (clientSecret === "") return secretsOfRequest(request);
  const own = [clientSecret, encoded, Buffer.from(`${formEncoded(clientId)}:${encoded}`).toString("base64")];
  return [...own, ...secretsOfRequest(request)];
}

function secretsOfRequest(request: TokenRequest): string[] {
  switch (request.grant) {
    case "code":
      return [request.code, request.codeVerifier];
    case "refresh":
      return [request.refreshToken];
    case "client":
      return [];
  }
}

/** Puts the client's id and secret into the header `Authorization` of a request to a token endpoint (RFC 6749, 2.3.1). */
function basicAuthentication(clientSecret: string): ClientAuth {
  return (_server, { client_id: clientId }, _body, headers) => {
    const credentials = Buffer.from(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`).toString("base64");
    headers.set("authorization", `Basic ${credentials}`);
  };
}

/**
 * Returns a client id or client secret in form encoding, as RFC 6749 wants it in a header. The characters `-`, `_`, `.` and `*` stay as they
 * are. They often occur in ids, and many token endpoints do not decode the header.
 */
function formEncoded(text: string): string {
  return String(new URLSearchParams([["", text.toWellFormed()]])).slice(1);
}

function toFailure(library: OauthLibrary, error: unknown, secrets: readonly string[]): TokenEndpointAnswer {
  if (error instanceof library.ResponseBodyError) {
    const words = errorWords(error.error, secrets, error.error_description);
    if (isRefusal(error)) return { kind: "refused", error: error.error, message: `the app answered ${words}` };
    return { kind: "failed", message: `the app answered ${error.status} with ${words}` };
  }
  if (error instanceof library.UnsupportedOperationError)
    return { kind: "failed", message: "the app gave a token of a type that signs requests, which is not supported" };
  const cause = error instanceof Error && "cause" in error ? error.cause : undefined;
  if (cause instanceof Response) return { kind: "failed", message: `the app answered ${cause.status}` };
  return { kind: "failed", message: `the app's token endpoint gave no answer that could be read` };
}

function isRefusal({ status, error }: ResponseBodyError): boolean {
  if (passing.test(error)) return false;
  return error === "invalid_grant" || status === 400 || status === 401;
}

import { createHash } from "node:crypto";
import { requestToken, type TokenFetch } from "@svc/connections";
import {
  type Clock,
  LeastRecentlyUsed,
  type ProjectId,
  readForeignText,
  type Sealer,
  type SubscriptionId,
} from "@svc/core";
import type { EndpointAuthOutcome } from "./observer.ts";
import type { Attempt } from "./send.ts";

/** An OAuth2 client whose tokens are sent to an endpoint. `scope` and `audience` may be empty. */
type Oauth2Auth = {
  readonly kind: "oauth2";
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string;
  readonly audience: string;
};

/** How svc authenticates itself to an endpoint. */
export type EndpointAuth =
  | { readonly kind: "basic"; readonly username: string; readonly password: string }
  | { readonly kind: "bearer"; readonly token: string }
  | Oauth2Auth;

/** Headers and authentication that svc sends with deliveries to an endpoint. All values are secret. */
export type EndpointCredentials = {
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly auth?: EndpointAuth | undefined;
};

/** Returns the encryption context (project and subscription) of an endpoint's credentials. */
function credentialsContext(projectId: ProjectId, id: SubscriptionId): string {
  return `${projectId}/subscriptions/${id}/credentials`;
}

type Owner = { readonly projectId: ProjectId; readonly id: SubscriptionId };

/** Returns the encrypted form of an endpoint's credentials. */
export function sealCredentials(sealer: Sealer, { projectId, id }: Owner, credentials: EndpointCredentials): Buffer {
  return sealer.seal(Buffer.from(JSON.stringify(credentials), "utf8"), credentialsContext(projectId, id));
}

/** Returns the credentials of an endpoint. Throws if they were encrypted for another subscription. */
export function openCredentials(sealer: Sealer, { projectId, id }: Owner, sealed: Buffer): EndpointCredentials {
  return JSON.parse(sealer.open(sealed, credentialsContext(projectId, id)).toString("utf8"));
}

/** Headers for an attempt as a flat list, or the reason why svc cannot make them. The reason contains no secret. */
type GivenHeaders = { readonly headers: readonly string[] } | { readonly fault: string };

/** Posts a form to a token endpoint, and resolves to the answer. Never rejects. */
type TokenPost = (url: string, headers: Readonly<Record<string, string>>, form: Buffer) => Promise<Attempt>;

/**
 * Makes the request headers that an endpoint's credentials demand. Keeps the access tokens of OAuth2 clients in memory, so that many
 * attempts can use the same token.
 */
export type CredentialHeaders = {
  /** Returns the headers for an attempt. If a new token is needed, requests it; attempts of one client wait for the same request. */
  of(credentials: EndpointCredentials): Promise<GivenHeaders>;
  /** Removes the stored access token for these OAuth credentials, because the endpoint refused the token. */
  drop(credentials: EndpointCredentials): void;
};

type Token = { readonly header: string; readonly untilMs: number };

const tokensMax = 10_000;
/**
 * Times in milliseconds. `marginMs`: svc stops using a token this long before the token expires. `unknownMs`: assumed lifetime of a token,
 * if the token endpoint states none.
 */
const lifetimes = { marginMs: 60_000, unknownMs: 300_000 };

/**
 * Creates the object that makes the headers of credentials. `post`: sends the requests for tokens. `ended`: called with the outcome of each
 * such request, and when a token is dropped because an endpoint refused it.
 */
export function createCredentialHeaders(
  clock: Clock,
  post: TokenPost,
  ended: (outcome: EndpointAuthOutcome) => void,
): CredentialHeaders {
  const tokens = new LeastRecentlyUsed<string, Token>(tokensMax);
  const requests = new Map<string, Promise<Token | { readonly fault: string }>>();

  async function fetchToken(auth: Oauth2Auth): Promise<Token | { readonly fault: string }> {
    let failure = "";
    const fetch: TokenFetch = async (url, { headers, body }) => {
      const attempt = await post(url, headers, Buffer.from(String(body), "utf8"));
      failure = attempt.statusCode === 0 ? attempt.error : "";
      if (failure !== "") throw new Error(failure);
      const type = { "content-type": attempt.responseHeaders["content-type"] ?? "" };
      return new Response(attempt.responseBody || null, { status: attempt.statusCode, headers: type });
    };
    const { scope, audience } = auth;
    const asked = { grant: "client", scopes: scope === "" ? [] : scope.split(" "), audience } as const;
    const answer = await requestToken(auth, asked, fetch);
    if (answer.kind !== "token")
      return { fault: failure || answer.message.replace(/^the app\b/, "the token endpoint") };
    const { accessToken, expiresIn } = answer;
    const livesMs = expiresIn === undefined ? lifetimes.unknownMs : expiresIn * 1_000 - lifetimes.marginMs;
    return { header: `Bearer ${accessToken}`, untilMs: clock.now() + livesMs };
  }

  async function tokenOf(auth: Oauth2Auth): Promise<Token | { readonly fault: string }> {
    const key = keyOf(auth);
    const known = tokens.get(key);
    if (known !== undefined && known.untilMs > clock.now()) return known;
    const running = requests.get(key);
    if (running !== undefined) return running;
    const request = fetchToken(auth).then((token) => {
      ended("header" in token ? "token" : "failed");
      if ("header" in token) tokens.set(key, token);
      requests.delete(key);
      return token;
    });
    requests.set(key, request);
    return request;
  }

  return {
    async of({ headers, auth }) {
      const own = headers.flat();
      if (auth === undefined) return { headers: own };
      if (auth.kind !== "oauth2") return { headers: [...own, "authorization", staticAuthorization(auth)] };
      const token = await tokenOf(auth);
      return "fault" in token ? token : { headers: [...own, "authorization", token.header] };
    },
    drop({ auth }) {
      if (auth?.kind !== "oauth2") return;
      tokens.delete(keyOf(auth));
      ended("refused");
    },
  };
}

function keyOf(auth: Oauth2Auth): string {
  return createHash("sha256").update(JSON.stringify(auth)).digest("base64");
}

function staticAuthorization(auth: Exclude<EndpointAuth, Oauth2Auth>): string {
  if (auth.kind === "bearer") return `Bearer ${auth.token}`;
  return `Basic ${Buffer.from(`${auth.username}:${auth.password}`, "utf8").toString("base64")}`;
}

/**
 * Returns the attempt with the sent secrets removed from the endpoint's answer, because an endpoint may repeat the headers that it
 * received.
 */
export function withoutValues(attempt: Attempt, headers: readonly string[]): Attempt {
  const values = headers
    .filter((_, index) => index % 2 === 1)
    .flatMap((value) => [value, value.split(" ").at(-1) ?? "", ...partsOfBasic(value)]);
  const secrets = values.filter((value) => value.length >= shownMax).sort((a, b) => b.length - a.length);
  const hide = (text: string) => secrets.reduce((rest, secret) => rest.replaceAll(secret, "(hidden)"), text);
  const responseHeaders = Object.fromEntries(
    Object.entries(attempt.responseHeaders).map(([name, value]) => [name, hide(value)]),
  );
  return { ...attempt, responseHeaders, responseBody: hide(attempt.responseBody) };
}

/**
 * Returns two secret texts of the `Authorization` value for basic authentication: the decoded `user:password`, and the password alone.
 * Returns an empty list if `value` is not for basic authentication.
 */
function partsOfBasic(value: string): readonly string[] {
  const [, encoded] = /^Basic ([\w+/=]+)$/.exec(value) ?? [];
  const read = readForeignText(Buffer.from(encoded ?? "", "base64"));
  return "fault" in read || read.text === "" ? [] : [read.text, read.text.slice(read.text.indexOf(":") + 1)];
}

/**
 * Credentials with fewer characters than this stay visible in the answers of an endpoint, because they often occur inside normal words. svc
 * hides all other credentials.
 */
const shownMax = 4;

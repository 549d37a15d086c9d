import { type Clock, Fault } from "@svc/core";
import type { Configuration, TokenEndpointResponse, TokenEndpointResponseHelpers } from "openid-client";
import type { OidcSettings } from "../config/oidc.ts";
import { peopleFaults } from "./errors.ts";
import { createProviderFetch } from "./provider-http.ts";
import { createTokenCheck, type TokenCheck } from "./token-check.ts";

/** An account that signed in, as the company's identity provider describes it. */
export type CompanyAccount = {
  readonly subject: string;
  /** Mail address in lower case; empty if the provider reports none. */
  readonly mail: string;
  /** True unless the provider says that it has not verified the mail address. */
  readonly isMailVerified: boolean;
  readonly name: string;
  readonly groups: readonly string[];
  /** Refresh token; undefined if the provider gave none. */
  readonly refreshToken: string | undefined;
  /** Id of the session at the provider; undefined if the provider reports none. */
  readonly providerSession: string | undefined;
};

/** Values that connect the start of a sign-in with its end. The browser keeps them encrypted. */
export type SignInFlow = { readonly state: string; readonly nonce: string; readonly verifier: string };

/** The company's OpenID Connect provider. All functions reject with SIGN_IN_FAILED if the provider cannot be reached or answers wrongly. */
export type IdentityProvider = {
  /** Returns the address at which a person signs in. `callback`: address of svc to which the provider sends the person back. */
  start(callback: string): Promise<{ readonly url: string; readonly flow: SignInFlow }>;
  /** Exchanges the code in the address of the callback, checks the ID token, and returns the account. */
  finish(callback: URL, flow: SignInFlow): Promise<CompanyAccount>;
  /**
   * Returns the account as it is now. `ended`: the provider no longer accepts the refresh token. `keep`: stores the next refresh token. It
   * is called before the provider is asked for more, because the former token may no longer work if that fails.
   */
  refresh(
    refreshToken: string,
    subject: string,
    keep: (next: string) => Promise<void>,
  ): Promise<CompanyAccount | "ended">;
  /** Returns the address at which a person signs out of the provider; undefined if the provider has none. */
  logoutUrl(returnTo: string, mail: string): Promise<string | undefined>;
  /** Checks tokens that others present and that the provider signed. */
  readonly tokens: TokenCheck;
  /** Throws SIGN_IN_FAILED if the provider's description cannot be read. Returns it otherwise. */
  describe(): Promise<ReturnType<Configuration["serverMetadata"]>>;
  close(): Promise<void>;
};

type Tokens = TokenEndpointResponse & TokenEndpointResponseHelpers;

/** Milliseconds for which the provider's description is kept. Keys are read again for each sign-in, so that a rotation is seen at once. */
const descriptionMs = 300_000;

/**
 * Returns the functions that sign people in at the company's identity provider. Loads the library and contacts the provider only when a
 * function is called. `secret`: returns the client secret; undefined for a client without one. `allowedRanges`: addresses beyond public
 * ones (global unicast) that svc may connect to.
 */
export function createIdentityProvider(
  settings: OidcSettings,
  options: {
    readonly clock: Clock;
    readonly secret: () => Promise<string | undefined>;
    readonly allowedRanges: readonly string[];
  },
): IdentityProvider {
  const { clock, secret } = options;
  const { fetch, close } = createProviderFetch(options.allowedRanges);
  const library = () => import("openid-client");
  let described: { metadata: ReturnType<Configuration["serverMetadata"]>; untilMs: number } | undefined;
  const describe = async () => {
    if (described !== undefined && described.untilMs > clock.now()) return described.metadata;
    const client = await library();
    const isPlain = settings.issuer.startsWith("http:");
    const found = await client.discovery(new URL(settings.issuer), settings.clientId, undefined, client.None(), {
      [client.customFetch]: fetch,
      ...(isPlain && { execute: [client.allowInsecureRequests] }),
    });
    described = { metadata: found.serverMetadata(), untilMs: clock.now() + descriptionMs };
    return described.metadata;
  };
  // Each use gets a new configuration, and with it an empty cache of the provider's keys.
  const open = async () => {
    const [client, metadata, value] = [await library(), await describe(), await secret()];
    const auth = value === undefined ? client.None() : client.ClientSecretPost(value);
    const config = new client.Configuration(metadata, settings.clientId, undefined, auth);
    config[client.customFetch] = fetch;
    if (settings.issuer.startsWith("http:")) client.allowInsecureRequests(config);
    client.enableNonRepudiationChecks(config);
    return { client, config };
  };
  const accountOf = async ({ client, config }: Awaited<ReturnType<typeof open>>, tokens: Tokens, known?: string) => {
    const claims = tokens.claims();
    const subject = claims?.sub ?? known;
    if (subject === undefined) throw peopleFaults.SIGN_IN_FAILED("the provider sent no ID token");
    if (known !== undefined && known !== subject)
      throw peopleFaults.SIGN_IN_FAILED("the provider answered for another account");
    const isWhole = claims !== undefined && "groups" in claims && "email" in claims;
    const hasMore = !isWhole && config.serverMetadata().userinfo_endpoint !== undefined;
    const more = hasMore ? await client.fetchUserInfo(config, tokens.access_token, subject) : {};
    return readAccount({ ...more, ...claims, sub: subject }, tokens.refresh_token);
  };
  return {
    start: guarded(async (callback) => {
      const { client, config } = await open();
      const { scopes_supported: known = [] } = config.serverMetadata();
      const extra = ["groups", "offline_access"].filter((scope) => known.includes(scope));
      const flow = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      };
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: callback,
        scope: ["openid", "profile", "email", ...extra].join(" "),
        ...{ state: flow.state, nonce: flow.nonce, code_challenge_method: "S256" },
        code_challenge: await client.calculatePKCECodeChallenge(flow.verifier),
      });
      return { url: url.href, flow };
    }),
    finish: guarded(async (callback, flow) => {
      const opened = await open();
      const tokens = await opened.client.authorizationCodeGrant(opened.config, callback, {
        ...{ pkceCodeVerifier: flow.verifier, expectedState: flow.state, expectedNonce: flow.nonce },
        idTokenExpected: true,
      });
      return accountOf(opened, tokens);
    }),
    refresh: guarded(async (refreshToken, subject, keep) => {
      const opened = await open();
      try {
        const tokens = await opened.client.refreshTokenGrant(opened.config, refreshToken);
        const { refresh_token: next = refreshToken } = tokens;
        if (next !== refreshToken) await keep(next);
        const account = await accountOf(opened, tokens, subject);
        return { ...account, refreshToken: account.refreshToken ?? refreshToken };
      } catch (error) {
        if (error instanceof opened.client.ResponseBodyError && error.error === "invalid_grant") return "ended";
        throw error;
      }
    }),
    logoutUrl: guarded(async (returnTo, mail) => {
      const { client, config } = await open();
      if (config.serverMetadata().end_session_endpoint === undefined) return undefined;
      const parameters = { post_logout_redirect_uri: returnTo, client_id: settings.clientId };
      return client.buildEndSessionUrl(config, { ...parameters, ...(mail !== "" && { logout_hint: mail }) }).href;
    }),
    tokens: createTokenCheck({ clock, fetch, describe: guarded(describe) }),
    describe: guarded(describe),
    close,
  };
}

/** Returns a function whose errors that are not faults become SIGN_IN_FAILED. Its text has the library's reason, which has no secret. */
function guarded<Given extends unknown[], Result>(
  run: (...given: Given) => Promise<Result>,
): (...given: Given) => Promise<Result> {
  return async (...given) => {
    try {
      return await run(...given);
    } catch (error) {
      if (error instanceof Fault) throw error;
      throw peopleFaults.SIGN_IN_FAILED(reasonOf(error));
    }
  };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "the provider's answer cannot be used";
  const { cause } = error;
  const detail = "error" in error && typeof error.error === "string" ? error.error : error.message;
  const deeper = cause instanceof Error && cause.message !== "" ? `: ${cause.message}` : "";
  return `${detail}${deeper}`.slice(0, reasonCharactersMax);
}

const reasonCharactersMax = 200;
const textCharactersMax = 320;

function readAccount(
  claims: Readonly<Record<string, unknown>> & { readonly sub: string },
  refreshToken?: string,
): CompanyAccount {
  const { groups } = claims;
  return {
    ...{ subject: claims.sub, refreshToken, isMailVerified: claims["email_verified"] !== false },
    ...{ mail: textOf(claims["email"]).toLowerCase(), name: textOf(claims["name"]) },
    groups: [groups ?? []].flat().filter((group) => typeof group === "string"),
    providerSession: typeof claims["sid"] === "string" ? claims["sid"] : undefined,
  };
}

function textOf(claim: unknown): string {
  return typeof claim === "string"
    ? claim.slice(0, textCharactersMax).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, "")
    : "";
}

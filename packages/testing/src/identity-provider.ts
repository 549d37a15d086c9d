import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, importJWK, type JWK, type JWTPayload, SignJWT } from "jose";
import Provider from "oidc-provider";

/** An account of the test provider. */
export type TestAccount = { mail: string; name: string; groups: string[]; isMailVerified?: boolean };

/** A real OpenID Connect provider on loopback. It signs every browser in as the account `current`, without a password. */
export type TestIdentityProvider = {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The accounts by their id. A test changes or deletes them. */
  readonly accounts: Map<string, TestAccount>;
  /** Id of the account that the next sign-in uses. */
  current: string;
  /** False: the provider answers without refresh tokens. */
  givesRefreshTokens: boolean;
  /** True: the ID tokens name only the account, and the userinfo endpoint answers with an error. */
  isUserinfoDown: boolean;
  /** Registers svc as the client. Call it when the address of the test server is known. */
  register(serviceUrl: string): void;
  /** Replaces the keys of the provider by new ones. */
  rotateKeys(): Promise<void>;
  /** Signs a token as the provider does. `typ`: the type in its header. */
  sign(claims: JWTPayload, typ: string): Promise<string>;
  stop(): Promise<void>;
};

const clientId = "svc-console";
const clientSecret = "secret-of-svc-at-the-provider-0123456789";

/** Starts a provider on a free port of loopback. */
export async function startIdentityProvider(): Promise<TestIdentityProvider> {
  let handle: ((req: IncomingMessage, res: ServerResponse) => Promise<void>) | undefined;
  let [serviceUrl, keys]: [string, JWK[]] = ["", []];
  const server = createServer((req, res) => void handle?.(req, res));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const self: TestIdentityProvider = {
    ...{ url, clientId, clientSecret, accounts: new Map(), current: "" },
    ...{ givesRefreshTokens: true, isUserinfoDown: false },
    register(address) {
      serviceUrl = address;
      open();
    },
    async rotateKeys() {
      keys = [await newKey()];
      open();
    },
    async sign(claims, typ) {
      const [key = {}] = keys;
      const signing = new SignJWT({ iss: url, ...claims }).setProtectedHeader({
        alg: "ES256",
        kid: key.kid ?? "",
        typ,
      });
      return signing.sign(await importJWK(key, "ES256"));
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  const open = () => {
    const provider = createProvider(self, serviceUrl, keys);
    const answer = provider.callback();
    handle = async (req, res) => {
      if (req.url?.startsWith("/interaction/")) await interact(provider, self, req, res);
      else if (self.isUserinfoDown && req.url?.startsWith("/me")) res.writeHead(503).end();
      else await answer(req, res);
    };
  };
  await self.rotateKeys();
  return self;
}

async function newKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  return { ...(await exportJWK(privateKey)), alg: "ES256", use: "sig", kid: crypto.randomUUID() };
}

function createProvider(self: TestIdentityProvider, serviceUrl: string, keys: JWK[]): Provider {
  const { url, accounts } = self;
  const provider = new Provider(url, {
    jwks: { keys: keys as never },
    cookies: { keys: ["key of the cookies of the test provider"] },
    clients: [
      {
        ...{ client_id: clientId, client_secret: clientSecret, token_endpoint_auth_method: "client_secret_post" },
        ...{ redirect_uris: [`${serviceUrl || url}/sign-in/callback`], response_types: ["code"] },
        ...{ grant_types: ["authorization_code", "refresh_token"], id_token_signed_response_alg: "ES256" },
        post_logout_redirect_uris: [`${serviceUrl || url}/console/`],
        ...{ backchannel_logout_uri: `${serviceUrl || url}/sign-in/logout`, backchannel_logout_session_required: true },
      },
    ],
    scopes: ["openid", "offline_access", "groups"],
    claims: { openid: ["sub", "sid"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    enabledJWA: { idTokenSigningAlgValues: ["ES256"] } as never,
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: { enabled: true },
    },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    issueRefreshToken: async () => self.givesRefreshTokens,
    rotateRefreshToken: true,
    findAccount: (_ctx, id) => {
      const account = accounts.get(id);
      if (account === undefined) return undefined;
      const { mail, name, groups, isMailVerified = true } = account;
      const claims = { sub: id, email: mail, email_verified: isMailVerified, name, groups };
      const claimsFor = (use: string) => (self.isUserinfoDown && use === "id_token" ? { sub: id } : claims);
      return { accountId: id, claims: async (use) => claimsFor(use) };
    },
  });
  return provider;
}

/** Answers the questions of the provider to a person: signs in as the current account, and consents to everything. */
async function interact(
  provider: Provider,
  { current }: TestIdentityProvider,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const { prompt, session } = await provider.interactionDetails(req, res);
  if (prompt.name === "login")
    return provider.interactionFinished(
      req,
      res,
      { login: { accountId: current } },
      { mergeWithLastSubmission: false },
    );
  const grant = new provider.Grant({ accountId: session?.accountId ?? current, clientId });
  grant.addOIDCScope("openid profile email groups offline_access");
  await provider.interactionFinished(
    req,
    res,
    { consent: { grantId: await grant.save() } },
    { mergeWithLastSubmission: true },
  );
}

import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request that the test's app received. */
export type AppRequestSeen = { method: string; path: string; headers: IncomingMessage["headers"]; body: string };

/** A test app with its own port. It has an authorization server that checks the requests of clients. */
export type TestApp = AsyncDisposable & {
  readonly url: string;
  readonly seen: AppRequestSeen[];
  /** Form fields of each request that the token endpoint of the test app received, in order. */
  readonly tokenRequests: URLSearchParams[];
  /** If set, the token endpoint of the test app gives this answer instead of a token. */
  tokenFailure: { status: number; body: string | Buffer; headers?: Record<string, string> } | undefined;
  /** If set, the test app gives this answer to every API request instead of its normal answer. */
  answer: { status: number; body: string } | undefined;
  /** Place where the app expects the client secret in a token request: header or body. */
  clientAuthentication: "basic" | "post";
  /** Lifetime of new tokens in seconds. If undefined, the app's answers contain no lifetime. */
  expiresIn: number | undefined;
  givesRefreshTokens: boolean;
  /** Function that the test app calls for each token request, before it sends its answer. Undefined if nothing has to run. */
  whileAsked: (() => Promise<void>) | undefined;
  /** User id that the test app returns for `GET /me`, the request that identifies an account. */
  userId: unknown;
  /**
   * Gives consent at the address to which the browser was sent, as a person would. Returns the address to which the browser is sent back.
   */
  consent(authorizeUrl: string, answer?: Record<string, string>): URL;
};

/** OAuth client with which the tests are registered at the app. */
export const testClient = { clientId: "client-1", clientSecret: "client/secret+1" };

type Grant = { challenge: string; redirectUri: string };

/**
 * Starts a test app. Its access tokens are `at-1`, `at-2` and so on. Each renewal returns a new refresh token, and the app refuses the old
 * one.
 */
export async function startTestApp(): Promise<TestApp> {
  const grants = new Map<string, Grant>();
  let issued = 0;
  let refreshToken = "";
  const server = createServer((req, res) => {
    void readBody(req).then((body) => {
      const path = req.url ?? "";
      app.seen.push({ method: req.method ?? "", path, headers: req.headers, body });
      if (path === "/token") return answerToken(req, res, new URLSearchParams(body));
      const own = { status: 200, body: JSON.stringify({ user: { id: app.userId } }) };
      const { status, body: text } = app.answer ?? own;
      res.writeHead(status, { "content-type": "application/json" }).end(text);
    });
  });
  const answerToken = async (req: IncomingMessage, res: ServerResponse, form: URLSearchParams) => {
    app.tokenRequests.push(form);
    await app.whileAsked?.();
    if (app.tokenFailure !== undefined) {
      const { status, body, headers = { "content-type": "application/json" } } = app.tokenFailure;
      return res.writeHead(status, headers).end(body);
    }
    const refuse = (error: string, status = 400) =>
      res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error }));
    if (!knowsClient(req, form)) return refuse("invalid_client", 401);
    if (form.get("grant_type") === "authorization_code" && !takeGrant(form)) return refuse("invalid_grant");
    if (form.get("grant_type") === "refresh_token" && form.get("refresh_token") !== refreshToken) {
      return refuse("invalid_grant");
    }
    issued++;
    refreshToken = `rt-${issued}`;
    const isForClient = form.get("grant_type") === "client_credentials";
    const token = {
      access_token: `at-${issued}`,
      token_type: "Bearer",
      scope: "read write",
      ...(app.expiresIn === undefined ? {} : { expires_in: app.expiresIn }),
      ...(app.givesRefreshTokens && !isForClient ? { refresh_token: refreshToken } : {}),
    };
    return res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(token));
  };
  const knowsClient = (req: IncomingMessage, form: URLSearchParams) => {
    const { clientId, clientSecret } = testClient;
    if (app.clientAuthentication === "post") {
      return form.get("client_id") === clientId && form.get("client_secret") === clientSecret;
    }
    const expected = `Basic ${Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString("base64")}`;
    return req.headers.authorization === expected;
  };
  const takeGrant = (form: URLSearchParams) => {
    const grant = grants.get(form.get("code") ?? "");
    grants.delete(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    return grant !== undefined && challenge === grant.challenge && form.get("redirect_uri") === grant.redirectUri;
  };
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const app: TestApp = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen: [],
    tokenRequests: [],
    tokenFailure: undefined,
    answer: undefined,
    clientAuthentication: "basic",
    expiresIn: 3600,
    givesRefreshTokens: true,
    whileAsked: undefined,
    userId: "user-1",
    consent(authorizeUrl, answer) {
      const { searchParams } = new URL(authorizeUrl);
      if (searchParams.get("code_challenge_method") !== "S256") throw new Error("PKCE is missing");
      const redirectUri = searchParams.get("redirect_uri") ?? "";
      const back = new URL(redirectUri);
      const code = `code-${grants.size + 1}-${searchParams.get("code_challenge")}`;
      grants.set(code, { challenge: searchParams.get("code_challenge") ?? "", redirectUri });
      for (const [name, value] of Object.entries(answer ?? { code })) back.searchParams.set(name, value);
      back.searchParams.set("state", searchParams.get("state") ?? "");
      return back;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return app;
}

async function readBody(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

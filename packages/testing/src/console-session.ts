import { readAnswer, type TestAnswer, type TestServer } from "./server.ts";

/** Headers that a test adds to the usual headers of a request from the console's page. The value null removes a usual header. */
export type PageHeaders = Readonly<Record<string, string | null>>;

/** A browser that is signed in to the console of a test server. Only its requests are modelled. */
export type TestSession = {
  readonly cookie: string;
  readonly half: string;
  /** The seats of the session (one for each key that signed in), as the page receives them. */
  readonly seats: readonly { keyId: string; keyName: string; projectId: string; projectName: string; role: string }[];
  /** Returns the headers for API calls of a console page. `seat`: the project key of the sign-in session with which the calls are made. */
  headers(seat: string): Record<string, string>;
  /** Makes a call with one seat of the session (the access of one signed-in key). */
  call(seat: string, method: string, body?: unknown, headers?: PageHeaders): Promise<TestAnswer>;
};

/** Posts JSON to a path of a server in the same way as the console's own page: with the page's Origin. */
export async function sendAsPage(
  { url }: Pick<TestServer, "url">,
  path: string,
  body: unknown,
  { method = "POST", headers = {} }: { method?: string; headers?: PageHeaders } = {},
): Promise<TestAnswer> {
  const all: PageHeaders = { origin: new URL(url).origin, "content-type": "application/json", ...headers };
  const kept = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null);
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return readAnswer(
    await fetch(`${url}${path}`, {
      method,
      headers: Object.fromEntries(kept),
      ...(body !== undefined && { body: text }),
    }),
  );
}

/** Signs in with a key or a link. Throws an Error if the server refuses it. */
export async function signInToConsole(
  svc: Pick<TestServer, "url">,
  credential: { key: string } | { link: string },
): Promise<TestSession> {
  const answer = await sendAsPage(svc, "/console/session", credential);
  const cookie = (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  if (answer.status !== 200 || cookie === "") throw new Error(`no session: ${answer.status} ${answer.reason}`);
  const { half, seats } = answer.json;
  const headers = (seat: string) => ({ cookie, "svc-session": half, "svc-seat": seat });
  return {
    cookie,
    half,
    seats,
    headers,
    call: (seat, method, body = {}, others = {}) =>
      sendAsPage(svc, `/${method}`, body, { headers: { ...headers(seat), ...others } }),
  };
}

/** A browser that has opened the portal of an entity (customer or user) on a test server. Only its requests are modelled. */
export type TestPortal = {
  /** The header with which the server set the cookie of the session. */
  readonly setCookie: string;
  readonly half: string;
  readonly seat: { keyId: string; projectId: string; entityId: string; readOnly: boolean; expiresAt: string };
  /** Name, color and logo of the portal. */
  readonly look: { name: string; color: string; logo: string };
  /** Headers with which a page of the portal makes calls. */
  readonly headers: Readonly<Record<string, string>>;
  /** Makes a call as a page of the portal. */
  call(method: string, body?: unknown, headers?: PageHeaders): Promise<TestAnswer>;
};

/** Opens the portal with the address that CreatePortalLink returned. Throws an Error if the server refuses it. */
export async function openPortal(svc: Pick<TestServer, "url">, url: string): Promise<TestPortal> {
  const answer = await sendAsPage(svc, "/portal/session", { link: url.split("#link=")[1] });
  const setCookie = answer.headers.get("set-cookie") ?? "";
  if (answer.status !== 200 || setCookie === "") throw new Error(`no session: ${answer.status} ${answer.reason}`);
  const { half, seat, portal } = answer.json;
  const headers = { cookie: setCookie.split(";")[0] ?? "", "svc-portal-session": half, "svc-seat": seat.keyId };
  return {
    ...{ setCookie, half, seat, look: portal, headers },
    call: (method, body = {}, others = {}) =>
      sendAsPage(svc, `/${method}`, body, { headers: { ...headers, ...others } }),
  };
}

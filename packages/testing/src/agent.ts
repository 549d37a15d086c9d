import { createHash, randomBytes } from "node:crypto";

/** A test agent: a program that knows only the address of a service, and what it reads from that address. */
export type TestAgent = {
  readonly clientId: string;
  readonly redirectUri: string;
  /**
   * Returns the address that the person opens to give the agent access. A value in `changes` replaces a parameter of the address; null
   * removes it.
   */
  authorizeUrl(changes?: Readonly<Record<string, string | null>>): string;
  /**
   * Posts a form to the token endpoint. The form has the usual fields for its grant type. A value in `form` replaces a field; null removes
   * it.
   */
  token(form: Readonly<Record<string, string | null>>): Promise<TokenReply>;
  /** Exchanges an authorization code for tokens. A value in `changes` replaces a field of the request; null removes it. */
  change(code: string, changes?: Readonly<Record<string, string | null>>): Promise<TokenReply>;
  refresh(token: string, changes?: Readonly<Record<string, string | null>>): Promise<TokenReply>;
};

/** Answer of svc's OAuth token endpoint. */
export type TokenReply = {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever is answered
  readonly json: any;
};

/** Registers an agent with a service. */
export async function registerAgent(
  url: string,
  { redirectUri = "http://127.0.0.1:7777/callback", name = "Test agent" } = {},
): Promise<TestAgent> {
  const registered = await postJson(`${url}/oauth/register`, { client_name: name, redirect_uris: [redirectUri] });
  if (registered.status !== 201) throw new Error(`nobody was registered: ${JSON.stringify(registered)}`);
  const clientId: string = registered.json.client_id;
  const verifier = randomBytes(32).toString("base64url");
  const resource = `${url}/mcp`;
  const token: TestAgent["token"] = (form) =>
    postForm(`${url}/oauth/token`, { client_id: clientId, resource, ...form });
  return {
    clientId,
    redirectUri,
    authorizeUrl(changes = {}) {
      const asked = {
        ...{ response_type: "code", client_id: clientId, redirect_uri: redirectUri, state: "the state", resource },
        ...{ code_challenge: challengeOf(verifier), code_challenge_method: "S256", scope: "read write" },
      };
      return `${url}/oauth/authorize?${new URLSearchParams(present({ ...asked, ...changes }))}`;
    },
    token,
    change: (code, changes) =>
      token({ grant_type: "authorization_code", code, redirect_uri: redirectUri, code_verifier: verifier, ...changes }),
    refresh: (refreshToken, changes) => token({ grant_type: "refresh_token", refresh_token: refreshToken, ...changes }),
  };
}

/** A person's browser without scripts. It keeps cookies and sends the forms of pages. */
export type TestPerson = {
  /** Opens a page, like a person who enters its address in a browser. */
  open(address: string): Promise<PersonPage>;
  /**
   * Submits the form of a page that has a field named `field`, filled with the person's input `typed`. `page`: the page with the form.
   * `origin`: value of the Origin header, if it must differ from that of a normal browser.
   */
  send(
    page: PersonPage,
    field: string,
    typed: Readonly<Record<string, string | string[]>>,
    origin?: string,
  ): Promise<PersonPage>;
};

/** A page, or the address to which the page redirects. */
export type PersonPage = {
  readonly status: number;
  readonly html: string;
  readonly location: string;
  readonly headers: Headers;
};

/** Creates a person with a browser that visits a service. */
export function createPerson(url: string): TestPerson {
  let cookie = "";
  const read = async (res: Response): Promise<PersonPage> => {
    const set = res.headers.get("set-cookie")?.split(";")[0];
    if (set !== undefined) cookie = set;
    return {
      status: res.status,
      html: await res.text(),
      location: res.headers.get("location") ?? "",
      headers: res.headers,
    };
  };
  return {
    open: async (address) => read(await fetch(address, { headers: { cookie }, redirect: "manual" })),
    async send(page, field, typed, origin = new URL(url).origin) {
      const form = page.html.split("<form").find((text) => text.includes(`name="${field}"`)) ?? "";
      const hidden: [string, string][] = [...form.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)].map(
        ([, name = "", value = ""]) => [name, value],
      );
      const body = new URLSearchParams(hidden);
      for (const [name, value] of Object.entries(typed)) for (const one of [value].flat()) body.append(name, one);
      const headers = { cookie, origin, "content-type": "application/x-www-form-urlencoded" };
      return read(await fetch(`${url}/oauth/authorize`, { method: "POST", headers, body, redirect: "manual" }));
    },
  };
}

/**
 * For tests: signs a person in with a project key and lets the person grant an agent access. svc then redirects the person's browser to the
 * agent's address. Returns the query parameters of this address, such as the authorization code.
 */
export async function letIn(
  { url, key }: { url: string; key: string },
  agent: TestAgent,
  choice: Readonly<Record<string, string | string[]>> = {},
): Promise<URLSearchParams> {
  const person = createPerson(url);
  const asked = await person.open(agent.authorizeUrl());
  const decided = await person.send(asked, "key", { key, decision: "next" });
  const left = await person.send(decided, "vouched", {
    decision: "allow",
    entity: "ada",
    access: ["read", "write"],
    ...choice,
  });
  if (left.status !== 303) throw new Error(`nobody was let in: ${left.status} ${left.html}`);
  return new URL(left.location).searchParams;
}

/** Sends a JSON-RPC request over MCP with a token, and returns the answer. `query`: query of the MCP address. Default none. */
export async function askMcp(
  url: string,
  token: string,
  method: string,
  params: object = {},
  query = "",
): Promise<Response> {
  return fetch(`${url}/mcp${query}`, {
    method: "POST",
    headers: {
      ...{ authorization: `Bearer ${token}`, "content-type": "application/json" },
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
}

/** Posts JSON and returns the JSON answer. */
export async function postJson(address: string, body: unknown): Promise<TokenReply> {
  return reply(
    await fetch(address, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  );
}

async function postForm(address: string, form: Readonly<Record<string, string | null>>): Promise<TokenReply> {
  return reply(await fetch(address, { method: "POST", body: new URLSearchParams(present(form)) }));
}

async function reply(res: Response): Promise<TokenReply> {
  return { status: res.status, json: await res.json() };
}

function present(form: Readonly<Record<string, string | null>>): Record<string, string> {
  return Object.fromEntries(Object.entries(form).filter((entry): entry is [string, string] => entry[1] !== null));
}

function challengeOf(verifier: string): string {
  return createHash("sha256").update(verifier).digest("base64url");
}

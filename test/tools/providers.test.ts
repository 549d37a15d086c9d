import { startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/server-process";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openBrowser } from "./browser.ts";
import { callTool, connect, readAccount, writeDeployment } from "./project.ts";
import { type Provider, reply, type Seen, startProvider } from "./provider.ts";

// Three local apps: REST with a key in a header, GraphQL, and OAuth with refresh tokens. Two nodes share one database. The nodes only
// answer calls, so no background task renews tokens.

let rest: Provider;
let graphql: Provider;
let oauth: Provider;
let deployment: Awaited<ReturnType<typeof writeDeployment>>;
let nodes: readonly [TestServer, TestServer];
let node: TestServer;

beforeAll(async () => {
  [rest, graphql, oauth] = [await startProvider(), await startProvider(), await startProvider()];
  deployment = await writeDeployment({
    search_ingestion: { provider_base_url: `${rest.url}/v9` },
    incident_mgmt: { provider_base_url: rest.url },
    issue_tracker: { provider_base_url: graphql.url },
    // An overlay is needed here, because the shipped address consists of https and the merchant's prefix.
    payments_checkout: { overlay: { toolkit: { baseUrl: `${rest.url}/checkout`, account: null } } },
    calendar: {
      provider_base_url: oauth.url,
      auth_url: `${oauth.url}/authorize`,
      token_url: `${oauth.url}/token`,
      scope_base: "https://scopes.example.com",
      oauth: { client_id_env: "CALENDAR_ID", client_secret_env: "CALENDAR_SECRET" },
    },
  });
  const variables = {
    SVC_DEPLOYMENT: deployment.path,
    SVC_SANDBOX: "off",
    SVC_ROLE: "api",
    CALENDAR_ID: "client-1",
    CALENDAR_SECRET: "client-secret",
  };
  const first = await startTestServer({ variables });
  const second = await startTestServer({ variables: { ...variables, SVC_DATABASE_URL: first.database.url } });
  nodes = [first, second];
  node = first;
  await connect(node, "search_ingestion", { apiKey: "rest-key" });
  await connect(node, "incident_mgmt", { apiKey: "pager-key" });
  await connect(node, "payments_checkout", { apiKey: "pay-key" });
  graphql.answer = (_seen, res) => reply(res, { data: { viewer: { id: "u1" } } });
  await connect(node, "issue_tracker", { scheme: "api_key", apiKey: "graph-key" });
});
afterAll(async () => {
  for (const one of [...(nodes ?? [])].reverse()) await one.stop();
  await Promise.all([rest, graphql, oauth].map((provider) => provider.close()));
  await deployment[Symbol.asyncDispose]();
});
beforeEach(() => {
  for (const provider of [rest, graphql, oauth]) provider.reset();
});

const createDestination = { input: { indexName: "i" }, name: "n", type: "search" };
const read = (changes = {}) =>
  callTool(node, "search_ingestion.get_authentication", { authenticationID: "a" }, changes);
const write = (changes = {}) => callTool(node, "search_ingestion.create_destination", createDestination, changes);
const remove = (changes = {}) =>
  callTool(node, "search_ingestion.delete_authentication", { authenticationID: "a", confirm: true }, changes);

/** Returns the parts of a sent request, without the headers that belong to the connection. */
function sentIn({ method, path, query, headers, body }: Seen) {
  const { host: _host, connection: _connection, "content-length": _length, ...rest } = headers;
  return { method, path, query: [...query], headers: rest, body: body === "" ? undefined : JSON.parse(body) };
}

describe("what is sent", () => {
  test("a REST read: path below the bound address, query, key in its header, and nothing else", async () => {
    rest.answer = (_seen, res) => reply(res, { authentications: [{ authenticationID: "a1", secret: "dropped" }] });
    const answer = await callTool(node, "search_ingestion.list_authentications", {
      platform: ["ecom_a", "none"],
      type: ["a b&c=d"],
      page: 2,
    });
    expect(JSON.parse(answer.resultJson)).toEqual({ authentications: [{ authenticationID: "a1" }] });
    expect(answer).toMatchObject({ outcome: "ok", providerStatus: 200, sandbox: false, warnings: [] });
    expect(rest.seen.map(sentIn)).toEqual([
      {
        method: "GET",
        path: "/v9/1/authentications",
        query: [
          ["itemsPerPage", "10"],
          ["order", "desc"],
          ["page", "2"],
          ["platform", "ecom_a,none"],
          ["sort", "createdAt"],
          ["type", "a b&c=d"],
        ],
        headers: {
          accept: "application/json",
          "accept-encoding": "gzip, deflate, br",
          "user-agent": "svc/0.1",
          "x-searchingest-api-key": "rest-key",
        },
        body: undefined,
      },
    ]);
  });

  test("a REST write: JSON body, an argument in a header, a rendered key", async () => {
    rest.answer = (_seen, res) => reply(res, { incident: { id: "P1", status: "triggered" } }, { status: 201 });
    const args = { from_email: "ann@example.com", service_id: "S1", title: "Äpfel 🍎", urgency: "high" };
    const shown = await callTool(node, "incident_mgmt.create_incident", args, { dryRun: true });
    expect(rest.seen).toEqual([]);
    expect((await callTool(node, "incident_mgmt.create_incident", args)).outcome).toBe("ok");
    const [sent] = rest.seen.map(sentIn);
    expect(sent).toEqual({
      method: "POST",
      path: "/incidents",
      query: [],
      headers: {
        accept: "application/json",
        "accept-encoding": "gzip, deflate, br",
        "content-type": "application/json",
        "user-agent": "svc/0.1",
        from: "ann@example.com",
        authorization: "Token token=pager-key",
      },
      body: {
        incident: {
          type: "incident",
          service: { type: "service_reference", id: "S1" },
          title: "Äpfel 🍎",
          urgency: "high",
        },
      },
    });
    // A dry run shows exactly this request, with the credential masked and without the headers of the connection.
    expect(shown.request).toMatchObject({ method: "POST", url: `${rest.url}/incidents` });
    expect(JSON.parse(shown.request?.bodyJson ?? "")).toEqual(sent?.body);
    const { "accept-encoding": _negotiated, ...headers } = sent?.headers ?? {};
    expect(lowerNames(shown.request?.headers ?? {})).toEqual({ ...headers, authorization: "Token token=***" });
  });

  test("GraphQL: one path, the document and its variables, the bare key", async () => {
    graphql.answer = (_seen, res) => reply(res, { data: { issue: { id: "i1", title: "T", extra: 1 } } });
    const answer = await callTool(node, "issue_tracker.get_issue", { issue_id: 'ENG-1" }' });
    expect(JSON.parse(answer.resultJson)).toEqual({ id: "i1", title: "T" });
    const [sent] = graphql.seen.map(sentIn);
    expect(sent).toMatchObject({
      method: "POST",
      path: "/graphql",
      headers: { authorization: "graph-key" },
      body: { query: expect.stringMatching(/^query GetIssue\(\$id: String!\)/), variables: { id: 'ENG-1" }' } },
    });
  });

  test("a held call, a dry run and wrong arguments dial nobody", async () => {
    const held = await callTool(node, "search_ingestion.delete_authentication", { authenticationID: "a" });
    expect(held.outcome).toBe("held");
    expect((await write({ dryRun: true })).outcome).toBe("ok");
    const wrong = await callTool(node, "search_ingestion.create_destination", { name: 3, type: "x", more: true });
    expect(wrong.outcome).toBe("invalid_arguments");
    // A missing or unknown field is a fault of the object around it. The message names the field.
    const places = wrong.faults.map(({ pointer, message }) => pointer || /input|more/.exec(message)?.[0]);
    expect(places.toSorted()).toEqual(["/name", "/type", "input", "more"]);
    expect([rest.seen, rest.connections]).toEqual([[], 0]);
  });
});

function lowerNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

describe("GraphQL errors in a 200", () => {
  test.each([
    [{ errors: [{ message: "no such issue" }] }, "no such issue"],
    [{ errors: [{ message: "half" }], data: { issue: { id: "i1" } } }, "half"],
    [{ errors: [{}], data: null }, ""],
  ])("%j is an error", async (body, message) => {
    graphql.answer = (_seen, res) => reply(res, body);
    const answer = await callTool(node, "issue_tracker.get_issue", { issue_id: "x" });
    expect(answer).toMatchObject({ outcome: "provider_error", providerStatus: 200, resultJson: "", retryable: false });
    expect(answer.message).toContain(message);
    expect(graphql.seen).toHaveLength(1);
  });

  test("an empty list of errors is none", async () => {
    graphql.answer = (_seen, res) => reply(res, { errors: [], data: { issue: { id: "i1" } } });
    expect((await callTool(node, "issue_tracker.get_issue", { issue_id: "x" })).outcome).toBe("ok");
  });
});

describe("sending again", () => {
  const cut: Provider["answer"] = (_seen, res) => res.destroy();
  const cutMidway: Provider["answer"] = (_seen, res) => {
    res.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    res.write('{"destinationID"', () => res.destroy());
  };

  test.each([
    ["before the answer", cut],
    ["in the middle of the answer", cutMidway],
  ])("a write whose connection is cut %s is not sent again, and its outcome is unknown", async (_when, answer) => {
    rest.answer = answer;
    const result = await write();
    expect(result).toMatchObject({ outcome: "outcome_unknown", retryable: false, resultJson: "" });
    expect(rest.seen).toHaveLength(1);
    const { json } = await node.call("svc.v1.ToolsService/GetToolCall", { id: result.callId });
    expect(json.call.outcome).toBe("outcome_unknown");
  });

  test("a destructive call is treated as a write, and its key answers the doubt without another try", async () => {
    rest.answer = cut;
    const first = await remove({ idempotencyKey: "cut-1" });
    expect(first.outcome).toBe("outcome_unknown");
    rest.answer = (_seen, res) => reply(res, { deletedAt: "now" });
    const again = await remove({ idempotencyKey: "cut-1" });
    expect(again).toMatchObject({ outcome: "outcome_unknown", replayed: true, callId: first.callId });
    expect(rest.seen).toHaveLength(1);
  });

  test("a kept-alive connection that the app has closed does not make a write go out twice", async () => {
    rest.answer = (_seen, res) => reply(res, { destinationID: "d" });
    expect((await write()).outcome).toBe("ok");
    rest.answer = cut;
    expect((await write()).outcome).toBe("outcome_unknown");
    expect(rest.seen).toHaveLength(2);
  });

  test.each([
    ["before the answer", cut],
    ["in the middle of the answer", cutMidway],
  ])("a read whose connection is cut %s is sent again once", async (_when, answer) => {
    rest.answer = (seen, res) =>
      rest.seen.length === 1 ? answer(seen, res) : reply(res, { authenticationID: "second" });
    expect(JSON.parse((await read()).resultJson)).toEqual({ authenticationID: "second" });
    expect(rest.seen).toHaveLength(2);
    rest.seen.length = 0;
    rest.answer = answer;
    expect(await read()).toMatchObject({ outcome: "unreachable", retryable: true });
    expect(rest.seen).toHaveLength(2);
  });

  test.each([429, 502, 503, 504])("a read is sent again once after %i, a write is not", async (status) => {
    rest.answer = (_seen, res) =>
      rest.seen.length === 1 ? reply(res, {}, { status }) : reply(res, { authenticationID: "second" });
    expect((await read()).outcome).toBe("ok");
    expect(rest.seen).toHaveLength(2);
    rest.seen.length = 0;
    rest.answer = (_seen, res) => reply(res, {}, { status });
    expect((await write()).outcome).toBe(status === 429 ? "rate_limited" : "provider_error");
    expect(rest.seen).toHaveLength(1);
  });

  test.each([400, 404, 409, 500])("nothing is sent again after %i", async (status) => {
    rest.answer = (_seen, res) => reply(res, { message: "told by the app" }, { status });
    for (const call of [read, write]) {
      rest.seen.length = 0;
      const answer = await call();
      expect(answer).toMatchObject({ outcome: "provider_error", providerStatus: status });
      expect(answer.message).toContain("told by the app");
      expect(rest.seen).toHaveLength(1);
    }
  });

  test("429 says how long to wait, in seconds or by date, and a long wait is the caller's", async () => {
    rest.answer = (_seen, res) => reply(res, {}, { status: 429, headers: { "retry-after": "120" } });
    for (const call of [read, write]) {
      rest.seen.length = 0;
      expect(await call()).toMatchObject({
        outcome: "rate_limited",
        retryable: true,
        retryAfter: "120s",
        providerStatus: 429,
      });
      expect(rest.seen).toHaveLength(1);
    }
    const at = new Date(Date.now() + 90_000).toUTCString();
    rest.answer = (_seen, res) => reply(res, {}, { status: 429, headers: { "retry-after": at } });
    const seconds = Number.parseFloat((await write()).retryAfter ?? "0");
    expect(seconds).toBeGreaterThan(60);
    // The server uses the clock of its database.
    expect(seconds).toBeLessThan(100);
  });

  test("a rate-limited write was not executed: its idempotency key is free", async () => {
    rest.answer = (_seen, res) => reply(res, {}, { status: 429 });
    expect((await write({ idempotencyKey: "limited" })).outcome).toBe("rate_limited");
    rest.answer = (_seen, res) => reply(res, { destinationID: "d" });
    expect(await write({ idempotencyKey: "limited" })).toMatchObject({ outcome: "ok", replayed: false });
    expect(await write({ idempotencyKey: "limited" })).toMatchObject({ outcome: "ok", replayed: true });
    expect(rest.seen).toHaveLength(2);
  });

  describe("a write whose app takes an idempotency key", () => {
    const donate = (args = {}, changes = {}) => {
      const request = { currency: "EUR", merchantAccount: "m", ...args };
      return callTool(node, "payments_checkout.post_donation_campaigns", request, changes);
    };
    const keys = () => rest.seen.map(({ headers }) => headers["idempotency-key"]);

    test("is sent again once after a cut connection, under the same key", async () => {
      rest.answer = (seen, res) => (rest.seen.length === 1 ? cut(seen, res) : reply(res, { donationCampaigns: [] }));
      expect((await donate()).outcome).toBe("ok");
      const [first, second] = keys();
      expect(rest.seen).toHaveLength(2);
      expect(first).toMatch(/^[\x21-\x7e]{16,64}$/);
      expect(second).toBe(first);
      expect(rest.seen.map(({ body }) => body)[1]).toBe(rest.seen[0]?.body);
    });

    test("carries the caller's own key, and another for every other call", async () => {
      await donate({ Idempotency_Key: "mine" });
      await donate();
      await donate();
      const [mine, second, third] = keys();
      expect(mine).toBe("mine");
      expect(new Set([mine, second, third]).size).toBe(3);
    });

    test("is in doubt when both connections are cut, and is never sent a third time", async () => {
      rest.answer = cut;
      expect((await donate({}, { idempotencyKey: "doubt" })).outcome).toBe("outcome_unknown");
      expect(rest.seen).toHaveLength(2);
      expect(await donate({}, { idempotencyKey: "doubt" })).toMatchObject({
        outcome: "outcome_unknown",
        replayed: true,
      });
      expect(rest.seen).toHaveLength(2);
      expect(keys().join()).not.toContain("doubt");
    });

    test("is not sent again after 429 or 503", async () => {
      for (const status of [429, 503]) {
        rest.seen.length = 0;
        rest.answer = (_seen, res) => reply(res, {}, { status });
        expect((await donate()).providerStatus).toBe(status);
        expect(rest.seen).toHaveLength(1);
      }
    });
  });

  test("two nodes execute one key once", async () => {
    const others = Promise.withResolvers<void>();
    rest.answer = (_seen, res) => void others.promise.then(() => reply(res, { destinationID: "d" }));
    let answered = 0;
    const callOn = async (one: TestServer) => {
      const answer = await one.call("svc.v1.ToolsService/CallTool", {
        toolSlug: "search_ingestion.create_destination",
        argumentsJson: JSON.stringify(createDestination),
        entityId: "ann",
        idempotencyKey: "both-nodes",
      });
      answered += 1;
      // Only the call that reached the app is still open.
      if (answered === 5) others.resolve();
      return answer.reason || (answer.json.outcome as string);
    };
    const kinds = await Promise.all(nodes.flatMap((one) => [callOn(one), callOn(one), callOn(one)]));
    expect(kinds.toSorted()).toEqual([...Array(5).fill("CALL_IN_PROGRESS"), "ok"]);
    expect(rest.seen).toHaveLength(1);
  });
});

describe("answers that are not what was agreed", () => {
  test.each([
    ["HTML", "<html>proxy says hello</html>", "text/html", "proxy says hello"],
    ["half an object", '{"authenticationID": "a', "application/json", "JSON"],
    ["bytes", "\u0000\u0001\u0002", "application/octet-stream", "JSON"],
  ])("%s in a 200 is provider_error", async (_what, body, type, told) => {
    rest.answer = (_seen, res) => void res.writeHead(200, { "content-type": type }).end(body);
    const answer = await read();
    expect(answer).toMatchObject({ outcome: "provider_error", providerStatus: 200, resultJson: "" });
    expect(answer.message).toContain(told);
    expect(answer.message).not.toMatch(/\p{Cc}/u);
  });

  test("JSON of another form is ok with a warning, and trimmed all the same", async () => {
    rest.answer = (_seen, res) => reply(res, { destinationID: { not: "a text" }, extra: 1, name: "n" });
    const answer = await write();
    expect(answer.outcome).toBe("ok");
    expect(answer.warnings[0]).toMatch(/^output_mismatch:/);
    expect(JSON.parse(answer.resultJson)).not.toHaveProperty("extra");
  });

  test("an answer of 100 MB is cut off at 8 MiB, whether or not it says its length", async () => {
    const chunk = Buffer.alloc(1 << 20, "x");
    for (const headers of [{}, { "content-length": String(100 * chunk.length) }]) {
      rest.seen.length = 0;
      let taken = 0;
      let ended = false;
      rest.answer = (_seen, res) => {
        res.writeHead(200, { "content-type": "application/json", ...headers });
        res.on("close", () => {
          ended = true;
        });
        const pump = () => {
          if (res.destroyed || taken === 100 * chunk.length) return void res.end();
          taken += chunk.length;
          res.write(chunk, pump);
        };
        pump();
      };
      const before = process.memoryUsage().rss;
      const answer = await read();
      expect(answer).toMatchObject({ outcome: "provider_error", providerStatus: 200, retryable: false });
      expect(answer.message).toContain("8 MiB");
      await until(() => ended, 5_000, "the end of the connection");
      // The limit is 8 MiB plus the size of the socket buffers.
      expect(taken).toBeLessThan(24 * chunk.length);
      expect(process.memoryUsage().rss - before).toBeLessThan(96 << 20);
      expect(rest.seen).toHaveLength(1);
    }
  });

  test("an answer without a body is what the definition says it stands for", async () => {
    rest.answer = (_seen, res) => void res.writeHead(204).end();
    expect(await remove()).toMatchObject({ outcome: "ok", providerStatus: 204 });
  });
});

describe("redirects", () => {
  const redirectTo =
    (location: string, status = 302): Provider["answer"] =>
    (_seen, res) =>
      void res.writeHead(status, { location }).end();

  test("a read follows within its origin, with its credential; a write does not", async () => {
    rest.answer = (seen, res) =>
      seen.path.endsWith("/moved") ? reply(res, { authenticationID: "there" }) : redirectTo("/v9/moved")(seen, res);
    expect(JSON.parse((await read()).resultJson)).toEqual({ authenticationID: "there" });
    expect(rest.seen.map(({ headers }) => headers["x-searchingest-api-key"])).toEqual(["rest-key", "rest-key"]);
    for (const status of [301, 302, 303, 307, 308]) {
      rest.seen.length = 0;
      rest.answer = redirectTo("/v9/moved", status);
      expect(await write()).toMatchObject({ outcome: "provider_error", providerStatus: status });
      expect(rest.seen).toHaveLength(1);
    }
  });

  test("nobody follows to another origin, and the credential stays where it belongs", async () => {
    for (const target of [
      graphql.url,
      `http://localhost:${rest.port}`,
      "https://evil.example",
      `//127.0.0.1:${graphql.port}`,
    ]) {
      for (const status of [301, 302, 303, 307, 308]) {
        rest.seen.length = 0;
        rest.answer = redirectTo(`${target}/x`, status);
        for (const call of [read, write]) {
          expect(await call()).toMatchObject({ outcome: "provider_error", providerStatus: status });
        }
        expect(rest.seen).toHaveLength(2);
      }
    }
    expect(graphql.connections).toBe(0);
  });

  test("nobody follows to a private address", async () => {
    for (const target of [
      "http://169.254.169.254/latest",
      "http://10.0.0.1/",
      "http://[::1]:1/",
      "http://2130706433/",
    ]) {
      rest.answer = redirectTo(target);
      expect(await read()).toMatchObject({ outcome: "provider_error", providerStatus: 302 });
    }
  });

  test("redirects in a circle end", async () => {
    rest.answer = redirectTo("/v9/1/authentications/a");
    expect(await read()).toMatchObject({ outcome: "provider_error", providerStatus: 302 });
    expect(rest.seen.length).toBeLessThanOrEqual(4);
  });
});

test("an app that is away is unreachable, and a write that never left is no doubt", async () => {
  const gone = await startProvider();
  await using file = await writeDeployment({ search_ingestion: { provider_base_url: gone.url } });
  await gone.close();
  const lonely = await startTestServer({ variables: { SVC_DEPLOYMENT: file.path, SVC_SANDBOX: "off" } });
  await connect(lonely, "search_ingestion", { apiKey: "k" });
  const answer = await callTool(lonely, "search_ingestion.create_destination", createDestination);
  expect(answer).toMatchObject({ outcome: "unreachable", retryable: true, providerStatus: 0 });
  const unbound = await connect(lonely, "data_pipeline", { apiKey: "k" });
  expect(unbound.account.state).toBe("active");
  const { outcome, message } = await callTool(lonely, "data_pipeline.list_sources", {});
  expect([outcome, message]).toEqual([
    "not_bound",
    expect.stringContaining("toolkits.data_pipeline.provider_base_url"),
  ]);
  await lonely.stop();
});

describe("OAuth", () => {
  let issued = 0;
  let entities = 0;

  /** Returns the grants of the requests at the app's token endpoint. */
  const grants = () =>
    oauth.seen.filter(({ path }) => path === "/token").map(({ body }) => new URLSearchParams(body).get("grant_type"));
  const calls = () => oauth.seen.filter(({ path }) => path !== "/token");
  const tokenOf = ({ headers }: Seen) => headers.authorization?.replace("Bearer ", "");

  /** Simulates the app: each token answer has the next number, and the API accepts the tokens that match `good`. */
  function play({ expiresIn = 3600, refresh = true, good = /./, delayMs = 0 } = {}) {
    oauth.answer = (seen, res) => {
      if (seen.path !== "/token") {
        return good.test(tokenOf(seen) ?? "")
          ? reply(res, { items: [] })
          : reply(res, { error: "bad token" }, { status: 401 });
      }
      issued += 1;
      const body = {
        access_token: `token-${issued}`,
        token_type: "bearer",
        expires_in: expiresIn,
        ...(refresh && { refresh_token: `refresh-${issued}` }),
      };
      setTimeout(() => reply(res, body), delayMs);
    };
  }

  async function connectCalendar() {
    const entityId = `person-${++entities}`;
    const { account, authorizeUrl } = await connect(node, "calendar", { entityId, scheme: "oauth2" });
    const browser = openBrowser();
    const asked = new URL((await browser.open(authorizeUrl)).location);
    const state = encodeURIComponent(asked.searchParams.get("state") ?? "");
    const ended = await browser.open(`${node.url}/oauth/callback?code=code-1&state=${state}`);
    return { entityId, account, asked, ended };
  }

  const list = (entityId: string, on: TestServer = node) =>
    callTool(on, "calendar.list_events", { calendar_id: "primary" }, { entityId });
  const create = (entityId: string) =>
    callTool(
      node,
      "calendar.create_event",
      { calendar_id: "primary", summary: "s", start_date: "2026-03-14", end_date: "2026-03-15" },
      { entityId },
    );

  test("the code is exchanged with the verifier of its challenge, and the token is sent as Bearer", async () => {
    play();
    const { entityId, account, asked, ended } = await connectCalendar();
    expect(ended.status, ended.text).toBe(200);
    expect(`${asked.origin}${asked.pathname}`).toBe(`${oauth.url}/authorize`);
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      response_type: "code",
      client_id: "client-1",
      redirect_uri: `${node.url}/oauth/callback`,
      scope: "https://scopes.example.com/calendar",
      code_challenge_method: "S256",
    });
    const [exchange] = oauth.seen;
    const form = Object.fromEntries(new URLSearchParams(exchange?.body));
    expect(form).toMatchObject({
      grant_type: "authorization_code",
      code: "code-1",
      redirect_uri: `${node.url}/oauth/callback`,
    });
    const digest = await crypto.subtle.digest("SHA-256", Buffer.from(form["code_verifier"] ?? ""));
    expect(Buffer.from(digest).toString("base64url")).toBe(asked.searchParams.get("code_challenge"));
    expect((await readAccount(node, account.id)).state).toBe("active");
    await list(entityId);
    expect(oauth.seen.at(-1)).toMatchObject({
      path: "/calendar/v3/calendars/primary/events",
      headers: { authorization: `Bearer token-${issued}` },
    });
  });

  test("a token that ran out is renewed once for 20 parallel calls on two nodes", async () => {
    play({ expiresIn: 1 });
    const { entityId } = await connectCalendar();
    const old = `token-${issued}`;
    const endsAt = Date.now() + 1_500;
    play({ good: new RegExp(`^(?!${old}$)`), delayMs: 100 });
    await until(() => Date.now() > endsAt, 5_000, "the end of the token");
    oauth.seen.length = 0;
    const both = Array.from({ length: 20 }, (_, at) => list(entityId, nodes[at % 2]));
    expect((await Promise.all(both)).map(({ outcome }) => outcome)).toEqual(Array(20).fill("ok"));
    expect(grants()).toEqual(["refresh_token"]);
    const [asked] = oauth.seen.filter(({ path }) => path === "/token");
    expect(new URLSearchParams(asked?.body).get("refresh_token")).toBe(old.replace("token", "refresh"));
    expect(new Set(calls().map(tokenOf))).toEqual(new Set([`token-${issued}`]));
    expect(calls()).toHaveLength(20);
  });

  test("a token that the app withdrew is renewed once for 20 parallel reads on two nodes", async () => {
    play();
    const { entityId } = await connectCalendar();
    for (const one of nodes) expect((await list(entityId, one)).outcome).toBe("ok");
    const old = `token-${issued}`;
    play({ good: new RegExp(`^(?!${old}$)`), delayMs: 100 });
    oauth.seen.length = 0;
    const both = Array.from({ length: 20 }, (_, at) => list(entityId, nodes[at % 2]));
    expect((await Promise.all(both)).map(({ outcome }) => outcome)).toEqual(Array(20).fill("ok"));
    expect(grants()).toEqual(["refresh_token"]);
  });

  test("a write that met 401 is not sent again; its token is renewed for the next", async () => {
    play();
    const { entityId, account } = await connectCalendar();
    play({ good: new RegExp(`^(?!token-${issued}$)`) });
    oauth.seen.length = 0;
    expect(await create(entityId)).toMatchObject({ outcome: "account_unusable", retryable: true, providerStatus: 401 });
    expect(calls()).toHaveLength(1);
    expect(grants()).toEqual(["refresh_token"]);
    expect((await readAccount(node, account.id)).state).toBe("active");
    expect((await create(entityId)).outcome).toBe("ok");
  });

  test("a new token that is refused too ends there, without a third try", async () => {
    play();
    const { entityId } = await connectCalendar();
    play({ good: /^never$/ });
    oauth.seen.length = 0;
    expect(await list(entityId)).toMatchObject({ outcome: "account_unusable", providerStatus: 401 });
    expect(calls()).toHaveLength(2);
    expect(grants()).toEqual(["refresh_token"]);
  });

  test("a refresh token that the app refuses expires the account; an outage of the token endpoint does not", async () => {
    play();
    const { entityId, account } = await connectCalendar();
    oauth.answer = ({ path }, res) =>
      path === "/token" ? reply(res, { error: "down" }, { status: 503 }) : reply(res, {}, { status: 401 });
    expect((await list(entityId)).outcome).toBe("account_unusable");
    const during = await readAccount(node, account.id);
    expect(during.state).toBe("active");
    expect(during.lastError).toContain("503");
    oauth.answer = ({ path }, res) =>
      path === "/token" ? reply(res, { error: "invalid_grant" }, { status: 400 }) : reply(res, {}, { status: 401 });
    expect((await list(entityId)).outcome).toBe("account_unusable");
    expect((await readAccount(node, account.id)).state).toBe("expired");
    oauth.seen.length = 0;
    expect((await list(entityId)).outcome).toBe("account_unusable");
    expect(oauth.seen).toEqual([]);
  });

  test("without refresh token the account ends with its token", async () => {
    play({ expiresIn: 1, refresh: false });
    const { entityId, account } = await connectCalendar();
    expect((await list(entityId)).outcome).toBe("ok");
    const endsAt = Date.now() + 1_500;
    await until(() => Date.now() > endsAt, 5_000, "the end of the token");
    oauth.seen.length = 0;
    expect((await list(entityId)).outcome).toBe("account_unusable");
    expect(oauth.seen).toEqual([]);
    expect((await readAccount(node, account.id)).state).toBe("expired");
  });

  test("an exchange that the app refuses leaves no active account", async () => {
    oauth.answer = (_seen, res) => reply(res, { error: "invalid_grant" }, { status: 400 });
    const { account, ended } = await connectCalendar();
    expect(ended.status).toBe(400);
    const after = await readAccount(node, account.id);
    expect(after.state).not.toBe("active");
    expect(after.lastError).toContain("invalid_grant");
  });

  test("a token endpoint that redirects elsewhere is not followed with the client's secret", async () => {
    oauth.answer = (_seen, res) => void res.writeHead(307, { location: `${rest.url}/token` }).end();
    const { ended } = await connectCalendar();
    expect(ended.status).toBe(400);
    expect(rest.connections).toBe(0);
  });
});

test("a key that the app refuses expires the account, and calls stop reaching the app", async () => {
  const { account } = await connect(node, "incident_mgmt", { entityId: "refused", apiKey: "wrong" });
  rest.answer = (_seen, res) => reply(res, { error: "unauthorized" }, { status: 401 });
  const refused = () => callTool(node, "incident_mgmt.list_incidents", {}, { entityId: "refused" });
  expect(await refused()).toMatchObject({ outcome: "account_unusable", providerStatus: 401, retryable: false });
  expect(rest.seen).toHaveLength(1);
  expect((await readAccount(node, account.id)).state).toBe("expired");
  expect(await refused()).toMatchObject({ outcome: "account_unusable", providerStatus: 0 });
  expect(rest.seen).toHaveLength(1);
});

test("403 is the app's own refusal of this call, not of the account", async () => {
  const { account } = await connect(node, "incident_mgmt", { entityId: "forbidden", apiKey: "k" });
  rest.answer = (_seen, res) => reply(res, { error: "not yours" }, { status: 403 });
  const answer = await callTool(node, "incident_mgmt.list_incidents", {}, { entityId: "forbidden" });
  expect(answer).toMatchObject({ outcome: "provider_error", providerStatus: 403, retryable: false });
  expect((await readAccount(node, account.id)).state).toBe("active");
});

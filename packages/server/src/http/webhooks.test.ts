import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { createId, OverloadedError } from "@svc/core";
import type { AdmittedPost, Greeting, InboundPost, IngestOutcome } from "@svc/node";
import { createTestClock } from "@svc/testing/clock";
import { readAnswer } from "@svc/testing/server";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createTestIntake } from "../body/test-intake.ts";
import { createLogger } from "../logger.ts";
import { StoreLateError } from "../store-deadline.ts";
import { splitTarget } from "./answer.ts";
import { createWebhookHandler, type PostOutcome } from "./webhooks.ts";

/** Answer that the engine gives before the body is read, in the next test request. */
let early: IngestOutcome | undefined;
/** Permission to read a body, as the engine returns it. The handler reads none of its other fields. */
const admission = { outcome: "admitted", isVerified: false, secrets: [] } as unknown as AdmittedPost;
let outcome: () => Promise<IngestOutcome>;
/** Answer of the engine to requests with a method other than POST. */
let greeting: Greeting;
const posts: InboundPost[] = [];
const seen: [string, PostOutcome][] = [];
const logs: string[] = [];
/** Private toolkits that the engine was asked for. */
const places: string[] = [];
let isDown = false;
let alarms = 0;
let admitted: URLSearchParams | undefined;
let server: Server;
let url: string;

beforeAll(async () => {
  const logger = await createLogger({ level: "trace", destination: { write: (line) => void logs.push(line) } });
  const handle = createWebhookHandler({
    ingest: {
      admit: (_slug, query) => {
        admitted = query;
        return early ?? admission;
      },
      admitPrivate: async ({ projectId, toolkitSlug }) => {
        places.push(`${projectId}/${toolkitSlug}`);
        if (isDown) throw new StoreLateError(1);
        return early ?? admission;
      },
      greet: () => greeting,
      greetPrivate: async () => greeting,
      accept: (post, known) => {
        expect(known).toBe(admission);
        posts.push(post);
        return outcome();
      },
    },
    intake: createTestIntake({ bytesMax: 1_500, shareBytesMax: 1_500 }),
    bodyBytesMax: 1_024,
    deadlineMs: 100,
    clock: createTestClock(),
    createRequestId: () => "req_1",
    logger,
    onStoreUnavailable: () => alarms++,
    onPost: (toolkit, outcome) => void seen.push([toolkit, outcome]),
  });
  server = createServer((req, res) => {
    const { path, query } = splitTarget(req);
    handle(path, query, req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  early = undefined;
  greeting = { outcome: "no_handshake", methods: ["POST"] };
  outcome = async () => ({ outcome: "accepted", events: 1 });
  isDown = false;
  places.length = 0;
  posts.length = 0;
  alarms = 0;
  seen.length = 0;
});

const post = (path: string, body: string | Buffer | ReadableStream = "{}", headers: Record<string, string> = {}) =>
  fetch(`${url}${path}`, { method: "POST", body, headers, duplex: "half" } as RequestInit);

test("a query whose bytes are not UTF-8 is refused: two keys in it would become one", async () => {
  for (const query of ["token=a&key=caf%E9", "caf%E9=1", "token=a&key=%ed%a0%80"]) {
    const res = await post(`/webhooks/calendar?${query}`);
    expect(await readAnswer(res)).toMatchObject({ status: 400, reason: "REQUEST_MALFORMED" });
  }
  expect(posts).toEqual([]);
  expect((await post("/webhooks/calendar?token=100%25&key=caf%C3%A9&odd=%zz")).status).toBe(202);
});

test("the engine gets the exact bytes, lower-case headers and the decoded query", async () => {
  const body = Buffer.from([0x7b, 0xff, 0x00, 0x7d]);
  const res = await post("/webhooks/calendar?token=a%2Bb&x=1", body, { "X-Thing": "Value" });
  expect([res.status, await res.json()]).toEqual([202, { accepted: 1 }]);
  expect(res.headers.get("content-length")).toBe("14");
  expect(posts[0]?.body.equals(body)).toBe(true);
  expect(posts[0]).toMatchObject({ toolkitSlug: "calendar", headers: { "x-thing": "Value" } });
  expect(posts[0]?.query.get("token")).toBe("a+b");
  expect(admitted?.get("token")).toBe("a+b");
});

const projectId = createId("prj", Date.UTC(2026, 0, 5));

test("a post to a private toolkit has its project, counts as private, and is answered alike if it is unknown", async () => {
  const res = await post(`/webhooks/${projectId}/desk?a=1`, '{"id":1}');
  expect([res.status, await res.json()]).toEqual([202, { accepted: 1 }]);
  expect(places).toEqual([`${projectId}/desk`]);
  expect(posts[0]).toMatchObject({ toolkitSlug: "desk", projectId, target: `/webhooks/${projectId}/desk?a=1` });
  early = { outcome: "unknown_toolkit" };
  const unknown = await post(`/webhooks/${projectId}/desk`);
  expect(await readAnswer(unknown)).toMatchObject({ status: 404, reason: "WEBHOOK_UNKNOWN" });
  early = { outcome: "secret_unset", secretEnv: "" };
  const unset = await post(`/webhooks/${projectId}/desk`);
  expect(unset.status).toBe(403);
  expect(await unset.text()).not.toContain("variable");
  isDown = true;
  expect((await post(`/webhooks/${projectId}/desk`)).status).toBe(503);
  expect(seen).toEqual([
    ["private", "accepted"],
    ["", "unknown_toolkit"],
    ["private", "secret_unset"],
    ["private", "unavailable"],
  ]);
  const got = await fetch(`${url}/webhooks/${projectId}/desk`);
  expect([got.status, got.headers.get("allow")]).toEqual([405, "POST"]);
});

test.each([
  `/webhooks/${projectId.toUpperCase()}/desk`,
  `/webhooks/${projectId}x/desk`,
  `/webhooks/${projectId.replace("prj", "key")}/desk`,
  `/webhooks/${projectId}/desk/`,
  `/webhooks/${projectId}/desk/other`,
  `/webhooks/${projectId}//desk`,
  `/webhooks/${projectId}%2fdesk`,
  `/webhooks/${projectId}/%2e%2e`,
  `/webhooks/${projectId}/DESK`,
  "/webhooks/prj_/desk",
  "/webhooks//desk",
  "/webhooks/%2e%2e/desk",
])("the path %s is none of a webhook", async (path) => {
  // Sent as it is: fetch would resolve its dots.
  const status = await new Promise<number | undefined>((resolve, reject) => {
    request(`${url}`, { path, method: "POST" }, (res) => resolve(res.resume().statusCode))
      .on("error", reject)
      .end("{}");
  });
  expect(status).toBe(404);
  expect([places, posts, seen]).toEqual([[], [], []]);
});

const outcomes: [IngestOutcome, number, unknown][] = [
  [{ outcome: "accepted", events: 3 }, 202, { accepted: 1 }],
  [{ outcome: "ignored" }, 202, { accepted: 0 }],
  [{ outcome: "accepted", events: 6, items: 3 }, 202, { accepted: 3 }],
  [{ outcome: "quarantined", reason: "no_trigger" }, 202, { accepted: 0 }],
  [
    { outcome: "challenge", answer: { status: 200, contentType: "application/json", body: '{"challenge":"a\\"b"}' } },
    200,
    { challenge: 'a"b' },
  ],
  [{ outcome: "not_ready", fault: "no" }, 503, expect.objectContaining({ code: "unavailable" })],
  [{ outcome: "encoding_unsupported", encoding: "zstd" }, 415, expect.objectContaining({ code: "invalid_argument" })],
  [{ outcome: "too_large" }, 413, expect.objectContaining({ code: "resource_exhausted" })],
  [{ outcome: "unavailable" }, 503, expect.objectContaining({ code: "unavailable" })],
  [{ outcome: "unverified" }, 401, expect.objectContaining({ code: "unauthenticated" })],
  [{ outcome: "secret_unset", secretEnv: "SVC_X" }, 403, expect.objectContaining({ code: "permission_denied" })],
  [{ outcome: "unknown_toolkit" }, 404, expect.objectContaining({ code: "not_found" })],
];

test.each(outcomes)("%j is answered as decided", async (given, status, json) => {
  outcome = async () => given;
  const res = await post("/webhooks/calendar");
  expect([res.status, await res.json()]).toEqual([status, json]);
  expect(seen).toEqual([["calendar", given.outcome]]);
});

test.each(outcomes.slice(-2))("%j needs no body, and an unknown toolkit's name is no label", async (given, status) => {
  early = given;
  const socketless = await post("/webhooks/calendar", "x".repeat(5_000));
  expect(socketless.status).toBe(status);
  expect(posts).toEqual([]);
  expect(seen).toEqual([[given.outcome === "unknown_toolkit" ? "" : "calendar", given.outcome]]);
});

test("a body over the limit is 413, with and without a declared length, and does not reach the engine", async () => {
  const declared = await readAnswer(await post("/webhooks/calendar", "x".repeat(1_025)));
  const chunked = await readAnswer(await post("/webhooks/calendar", new Blob(["x".repeat(200_000)]).stream()));
  for (const answer of [declared, chunked]) expect(answer).toMatchObject({ status: 413, reason: "BODY_TOO_LARGE" });
  expect((await post("/webhooks/calendar", "x".repeat(1_024))).status).toBe(202);
  expect(posts).toHaveLength(1);
});

test("anything but POST is 405", async () => {
  const answer = await readAnswer(await fetch(`${url}/webhooks/calendar`));
  expect(answer).toMatchObject({ status: 405, reason: "METHOD_NOT_ALLOWED" });
  expect(answer.headers.get("allow")).toBe("POST");
});

test("a handshake is answered as text that no browser reads as a page, and to HEAD without a body", async () => {
  greeting = { outcome: "challenge", answer: { status: 202, contentType: "text/plain; charset=utf-8", body: "<b>1" } };
  const get = await fetch(`${url}/webhooks/calendar?a=1`);
  expect([get.status, await get.text()]).toEqual([202, "<b>1"]);
  expect(Object.fromEntries(get.headers)).toMatchObject({
    "content-type": "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
  });
  const head = await fetch(`${url}/webhooks/calendar`, { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([202, ""]);
  greeting = { outcome: "unverified" };
  expect((await fetch(`${url}/webhooks/calendar`)).status).toBe(401);
  expect(seen.map(([, seenOutcome]) => seenOutcome)).toEqual(["challenge", "challenge", "unverified"]);
});

test("while the database is unavailable, the provider is asked to try again", async () => {
  outcome = () => Promise.reject(Object.assign(new Error("connect"), { code: "ECONNREFUSED" }));
  const answer = await readAnswer(await post("/webhooks/calendar"));
  expect(answer).toMatchObject({ status: 503, reason: "STORE_UNAVAILABLE" });
  expect(answer.headers.get("retry-after")).toBe("5");
  expect(seen).toEqual([["calendar", "unavailable"]]);
  expect(alarms).toBe(1);
});

test("a post is answered at the deadline if the database hangs, or the engine accepts no more", async () => {
  let commit = (_outcome: IngestOutcome) => {};
  outcome = () =>
    new Promise((resolve) => {
      commit = resolve;
    });
  const hung = await readAnswer(await post("/webhooks/calendar"));
  commit({ outcome: "accepted", events: 1 });
  outcome = () => Promise.reject(new OverloadedError(1));
  const full = await readAnswer(await post("/webhooks/calendar"));
  for (const answer of [hung, full]) {
    expect(answer).toMatchObject({ status: 503, reason: "STORE_UNAVAILABLE" });
    expect(answer.headers.get("retry-after")).toBe("5");
  }
  expect(seen).toEqual([
    ["calendar", "unavailable"],
    ["calendar", "unavailable"],
  ]);
  expect(alarms).toBe(2);
});

test("bodies above the budget are 503 until the engine releases others", async () => {
  const held: ((outcome: IngestOutcome) => void)[] = [];
  outcome = () => new Promise((resolve) => void held.push(resolve));
  const body = "x".repeat(1_000);
  const first = post("/webhooks/calendar", body);
  await expect.poll(() => held.length).toBe(1);
  const declared = await readAnswer(await post("/webhooks/calendar", body));
  const chunked = await readAnswer(await post("/webhooks/calendar", new Blob([body]).stream()));
  for (const answer of [declared, chunked]) {
    expect(answer).toMatchObject({ status: 503, reason: "NODE_OVERLOADED" });
    expect(answer.headers.get("retry-after")).toBe("5");
  }
  expect((await first).status).toBe(503);
  // The first post has been answered, but its body is still in memory and charged, so there is no room for a second one.
  expect((await readAnswer(await post("/webhooks/calendar", body))).reason).toBe("NODE_OVERLOADED");
  for (const resolve of held) resolve({ outcome: "ignored" });
  outcome = async () => ({ outcome: "ignored" });
  for (let i = 0; i < 3; i++) expect((await post("/webhooks/calendar", body)).status).toBe(202);
  expect(posts).toHaveLength(4);
});

test("the budget counts arrived bytes, not announced ones, and releases them when the sender disconnects", async () => {
  const { hostname, port } = new URL(url);
  const start = async (sent: number) => {
    const socket = connect(Number(port), hostname).on("error", () => {});
    const started = once(server, "request");
    socket.write(`POST /webhooks/calendar HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n${"x".repeat(sent)}`);
    await started;
    return socket;
  };
  const announced = await Promise.all([start(0), start(0), start(0)]);
  expect((await post("/webhooks/calendar", "x".repeat(1_000))).status).toBe(202);
  const sent = await start(900);
  await expect.poll(async () => (await post("/webhooks/calendar", "x".repeat(1_000))).status).toBe(503);
  for (const socket of [...announced, sent]) socket.destroy();
  await expect.poll(async () => (await post("/webhooks/calendar", "x".repeat(1_000))).status).toBe(202);
  expect(seen).toContainEqual(["calendar", "aborted"]);
});

test("a fault is 500 with a request id, and neither answer nor log has the query's secret", async () => {
  outcome = () => Promise.reject(new Error("boom"));
  const answer = await readAnswer(await post("/webhooks/calendar?token=swordfish"));
  expect(answer).toMatchObject({ status: 500, reason: "INTERNAL" });
  expect(answer.json.message).toContain("req_1");
  expect(JSON.stringify(answer.json)).not.toMatch(/swordfish|boom/);
  expect(logs.join("")).toContain("boom");
  expect(logs.join("")).not.toContain("swordfish");
});

test("the log says once a minute why the sender of a post is not proven, and the answer does not", async () => {
  logs.length = 0;
  const cause = "it has no header x-signature";
  let readings = 0;
  // To find the reason takes a second verification: it is paid for once a minute, not for each post of a stranger.
  const why = () => {
    readings += 1;
    return cause;
  };
  outcome = async () => ({ outcome: "unverified", why });
  for (let post = 0; post < 3; post++) {
    const response = await fetch(`${url}/webhooks/refused`, { method: "POST", body: "{}" });
    expect(response.status).toBe(401);
    expect(await response.text()).not.toContain("x-signature");
  }
  early = { outcome: "unverified", why };
  await (await fetch(`${url}/webhooks/other`, { method: "POST", body: "{}" })).text();
  const told = logs.map((line) => JSON.parse(line)).filter(({ msg }) => /not proven/.test(msg));
  expect(told.map((line) => [line.toolkit, line.why])).toEqual([
    ["refused", cause],
    ["other", cause],
  ]);
  expect(readings).toBe(2);
});

import { createHmac } from "node:crypto";
import { mkdir, mkdtemp, mkdtempDisposable, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { type Catalog, loadCatalog, type Post } from "@svc/catalog";
import { writeToolkits } from "@svc/testing/catalog";
import { serveHttp } from "@svc/testing/http";
import { sampleToolkits } from "@svc/testing/sample-toolkits";
import { shippedCatalog, shippedToolkits } from "@svc/testing/shipped-catalog";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runTestCommand } from "../../test-command.ts";
import { type ReceivingToolkit, takesPosts } from "./receiving-toolkit.ts";

const secret = "swordfish";
let folder = "";
/** Slug of a shipped toolkit that receives posts. Each command loads the toolkits again. */
let shipped = "";
let variables: Record<string, string> = {};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-trigger-"));
  const own = join(folder, "own");
  shipped = join(folder, "shipped");
  await writeToolkits(own, Object.values(sampleToolkits));
  await mkdir(shipped);
  for (const { slug } of receivingOf(await shippedCatalog())) {
    await symlink(join(shippedToolkits, slug), join(shipped, slug));
  }
  variables = { SVC_TOOLKITS: `${shipped},${own}` };
  for (const { webhook } of await receivingToolkits()) variables[webhook.secretEnv] = `${secret} older`;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function receivingToolkits(): Promise<ReceivingToolkit[]> {
  return receivingOf(await loadCatalog({ folders: [shipped, join(folder, "own")] }));
}

function receivingOf({ toolkits }: Catalog): ReceivingToolkit[] {
  return [...toolkits.values()].filter((toolkit) => takesPosts(toolkit));
}

type Received = { path: string; query: URLSearchParams; headers: Record<string, string>; body: Buffer };

/** Starts a server that accepts every post, and answers with the given status and body. */
async function startServer(status = 202, answer: object = { accepted: 1 }) {
  const received: Received[] = [];
  const server = await serveHttp(async (req, res) => {
    const url = new URL(req.url ?? "", "http://localhost");
    const headers = req.headers as Record<string, string>;
    received.push({ path: url.pathname, query: url.searchParams, headers, body: await buffer(req) });
    res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  return { server, received };
}

async function postTwice(slug: string, argv: string[] = []) {
  const { server, received } = await startServer();
  await using _ = server;
  const results = [];
  for (let turn = 0; turn < 2; turn++) {
    results.push(await runTestCommand(["trigger", slug, ...argv, "--url", server.url], variables));
  }
  return { results, received };
}

/** True if a post is signed as the documentation of the toolkit says. The test checks this only with node:crypto, without code of svc. */
function isSigned({ webhook }: ReceivingToolkit, { headers, query, body }: Received): boolean {
  if (webhook.scheme === "token_query") return query.get(webhook.parameter) === secret;
  if (webhook.scheme === "slack_v0") {
    const base = `v0:${headers["x-slack-request-timestamp"]}:${body.toString()}`;
    return headers["x-slack-signature"] === `v0=${createHmac("sha256", secret).update(base).digest("hex")}`;
  }
  const signature = createHmac("sha256", secret)
    .update(body)
    .digest(webhook.encoding as "hex" | "base64");
  return headers[webhook.header] === `${webhook.prefix}${signature}`;
}

function normalized(toolkit: ReceivingToolkit, { headers, query, body }: Received) {
  const post: Post = { headers, query, body: body.length === 0 ? undefined : JSON.parse(body.toString()) };
  return toolkit.triggers.find((trigger) => trigger.matches(post))?.normalize(post);
}

test("the sample of every toolkit that takes posts is signed by its scheme, fits a trigger, and is a new event each time", async () => {
  for (const toolkit of await receivingToolkits()) {
    const { results, received } = await postTwice(toolkit.slug);
    const [first] = toolkit.triggers;
    const line = `202 stored (${first?.slug})`;
    expect(results).toEqual(Array(2).fill({ code: 0, printed: [line], noted: [] }));
    expect(received.map(({ path }) => path)).toEqual(Array(2).fill(`/webhooks/${toolkit.slug}`));
    for (const post of received) expect(isSigned(toolkit, post)).toBe(true);
    const [before, after] = received.map((post) => normalized(toolkit, post));
    expect(before).toMatchObject({ payload: expect.anything(), dedupe: expect.stringMatching(/./) });
    expect(after).not.toMatchObject({ dedupe: (before as { dedupe?: string }).dedupe });
  }
});

test("the sample of an app that posts forms and signs the address is a form, signed for the public address", async () => {
  const { codeHost } = sampleToolkits;
  const form = { signed: "{{url}}{{form}}", form: "payload", secret: { prefix: "sword" } };
  const webhook = { ...codeHost.toolkit.webhook, ...form } as NonNullable<typeof codeHost.toolkit.webhook>;
  const forms = join(folder, "forms");
  await writeToolkits(forms, [{ ...codeHost, toolkit: { ...codeHost.toolkit, webhook } }]);
  const { server, received } = await startServer();
  await using _ = server;
  const argv = ["trigger", "code_host", "--query", "a=b c", "--url", server.url];
  const known = { ...variables, SVC_TOOLKITS: forms };
  expect(await runTestCommand(argv, { ...known, SVC_PUBLIC_URL: "https://svc.example.com/in/" })).toMatchObject({
    code: 0,
  });
  const [post] = received;
  expect(post?.headers["content-type"]).toBe("application/x-www-form-urlencoded");
  const payload = new URLSearchParams(post?.body.toString()).get("payload") ?? "";
  expect(JSON.parse(payload)).toMatchObject({ action: "opened" });
  const text = `https://svc.example.com/in/webhooks/code_host?a=b+cpayload${payload}`;
  const signature = createHmac("sha256", "fish").update(text).digest("hex");
  expect(post?.headers["x-code-signature"]).toBe(`sha256=${signature}`);
  const { code, noted } = await runTestCommand([...argv, "--body", "-"], known, "{}");
  expect({ code, noted }).toEqual({ code: 1, noted: [expect.stringMatching(/cannot be signed .* lacks a value/)] });
});

test("a sample is sent as the toolkit reads bodies: as a form, as an element of a list, as a text", async () => {
  const { codeHost } = sampleToolkits;
  const push = codeHost.tools["push_received"] as Extract<(typeof codeHost.tools)[string], { kind: "trigger" }>;
  const kinds: [slug: string, bodies: object, from: string, sent: RegExp][] = [
    ["of_fields", { form: "*" }, "{{body.ref}}", /^ref=\w/],
    ["of_field", { form: "data" }, "{{body.ref}}", /^data=%7B%22ref%22/],
    ["of_items", { each: "body.list" }, "{{item.ref}}", /^\{"list":\[\{"ref":"/],
    ["of_texts", { content: "text" }, "{{body}}", /^[^"{]/],
    ["of_bytes", { content: "base64" }, "{{body}}", /^/],
  ];
  const toolkits = kinds.map(([slug, bodies, ref]) => ({
    toolkit: { ...codeHost.toolkit, slug, webhook: { ...codeHost.toolkit.webhook!, ...bodies } },
    tools: {
      pushed: {
        ...push,
        match: {},
        account: "",
        dedupe: "",
        output: { type: "object", properties: { ref: { type: "string" } } },
        payload: { ref },
      },
    },
  }));
  await using own = await mkdtempDisposable(join(tmpdir(), "svc-bodies-"));
  await writeToolkits(own.path, toolkits);
  const { server, received } = await startServer();
  await using _ = server;
  for (const [slug, , , sent] of kinds) {
    const { printed, noted } = await runTestCommand(["trigger", slug, "--url", server.url], {
      ...variables,
      SVC_TOOLKITS: own.path,
    });
    expect([printed, noted], slug).toEqual([[`202 stored (${slug}.pushed)`], []]);
    expect(received.at(-1)?.body.toString()).toMatch(sent);
  }
  const wrong = await runTestCommand(
    ["trigger", "of_items", "--url", server.url, "--body", "-"],
    { ...variables, SVC_TOOLKITS: own.path },
    '{"list":5}',
  );
  expect(wrong.noted[0]).toContain("the body does not have the list that webhook.each names");
});

test("a trigger other than the first is sampled by name", async () => {
  const { results } = await postTwice("code_host", ["--trigger", "push_received"]);
  expect(results[0]?.printed).toEqual(["202 stored (code_host.push_received)"]);
});

test("the calendar's sample carries what its app sends, with a growing message number", async () => {
  const { received } = await postTwice("calendar", [
    "--header",
    "X-Calendar-Resource-State=not_exists",
    "--query",
    "room=7",
  ]);
  const [before, after] = received;
  expect(before?.headers).toMatchObject({
    "x-calendar-channel-id": "sample-channel-id",
    "x-calendar-resource-state": "not_exists",
    "x-calendar-resource-uri": "https://example.com/calendars/sample-resource-uri",
  });
  expect(before?.query.get("room")).toBe("7");
  expect(before?.body).toHaveLength(0);
  const numbers = [before, after].map((post) => Number(post?.headers["x-calendar-message-number"]));
  expect(numbers[1]).toBeGreaterThan(numbers[0] ?? 0);
});

test("a body of the user's is sent byte for byte, from a file and from standard input", async () => {
  const text = '{ "action": "opened",\n "organization": {"id": "o"} }\n';
  const file = join(folder, "body.json");
  await writeFile(file, text);
  const { server, received } = await startServer(202, { accepted: 0 });
  await using _ = server;
  const argv = ["trigger", "code_host", "--url", server.url, "--header", "x-code-event=issues", "--body"];
  const fromFile = await runTestCommand([...argv, file], variables);
  const fromInput = await runTestCommand([...argv, "-"], variables, text);
  expect(received.map(({ body }) => body.toString())).toEqual([text, text]);
  const quarantined = {
    code: 0,
    printed: ["202 no event stored"],
    noted: [
      expect.stringMatching(/^Note: code_host\.issue_opened: .*; the service will keep the post in quarantine\.$/),
    ],
  };
  expect([fromFile, fromInput]).toEqual([quarantined, quarantined]);
});

test("a post that fits and becomes no event is explained by the account that it names", async () => {
  const { server } = await startServer(202, { accepted: 0 });
  await using _ = server;
  const { code, printed, noted } = await runTestCommand(["trigger", "calendar", "--url", server.url], variables);
  expect({ code, printed }).toEqual({ code: 0, printed: ["202 no event stored"] });
  expect(noted).toEqual([
    expect.stringMatching(
      /no connected account has the reference "sample-channel-id" .*toolkits\.calendar\.webhook\.audience: projects/,
    ),
  ]);
});

test.each([
  [
    403,
    "the variable holds no secret",
    /refused with 403: the variable holds no secret\. Set SVC_WEBHOOK_SECRET_CALENDAR for the service/,
  ],
  [
    401,
    "the post does not verify",
    /refused with 401: .*Is SVC_WEBHOOK_SECRET_CALENDAR the same here and for the service\?/,
  ],
  [404, "no toolkit", /refused with 404: no toolkit/],
])("a refusal with %s ends with 1 and says what to do", async (status, message, text) => {
  const { server } = await startServer(status, { code: "x", message });
  await using _ = server;
  const { code, printed, noted } = await runTestCommand(["trigger", "calendar", "--url", server.url], variables);
  expect({ code, printed, noted }).toEqual({ code: 1, printed: [], noted: [expect.stringMatching(text)] });
});

test.each<[string, string[], Record<string, string>, RegExp]>([
  [
    "no secret",
    ["calendar"],
    { SVC_WEBHOOK_SECRET_CALENDAR: "" },
    /no secret to sign with: set SVC_WEBHOOK_SECRET_CALENDAR/,
  ],
  ["an unknown toolkit", ["nope"], {}, /no toolkit "nope" .*toolkits that receive posts: calendar, code_host/],
  ["an unknown trigger", ["calendar", "--trigger", "x"], {}, /no trigger "x"; it has: events_changed/],
  ["a body that is not there", ["calendar", "--body", "/nonexistent"], {}, /--body \/nonexistent cannot be read/],
  [
    "a service that is away",
    ["calendar", "--url", "http://127.0.0.1:2"],
    {},
    /cannot reach http:\/\/127\.0\.0\.1:2\/webhooks\/calendar: /,
  ],
])("%s ends with 1 and one line, which never holds the secret", async (_, argv, changed, text) => {
  const { code, noted } = await runTestCommand(["trigger", ...argv], { ...variables, ...changed });
  expect({ code, noted }).toEqual({ code: 1, noted: [expect.stringMatching(text)] });
  expect(noted.join("\n")).not.toContain(secret);
});

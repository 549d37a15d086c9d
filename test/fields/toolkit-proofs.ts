import { createHmac } from "node:crypto";
import {
  type DefinitionProof,
  paid,
  posted,
  published,
  sends,
  served,
  shop,
  signs,
  tool,
  tracker,
} from "./definition-proofs.ts";
import { type DefinitionWorld, pairOf, secretOf } from "./definition-world.ts";
import { type Proofs, under } from "./proof.ts";
import type { TokenRequest } from "./token-app.ts";

type Gives = DefinitionProof["gives"];
type Shows = DefinitionProof["shows"];

/** Returns a proof for a field of the shop's toolkit. Changes are applied to the toolkit first, and those in `trigger` to its trigger. */
function of(
  changes: object = {},
  { deployment = shop.deployment, tools = {} }: { deployment?: object; tools?: object } = {},
) {
  const definition = {
    ...shop,
    toolkit: { ...shop.toolkit, ...changes },
    tools: { ...shop.tools, ...tools },
    deployment,
  };
  return (field: string, other: unknown, shows: Shows, gives: Gives): DefinitionProof => {
    return { of: definition, at: `/toolkit/${field}`, other, shows, gives };
  };
}

/** Returns a deployment file for a shop that leaves as much as possible to that file. */
function deployed(bindings: object, changes: object = {}) {
  const definition = {
    ...shop,
    toolkit: { ...shop.toolkit, ...changes },
    deployment: { toolkits: { shop: bindings } },
  };
  return (field: string, other: unknown, shows: Shows, gives: Gives): DefinitionProof => {
    return { of: definition, at: `/deployment/toolkits/shop/${field}`, other, shows, gives };
  };
}

// biome-ignore lint/suspicious/noExplicitAny: proofs read whatever is answered
const toolkit = (pick: (toolkit: any) => unknown) => served(async (one) => pick(await one.toolkit()));
// biome-ignore lint/suspicious/noExplicitAny: proofs read whatever is answered
const spec = (pick: (spec: any) => unknown) => served(async (one) => pick(await one.spec()));
/** Shows the address at which a person is asked for consent. */
const consent = (pick: (url: URL) => unknown) => served(async (one) => pick((await one.consent()).url));
const connects = (request: object) =>
  served(async (one) => {
    const answer = await one.connect({ entityId: "eve", ...request }).catch((error: Error) => error);
    return answer instanceof Error ? "refused" : "connected";
  });

const plain = of();
const askedFor = of({
  binding: [{ ask: "Version header, such as X-Version: 2", path: "always.headers:version", needed: true }],
});
const hello = { text: "hello" };
type Headed = { readonly headers: Readonly<Record<string, string>> };
const header =
  (name: string) =>
  ({ headers }: Headed) => {
    return Object.entries(headers).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1];
  };
const consented = {
  auth: [
    {
      type: "oauth2",
      authorizeUrl: "https://login.example.com/ask",
      tokenUrl: "https://login.example.com/token",
      defaultScopes: ["orders.read"],
      refresh: true,
    },
  ],
};
const registered = { oauth: { client_id_env: "SHOP_ID", client_secret_env: "SHOP_SECRET" } };
const asking = of(consented, { deployment: { toolkits: { shop: registered } } });
const inQuery = of({ auth: [{ type: "api_key", placement: "query", name: "key", value: "{{credential.key}}" }] });
const inPath = of({
  baseUrl: "https://{{account.site}}.shop.example.com/{{credential.key}}",
  auth: [{ type: "api_key", placement: "path" }],
});
const origin = ({ url }: { readonly url: string }) => new URL(url).origin;

const whoElse = {
  ...shop.tools.who_am_i,
  ...{
    description: "Tells whose account this is at the other place of the shop, by another id.",
    request: { method: "GET", path: "/other/me" },
  },
};
const identified = of({}, { tools: { who_else: whoElse } });
const firstPath = served(async (one) => {
  one.sent.length = 0;
  await one.connect({ entityId: "eve" }).catch(() => undefined);
  return new URL(one.sent[0]?.url ?? "").pathname;
});
const limited = of({ rate: { max: 1, per: "1h" }, identify: undefined });
const open = of({ account: [{ ...shop.toolkit.account[0], example: "ab" }], identify: undefined });
const twoCalls = served(async (one) => {
  const calls = [one.call("leave_note", hello), one.call("leave_note", hello)];
  return (await Promise.allSettled(calls)).map(({ status }) => status);
});
/** Shows the outcome of a call that follows another one after two minutes. */
const laterCall = served(async (one) => {
  // The clock moves first, so that calls of other proofs do not count for the rate limit.
  one.advance(7_200_000);
  await one.call("leave_note", hello);
  one.advance(120_000);
  return one.call("leave_note", hello).then(
    ({ outcome }: { outcome: string }) => outcome,
    () => "refused",
  );
});
const variable = (field: string) => spec(({ accountVariables }) => accountVariables[0][field]);

const ignore = [{ body: { kind: "ping" } }];
const secretEnv = "SVC_WEBHOOK_SECRET_SHOP";
const verified = posted(paid, ({ outcome, reason }) => reason ?? outcome);
const slack = of({ webhook: { scheme: "slack_v0", secretEnv, ignore } });
const token = of({ webhook: { scheme: "token_query", secretEnv, parameter: "token", ignore } });
const stampedHeaders = (text: string) => {
  const timestamp = String(Date.UTC(2026, 0, 5, 9) / 1000);
  const digest = createHmac("sha256", secretOf(secretEnv)).update(`v0:${timestamp}:${text}`).digest("hex");
  return {
    headers: { ...signs(text).headers, "x-slack-request-timestamp": timestamp, "x-slack-signature": `v0=${digest}` },
    query: { v: "1" },
  };
};
const stamped = (body: object) => posted(body, ({ outcome, reason }) => reason ?? outcome, stampedHeaders);
const tokenedQuery = (text: string) => ({ ...signs(text), query: { v: "1", token: secretOf(secretEnv) } });
const tokened = (body: object) => posted(body, ({ outcome, reason }) => reason ?? outcome, tokenedQuery);

/** Proofs for how a webhook's body is read, under one signature scheme. */
function bodies(webhook: object, signed: typeof signs) {
  const outcome = ({ outcome, reason }: { outcome: string; reason?: string }) => reason ?? outcome;
  const asForm = (text: string) => ({
    ...signed(text),
    headers: { ...signed(text).headers, "content-type": formType },
  });
  return {
    form: of({ webhook: { ...webhook, form: "*" } })("webhook/form", undefined, posted(paid, outcome, asForm), [
      "unreadable_body",
      "accepted",
    ]),
    each: of({ webhook: { ...webhook, each: "body.orders" } })(
      "webhook/each",
      undefined,
      posted(paid, outcome, signed),
      ["invalid_payload", "accepted"],
    ),
    content: of({ webhook: { ...webhook, content: "text" } })(
      "webhook/content",
      undefined,
      served(() => "served"),
      [contentFaults, "served"],
    ),
  };
}

const formType = "application/x-www-form-urlencoded";
/** Faults in the parts of the shop's definition that describe a body. */
const contentFaults = [
  "shop/toolkit webhook.ignore[0].body",
  ...["match.body", "account", "dedupe", "occurredAt", "payload.number", "payload.sum"].map(
    (path) => `shop/tools/order_paid ${path}`,
  ),
];

const hmacPart = shop.toolkit.webhook;
const shopSecret = secretOf(secretEnv);
const outcomeOf = ({ outcome, reason }: { outcome: string; reason?: string }) => reason ?? outcome;
/** Returns a webhook of the scheme `hmac_sha256` with other parameters, to prove what a post signed over `base` with `key` results in. */
const withHmac = (part: object) => of({ webhook: { ...hmacPart, ...part } });
type Signing = { key?: string | Buffer; base?: (text: string) => string; headers?: object; before?: string };
const signedOver = ({ key = shopSecret, base = (text) => text, headers = {}, before = "" }: Signing) =>
  posted(paid, outcomeOf, (text) => {
    const digest = createHmac("sha256", key).update(base(text)).digest("hex");
    return { headers: { ...signs(text).headers, ...headers, "x-sign": `${before}v1=${digest}` }, query: { v: "1" } };
  });
const at = String(Date.UTC(2026, 0, 5, 8, 30) / 1000);
const timed = { signed: "{{headers.x-at}}{{body}}", timestamp: "{{headers.x-at}}" };
const halfAnHourOld = signedOver({ base: (text) => at + text, headers: { "x-at": at } });
const inHeader = (part: object, headers: object) =>
  [
    of({ webhook: { scheme: "token_query", secretEnv, ...part, ignore } }),
    posted(paid, outcomeOf, (text) => ({ headers: { ...signs(text).headers, ...headers }, query: { v: "1" } })),
  ] as const;
const [headed, byHeader] = inHeader({ header: "X-Token" }, { "x-token": shopSecret });
const [bearer, byBearer] = inHeader(
  { header: "authorization", prefix: "Bearer " },
  { authorization: `Bearer ${shopSecret}` },
);
const [basic, byBasic] = inHeader(
  { basic: true },
  { authorization: `Basic ${Buffer.from(pairOf(secretEnv)).toString("base64")}` },
);
const byPassword = { scheme: "basic", apiKey: "", basic: { username: "a", password: "b" } };
const placed = of({
  auth: [
    {
      type: "basic",
      place: [
        { in: "header", name: "x-word", value: "{{credential.username}}" },
        { in: "header", name: "x-secret", value: "{{credential.password}}" },
      ],
    },
  ],
});
const sentByPassword = served(async (one) => {
  await one.connect(byPassword);
  await one.call("leave_note", hello);
  const [request] = one.sent;
  return request && `${new URL(request.url).search} ${request.headers["x-word"]}`;
});
const greeting = { method: "POST", when: { body: { kind: "hello" } }, answer: { status: 201, text: "hello" } };
const greets = (part: object = {}) => withHmac({ handshakes: [{ ...greeting, ...part }] });
const saysHello = { ...paid, kind: "hello" };
// biome-ignore lint/suspicious/noExplicitAny: proofs read whatever is answered
const greeted = (pick: (answer: any) => unknown = outcomeOf) => posted(saysHello, pick);
const askedByGet = served(async (one) => {
  const head = { toolkitSlug: "shop", headers: {}, query: new URLSearchParams({ word: "wrong" }) };
  return one.node.ingest.greet("GET", head).outcome;
});
const unsignedHello = posted(
  saysHello,
  outcomeOf,
  () => ({ headers: { "x-kind": "paid" }, query: { v: "1" } }) as never,
);

const byConsentAuth = { auth: [{ ...consented.auth[0], tokenUrl: "{{deployment.token_url}}" }] };
const tokens = { ...registered, token_url: "TOKENS/a" };
const byConsent = of(byConsentAuth, { deployment: { toolkits: { shop: tokens } } });
const byClient = of(
  {
    auth: [{ type: "client_credentials", tokenUrl: "{{deployment.token_url}}", defaultScopes: ["some"] }],
    identify: undefined,
  },
  { deployment: { toolkits: { shop: tokens } } },
);
const asked = (by: "consent" | "client", pick: (request: TokenRequest) => unknown) =>
  served(async (one) => (await one.tokens(by)).map(pick));

const leftOpen = {
  auth: [
    {
      type: "oauth2",
      authorizeUrl: "{{deployment.auth_url}}",
      tokenUrl: "https://login.example.com/token",
      defaultScopes: ["{{deployment.scope_base}}/all"],
      refresh: true,
    },
  ],
};

const publicClient = {
  clientId: "public",
  issuer: "https://login.example.com",
  resource: "https://tracker.example.com",
};
const consentedTracker = {
  ...tracker,
  toolkit: { ...tracker.toolkit, auth: [{ ...consented.auth[0], ...publicClient }] },
};
/** Returns a proof for a field of the OAuth client of a private toolkit. */
function ofClient(field: string, other: unknown, look: (asked: { url: URL; page: string }) => unknown, gives: Gives) {
  const shows = published(async (one, definition) => {
    return look(await one.consentTo(definition, publicClient.issuer));
  });
  return { of: consentedTracker, at: `/toolkit/auth/0/${field}`, other, shows, gives };
}

/** Proofs for every field of a toolkit's definition and of the deployment file. */
export const toolkitProofs: Proofs<DefinitionWorld> = {
  ...under("toolkit", {
    // A shared definition may not have the field. What it does for a private toolkit is shown in test/tools/live.test.ts.
    live: {
      ...{ of: { ...shop, toolkit: { ...shop.toolkit, live: true } }, at: "/toolkit/live" },
      shows: async (world, definition) =>
        Array.isArray(await world.serve(definition as typeof shop)) ? "refused" : "served",
      gives: ["refused", "served"],
    },
    "binding.ask": askedFor(
      "binding/0/ask",
      "Version, such as 2",
      spec(({ binding }) => binding.at(-1).ask),
      ["Version header, such as X-Version: 2", "Version, such as 2"],
    ),
    "binding.needed": askedFor(
      "binding/0/needed",
      false,
      spec(({ binding }) => binding.at(-1).needed === true),
      [true, false],
    ),
    "binding.path": askedFor(
      "binding/0/path",
      "always.headers:edition",
      spec(({ binding }) => binding.at(-1).path),
      ["always.headers:version", "always.headers:edition"],
    ),
    "mcp.url": {
      ...{ of: tracker, at: "/toolkit/mcp/url", other: "https://other.example.com/mcp" },
      shows: published(async (one, definition) => (await one.publish(definition)).url),
      gives: ["https://tracker.example.com/mcp", "https://other.example.com/mcp"],
    },
    slug: plain(
      "slug",
      "store",
      toolkit((one) => one.slug),
      ["shop", "store"],
    ),
    name: plain(
      "name",
      "Store",
      toolkit((one) => one.name),
      ["Shop", "Store"],
    ),
    description: plain(
      "description",
      "Another text about the same shop and its orders.",
      toolkit((one) => one.description),
      [shop.toolkit.description, "Another text about the same shop and its orders."],
    ),
    version: plain(
      "version",
      "2.0.0",
      toolkit((one) => one.version),
      ["1.2.3", "2.0.0"],
    ),
    category: plain(
      "category",
      "marketing",
      toolkit((one) => one.category),
      ["sales", "marketing"],
    ),
    baseUrl: plain(
      "baseUrl",
      "https://{{account.site}}.store.example.com",
      sends("leave_note", hello, ({ url }) => url.split("?")[0]),
      ["https://north.shop.example.com/v1/notes", "https://north.store.example.com/notes"],
    ),
    "always.headers": plain("always/headers", undefined, sends("leave_note", hello, header("X-Always")), [
      "h",
      undefined,
    ]),
    "always.query": plain(
      "always/query",
      undefined,
      sends("leave_note", hello, ({ url }) => new URL(url).search),
      ["?always=q", ""],
    ),
    "always.body": plain(
      "always/body",
      undefined,
      sends("leave_note", hello, ({ body }) => body),
      ['{"always":"b","text":"hello"}', '{"text":"hello"}'],
    ),
    "identify.tool": identified("identify/tool", "who_else", firstPath, ["/v1/me", "/v1/other/me"]),
    "identify.path": plain(
      "identify/path",
      "other",
      posted(paid, ({ outcome }) => outcome),
      ["accepted", "quarantined"],
    ),
    "rate.max": limited("rate/max", 9, twoCalls, [
      ["fulfilled", "rejected"],
      ["fulfilled", "fulfilled"],
    ]),
    "rate.per": limited("rate/per", "1m", laterCall, ["refused", "ok"]),
    auth: plain(
      "auth",
      [{ type: "basic" }],
      spec(({ authSchemes }) => authSchemes.map(({ type }: { type: string }) => type)),
      [["api_key"], ["basic"]],
    ),
    account: plain(
      "account",
      undefined,
      served(() => "served"),
      ["served", ["shop/toolkit baseUrl"]],
    ),
    webhook: plain(
      "webhook",
      undefined,
      served(() => "served"),
      ["served", ["shop/toolkit webhook"]],
    ),
  }),
  ...under("accountVariable", {
    name: plain(
      "account/0/name",
      "place",
      served(() => "served"),
      ["served", ["shop/toolkit baseUrl"]],
    ),
    description: plain("account/0/description", "Another name of it", variable("description"), [
      "Name of your shop",
      "Another name of it",
    ]),
    example: plain("account/0/example", "south", variable("example"), ["north", "south"]),
    pattern: open("account/0/pattern", "^[a-z]{2}$", connects({}), ["connected", "refused"]),
  }),
  ...under("apiKey", {
    type: plain(
      "auth/0/type",
      "basic",
      served(() => "served"),
      ["served", ["placement", "name", "value"].map((name) => `shop/toolkit auth[0].${name}`)],
    ),
    placement: inPath(
      "auth/0/placement",
      "query",
      sends("leave_note", hello, ({ url }) => new URL(url).pathname),
      ["/planted-key/notes", ["shop/toolkit auth[0].name", "shop/toolkit auth[0].value", "shop/toolkit baseUrl"]],
    ),
    name: inQuery(
      "auth/0/name",
      "word",
      sends("leave_note", hello, ({ url }) => new URL(url).search),
      ["?always=q&key=planted-key", "?always=q&word=planted-key"],
    ),
    value: plain("auth/0/value", "{{credential.key}}", sends("leave_note", hello, header("X-Key")), [
      "Key planted-key",
      "planted-key",
    ]),
  }),
  ...under("basic", {
    type: of({ auth: [{ type: "basic" }] })("auth/0/type", "none", connects(byPassword), ["connected", "refused"]),
    "place.in": placed("auth/0/place/0/in", "query", sentByPassword, ["?always=q a", "?always=q&x-word=a undefined"]),
    "place.name": placed("auth/0/place/0/name", "x-other", sentByPassword, ["?always=q a", "?always=q undefined"]),
    "place.value": placed("auth/0/place/0/value", "x-{{credential.username}}", sentByPassword, [
      "?always=q a",
      "?always=q x-a",
    ]),
  }),
  ...under("none", {
    type: of({ auth: [{ type: "none" }] })("auth/0/type", "basic", connects({ scheme: "none", apiKey: "" }), [
      "connected",
      "refused",
    ]),
  }),
  ...under("oauth2", {
    clientId: ofClient("clientId", "another", ({ url }) => url.searchParams.get("client_id"), ["public", "another"]),
    resource: ofClient("resource", undefined, ({ url }) => url.searchParams.get("resource"), [
      "https://tracker.example.com",
      null,
    ]),
    issuer: ofClient("issuer", "https://evil.example.com", ({ page }) => /another issuer/.test(String(page)), [
      false,
      true,
    ]),
    type: asking(
      "auth/0/type",
      "basic",
      served(() => "served"),
      [
        "served",
        ["authorizeUrl", "tokenUrl", "defaultScopes", "refresh"].map((name) => `shop/toolkit auth[0].${name}`),
      ],
    ),
    authorizeUrl: asking(
      "auth/0/authorizeUrl",
      "https://other.example.com/ask",
      consent(({ origin: at }) => at),
      ["https://login.example.com", "https://other.example.com"],
    ),
    defaultScopes: asking(
      "auth/0/defaultScopes",
      ["all"],
      consent(({ searchParams }) => searchParams.get("scope")),
      ["orders.read", "all"],
    ),
  }),
  ...under("oauth2", {
    tokenUrl: byConsent(
      "auth/0/tokenUrl",
      "https://127.0.0.1:1/b",
      asked("consent", ({ path }) => path),
      [["/a", "/a"], []],
    ),
    refresh: byConsent(
      "auth/0/refresh",
      false,
      asked("consent", ({ form }) => form.get("grant_type")),
      [["authorization_code", "refresh_token"], ["authorization_code"]],
    ),
  }),
  ...under("clientCredentials", {
    type: byClient(
      "auth/0/type",
      "none",
      served(() => "served"),
      ["served", ["shop/toolkit auth[0].tokenUrl", "shop/toolkit auth[0].defaultScopes"]],
    ),
    tokenUrl: byClient(
      "auth/0/tokenUrl",
      "https://127.0.0.1:1/b",
      asked("client", ({ path }) => path),
      [["/a", "/a"], []],
    ),
    defaultScopes: byClient(
      "auth/0/defaultScopes",
      ["all"],
      asked("client", ({ form }) => form.get("scope")),
      [
        ["some", "some"],
        ["all", "all"],
      ],
    ),
  }),
  ...under("hmacSha256", {
    scheme: plain(
      "webhook/scheme",
      "slack_v0",
      served(() => "served"),
      ["served", ["header", "encoding", "prefix"].map((name) => `shop/toolkit webhook.${name}`)],
    ),
    secretEnv: plain("webhook/secretEnv", "SVC_WEBHOOK_SECRET_OTHER", verified, ["accepted", "unverified"]),
    header: plain("webhook/header", "X-Other", verified, ["accepted", "unverified"]),
    encoding: plain("webhook/encoding", "base64", verified, ["accepted", "unverified"]),
    prefix: plain("webhook/prefix", "v2=", verified, ["accepted", "unverified"]),
    split: withHmac({ split: "comma" })("webhook/split", "space", signedOver({ before: "a=b," }), [
      "accepted",
      "unverified",
    ]),
    signed: withHmac({ signed: "{{headers.x-id}}.{{body}}" })(
      "webhook/signed",
      undefined,
      signedOver({ base: (text) => `7.${text}`, headers: { "x-id": "7" } }),
      ["accepted", "unverified"],
    ),
    "secret.encoding": withHmac({ secret: { encoding: "base64" } })(
      "webhook/secret/encoding",
      "utf8",
      signedOver({ key: Buffer.from(shopSecret, "base64") }),
      ["accepted", "unverified"],
    ),
    "secret.prefix": withHmac({ secret: { prefix: "value-of-" } })(
      "webhook/secret/prefix",
      "other",
      signedOver({ key: shopSecret.slice("value-of-".length) }),
      ["accepted", "unverified"],
    ),
    timestamp: withHmac(timed)("webhook/timestamp", undefined, halfAnHourOld, ["unverified", "accepted"]),
    tolerance: withHmac({ ...timed, tolerance: "1h" })("webhook/tolerance", "20m", halfAnHourOld, [
      "accepted",
      "unverified",
    ]),
    handshakes: greets()("webhook/handshakes", undefined, greeted(), ["challenge", "no_trigger"]),
    ignore: plain(
      "webhook/ignore",
      undefined,
      posted({ ...paid, kind: "ping" }, ({ outcome }) => outcome),
      ["ignored", "quarantined"],
    ),
    ...bodies(shop.toolkit.webhook, signs),
  }),
  ...under("slackV0", {
    scheme: slack(
      "webhook/scheme",
      "hmac_sha256",
      served(() => "served"),
      ["served", ["shop/toolkit webhook.header", "shop/toolkit webhook.encoding"]],
    ),
    secretEnv: slack("webhook/secretEnv", "SVC_WEBHOOK_SECRET_OTHER", stamped(paid), ["accepted", "unverified"]),
    handshakes: of({ webhook: { scheme: "slack_v0", secretEnv, handshakes: [greeting] } })(
      "webhook/handshakes",
      undefined,
      stamped(saysHello),
      ["challenge", "no_trigger"],
    ),
    ignore: slack("webhook/ignore", undefined, stamped({ ...paid, kind: "ping" }), ["ignored", "no_trigger"]),
    ...bodies({ scheme: "slack_v0", secretEnv, ignore }, stampedHeaders),
  }),
  ...under("tokenQuery", {
    scheme: token(
      "webhook/scheme",
      "slack_v0",
      served(() => "served"),
      ["served", ["shop/toolkit webhook.parameter"]],
    ),
    secretEnv: token("webhook/secretEnv", "SVC_WEBHOOK_SECRET_OTHER", tokened(paid), ["accepted", "unverified"]),
    parameter: token("webhook/parameter", "word", tokened(paid), ["accepted", "unverified"]),
    header: headed("webhook/header", "X-Other", byHeader, ["accepted", "unverified"]),
    prefix: bearer("webhook/prefix", "Token ", byBearer, ["accepted", "unverified"]),
    basic: basic("webhook/basic", undefined, byBasic, ["accepted", ["shop/toolkit webhook"]]),
    handshakes: of({ webhook: { scheme: "token_query", secretEnv, parameter: "token", handshakes: [greeting] } })(
      "webhook/handshakes",
      undefined,
      tokened(saysHello),
      ["challenge", "no_trigger"],
    ),
    ignore: token("webhook/ignore", undefined, tokened({ ...paid, kind: "ping" }), ["ignored", "no_trigger"]),
    ...bodies({ scheme: "token_query", secretEnv, parameter: "token", ignore }, tokenedQuery),
  }),
  ...under("handshake", {
    method: greets()("webhook/handshakes/0/method", "GET", greeted(), [
      "challenge",
      ["shop/toolkit webhook.handshakes[0].when.body"],
    ]),
    when: greets()("webhook/handshakes/0/when", { body: { kind: "bye" } }, greeted(), ["challenge", "no_trigger"]),
    token: withHmac({ handshakes: [{ method: "GET", token: "word", answer: { text: "ok" } }] })(
      "webhook/handshakes/0/token",
      undefined,
      askedByGet,
      ["unverified", "challenge"],
    ),
    unsigned: greets({ unsigned: true })("webhook/handshakes/0/unsigned", undefined, unsignedHello, [
      "challenge",
      "unverified",
    ]),
    "answer.status": greets()(
      "webhook/handshakes/0/answer/status",
      undefined,
      greeted(({ answer }) => answer.status),
      [201, 200],
    ),
    "answer.text": greets()(
      "webhook/handshakes/0/answer/text",
      "bye",
      greeted(({ answer }) => answer.body),
      ["hello", "bye"],
    ),
    "answer.json": greets({ answer: { json: { a: "{{body.kind}}" } } })(
      "webhook/handshakes/0/answer/json",
      ["{{body.kind}}"],
      greeted(({ answer }) => answer.body),
      ['{"a":"hello"}', '["hello"]'],
    ),
  }),
  ...under("deployment", {
    provider_base_url: deployed(
      { provider_base_url: "https://a.example.com" },
      { baseUrl: "{{deployment.provider_base_url}}/x", account: undefined, identify: undefined },
    )("provider_base_url", "https://b.example.com", sends("leave_note", hello, origin), [
      "https://a.example.com",
      "https://b.example.com",
    ]),
    auth_url: deployed({ auth_url: "https://a.example.com/ask", ...registered }, leftOpen)(
      "auth_url",
      "https://b.example.com/ask",
      consent(({ origin: at }) => at),
      ["https://a.example.com", "https://b.example.com"],
    ),
    token_url: deployed(
      { token_url: "TOKENS/a", auth_url: "https://a.example.com/ask", scope_base: "https://a", ...registered },
      { auth: [{ ...leftOpen.auth[0], tokenUrl: "{{deployment.token_url}}" }] },
    )(
      "token_url",
      "TOKENS/b",
      asked("consent", ({ path }) => path),
      [
        ["/a", "/a"],
        ["/b", "/b"],
      ],
    ),
    "oauth.client_secret_env": deployed(tokens, byConsentAuth)(
      "oauth/client_secret_env",
      "OTHER_SECRET",
      asked("consent", ({ client }) => decodeURIComponent(client.split(":")[1] ?? "")),
      [
        ["value-of-shop_secret", "value-of-shop_secret"],
        ["value-of-other_secret", "value-of-other_secret"],
      ],
    ),
    scope_base: deployed({ scope_base: "https://a", auth_url: "https://a.example.com/ask", ...registered }, leftOpen)(
      "scope_base",
      "https://b",
      consent(({ searchParams }) => searchParams.get("scope")),
      ["https://a/all", "https://b/all"],
    ),
    "oauth.client_id_env": deployed(registered, consented)(
      "oauth/client_id_env",
      "OTHER_ID",
      consent(({ searchParams }) => searchParams.get("client_id")),
      ["value-of-shop_id", "value-of-other_id"],
    ),
    "webhook.audience": deployed({ webhook: { audience: "projects" } })(
      "webhook/audience",
      "accounts",
      posted({ ...paid, shop: "unknown" }, ({ outcome }) => outcome),
      ["accepted", "quarantined"],
    ),
    "overlay.toolkit": deployed({ overlay: { toolkit: { name: "Laden" } } })(
      "overlay/toolkit",
      { name: "Store" },
      toolkit((one) => one.name),
      ["Laden", "Store"],
    ),
    "overlay.tools": deployed({ overlay: { tools: { leave_note: { class: "destructive" } } } })(
      "overlay/tools",
      { leave_note: { scopes: ["a"] } },
      tool("leave_note", (one) => one.accessClass),
      ["destructive", "write"],
    ),
  }),
};

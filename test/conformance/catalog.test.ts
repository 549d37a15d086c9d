import type { AuthScheme } from "@svc/catalog";
import { expect, test } from "vitest";
import { actionOf, actions, catalog } from "./definitions.ts";
import { describeAction, sortFacts } from "./describe-action.ts";
import { rowsByToolkit } from "./rows.ts";

/** Numbers in the specification: tools; read, write and destructive tools; triggers. */
const summary: Readonly<Record<string, readonly [number, number, number, number, number]>> = {
  issue_tracker: [38, 17, 18, 3, 0],
  incident_mgmt: [35, 14, 15, 6, 0],
  messaging_bot: [28, 6, 20, 2, 0],
  email_marketing: [39, 14, 18, 7, 0],
  work_mgmt: [32, 13, 14, 5, 0],
  esignature: [31, 11, 14, 6, 0],
  search_engine: [69, 33, 23, 13, 0],
  vector_db: [65, 17, 36, 12, 0],
  scheduling: [31, 23, 3, 5, 0],
  sales_crm: [39, 20, 12, 7, 0],
  payments_checkout: [27, 3, 21, 3, 0],
  search_ingestion: [56, 17, 33, 6, 0],
  calendar: [26, 10, 12, 4, 1],
  data_pipeline: [35, 16, 11, 8, 0],
  bank_link: [28, 16, 10, 2, 0],
  notes_wiki: [31, 12, 17, 2, 0],
};

test.each(Object.entries(summary))("%s has the counts of the summary", (slug, expected) => {
  const toolkit = catalog.toolkits.get(slug);
  const ofClass = (name: string) => toolkit?.actions.filter((action) => action.class === name).length;
  const counts = [ofClass("read"), ofClass("write"), ofClass("destructive"), toolkit?.triggers.length];
  expect([toolkit?.actions.length, ...counts]).toEqual(expected);
});

test("sixteen toolkits have 610 tools, 607 of them callable, and one trigger", () => {
  const byClass = Object.groupBy(actions, (action) => action.class);
  expect([...catalog.toolkits.keys()]).toEqual(Object.keys(summary).toSorted());
  expect([byClass.read?.length, byClass.write?.length, byClass.destructive?.length]).toEqual([242, 277, 91]);
  const uncallable = actions.filter(({ callable }) => !callable);
  expect(uncallable.map(({ slug }) => slug).toSorted()).toEqual([
    "notes_wiki.list_databases",
    "vector_db.recover_from_uploaded_snapshot",
    "vector_db.recover_shard_from_uploaded_snapshot",
  ]);
  expect(uncallable.filter(({ uncallableReason }) => !uncallableReason.includes(" Use "))).toEqual([]);
  expect([...catalog.tools.values()].filter(({ kind }) => kind === "trigger")).toHaveLength(1);
});

test("eight tools that their app has deprecated can be called, and say which one replaces them", () => {
  const deprecated = actions.flatMap(({ slug, replacedBy, callable, description }) =>
    replacedBy === undefined ? [] : [{ slug, replacedBy, callable, description }],
  );
  expect(Object.fromEntries(deprecated.map(({ slug, replacedBy }) => [slug, replacedBy]))).toEqual({
    "vector_db.search_points": "vector_db.query_points",
    "vector_db.search_batch_points": "vector_db.query_batch_points",
    "vector_db.search_point_groups": "vector_db.query_points_groups",
    "vector_db.recommend_points": "vector_db.query_points",
    "vector_db.recommend_batch_points": "vector_db.query_batch_points",
    "vector_db.recommend_point_groups": "vector_db.query_points_groups",
    "vector_db.discover_points": "vector_db.query_points",
    "vector_db.discover_batch_points": "vector_db.query_batch_points",
  });
  for (const { slug, replacedBy, callable, description } of deprecated) {
    expect(callable, slug).toBe(true);
    expect(description, slug).toMatch(/^Deprecated by the app/);
    expect(description, slug).toContain(replacedBy.replace("vector_db.", ""));
  }
});

test("every toolkit carries the version 0.1.0", () => {
  for (const { slug, version } of catalog.toolkits.values()) expect(version, slug).toBe("0.1.0");
});

const rows = Object.entries(rowsByToolkit).flatMap(([toolkit, facts]) => {
  return facts.map((row) => ({ slug: `${toolkit}.${row.tool}`, row }));
});

test("the specification has 169 rows", () => {
  expect(new Set(rows.map(({ slug }) => slug)).size).toBe(169);
  expect(rows).toHaveLength(169);
});

test.each(rows)("$slug has the class, scopes, call, arguments and result of its row", ({ slug, row }) => {
  expect(describeAction(actionOf(slug))).toEqual(sortFacts(row));
});

const key = (name: string, value: string) => ({ type: "api_key", placement: "header", name, value });
const oauth = (refresh: boolean, ...defaultScopes: string[]) => {
  return { type: "oauth2", authorizeUrl: "{auth_url}", tokenUrl: "{token_url}", defaultScopes, refresh };
};
const signatureScopes = ["basic_account_info", "request_signature", "account_access"];
signatureScopes.push("signature_request_access", "template_access", "team_access");

/** Authentication schemes in the specification, in order, by toolkit. */
const authentication: Readonly<Record<string, readonly object[]>> = {
  issue_tracker: [oauth(true, "read", "write"), key("Authorization", "{key}")],
  incident_mgmt: [key("Authorization", "Token token={key}")],
  messaging_bot: [key("Authorization", "Bearer {key}")],
  email_marketing: [oauth(false), key("Authorization", "Basic {key}")],
  work_mgmt: [oauth(true, "boards:read", "boards:write"), key("Authorization", "{key}")],
  esignature: [oauth(true, ...signatureScopes), key("Authorization", "Basic {key}")],
  search_engine: [key("X-SEARCHENGINE-API-KEY", "{key}")],
  vector_db: [key("api-key", "{key}")],
  scheduling: [oauth(true), key("Authorization", "Bearer {key}")],
  sales_crm: [key("x-api-token", "{key}")],
  payments_checkout: [key("X-API-Key", "{key}")],
  search_ingestion: [key("x-searchingest-api-key", "{key}")],
  calendar: [oauth(true, "{scope_base}/calendar")],
  data_pipeline: [key("Authorization", "Bearer {key}")],
  bank_link: [key("BANKLINK-SECRET", "{key}")],
  notes_wiki: [oauth(false), key("Authorization", "Bearer {key}")],
};

function describeScheme(scheme: AuthScheme): object {
  if (scheme.type !== "api_key" || scheme.placement === "path") return scheme;
  const text = scheme.value.kind === "text" ? scheme.value.template.text : "";
  return { ...scheme, value: text.replace("{{credential.key}}", "{key}") };
}

test.each(Object.entries(authentication))("%s authenticates as its row says", (slug, schemes) => {
  expect(catalog.toolkits.get(slug)?.auth.map(describeScheme)).toEqual(schemes);
});

/** The base URL of every toolkit whose host another deployment could share; the paths behind the host are part of it. */
const baseUrls: Readonly<Record<string, RegExp>> = {
  search_engine: /^https:\/\/\{\{account\.hostname\}\}:\{\{account\.port\}\}$/,
  vector_db: /^https:\/\/\{\{account\.hostname\}\}:\{\{account\.port\}\}$/,
  payments_checkout: /^https:\/\/\{\{account\.live_url_prefix\}\}[^/]*\{provider_base_url\}\/checkout\/v71$/,
  email_marketing: /^\{provider_base_url\}\/3\.0$/,
  esignature: /^\{provider_base_url\}\/v3$/,
  calendar: /^\{provider_base_url\}\/calendar\/v3$/,
};

test.each(Object.keys(summary))("%s has the base URL and the account variables of the specification", (slug) => {
  const { baseUrl, account } = catalog.toolkits.get(slug) ?? { baseUrl: "", account: [] };
  expect(baseUrl).toMatch(baseUrls[slug] ?? /^\{provider_base_url\}$/);
  const variables = [...baseUrl.matchAll(/\{\{account\.(\w+)\}\}/g)].map(([, name]) => name);
  expect(account.map(({ name }) => name)).toEqual(variables);
});

/** Limits from the specification: bounds and default of one argument of a tool. */
const limits: readonly (readonly [slug: string, argument: string, limit: object])[] = [
  ["messaging_bot.send_message", "text", { maxLength: 4096 }],
  ["messaging_bot.send_photo", "caption", { maxLength: 1024 }],
  ["messaging_bot.send_document", "caption", { maxLength: 1024 }],
  ["messaging_bot.get_updates", "limit", { maximum: 100, default: 100 }],
  ["esignature.list_signature_requests", "page_size", { maximum: 100, default: 20 }],
  ["search_engine.get_analytics_events", "n", { maximum: 1000 }],
  ["sales_crm.search_deals", "limit", { maximum: 500, default: 100 }],
  ["sales_crm.list_deals", "limit", { maximum: 500, default: 100 }],
  ["bank_link.list_institutions", "count", { maximum: 500 }],
  ["notes_wiki.search_pages", "page_size", { maximum: 100, default: 100 }],
  ["notes_wiki.search_databases", "page_size", { maximum: 100, default: 100 }],
  ["notes_wiki.get_page_content", "page_size", { maximum: 100, default: 100 }],
  ["payments_checkout.post_cancels", "reference", { maxLength: 80 }],
  ["issue_tracker.search_issues", "limit", { default: 50 }],
  ["issue_tracker.list_issues", "limit", { default: 50 }],
  ["issue_tracker.list_my_issues", "limit", { default: 50 }],
  ["work_mgmt.list_boards", "limit", { default: 25 }],
  ["work_mgmt.list_items", "limit", { default: 25 }],
  ["calendar.list_events", "max_results", { default: 250 }],
  ["calendar.list_event_instances", "max_results", { default: 250 }],
];

test.each(limits)("%s limits %s", (slug, argument, limit) => {
  expect(actionOf(slug).inputSchema).toHaveProperty(["properties", argument], expect.objectContaining(limit));
});

test("most payment tools take an idempotency key of at most 64 characters", () => {
  const schemas = actions
    .filter(({ toolkitSlug }) => toolkitSlug === "payments_checkout")
    .map(({ inputSchema }) => inputSchema["properties"] as Record<string, object>);
  const keys = schemas.flatMap(({ Idempotency_Key: found }) => found ?? []);
  expect(keys.length).toBeGreaterThan(schemas.length / 2);
  for (const found of keys) expect(found).toMatchObject({ type: "string", maxLength: 64 });
});

test.each([
  ["bank_link.exchange_public_token", /30 minutes/],
  ["scheduling.list_event_type_available_times", /\b(7|seven) days/],
])("%s says the limit that no schema can", (slug, limit) => {
  const { description, inputSchema } = actionOf(slug);
  expect(`${description} ${JSON.stringify(inputSchema)}`).toMatch(limit);
});

test.each([
  ["issue_tracker", { path: "errors[0]" }],
  ["work_mgmt", { path: "errors[0]" }],
  ["messaging_bot", { unless: "ok" }],
])("every tool of %s sees the errors that come as 200", (slug, error) => {
  for (const { name, response } of catalog.toolkits.get(slug)?.actions ?? []) {
    expect(response.error, name).toMatchObject(error);
  }
});

test("a tool whose result is `deleted` answers it when the app answers nothing", () => {
  const deleting = actions.filter(({ outputSchema }) => {
    return Object.keys((outputSchema["properties"] ?? {}) as object).join() === "deleted";
  });
  expect(deleting.length).toBeGreaterThan(5);
  for (const { slug, response } of deleting) expect(response.empty, slug).toEqual({ deleted: true });
});

test("an idempotency key that the caller may give is the one that is made up for a retry", () => {
  for (const { slug, inputSchema, idempotency } of actions) {
    if (!Object.hasOwn((inputSchema["properties"] ?? {}) as object, "Idempotency_Key")) continue;
    expect(idempotency?.argument, slug).toBe("Idempotency_Key");
  }
});

test("every input and output schema compiles", () => {
  for (const action of actions) {
    expect(action.validateInput({ nonsense: 1 }), action.slug).not.toEqual([]);
    expect(action.validateOutput("nonsense"), action.slug).not.toEqual([]);
  }
});

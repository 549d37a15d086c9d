import { createId } from "@svc/core";
import { shippedCatalog } from "@svc/testing/shipped-catalog";
import { expect, test } from "vitest";
import type { DefinitionError } from "../read/definition-file.ts";
import { boundText, type ToolkitBinding } from "./binding.ts";
import { bindToolkit } from "./bound-toolkit.ts";

const { definitions = new Map(), toolkits } = await shippedCatalog();
const projectId = createId("prj", 1);
const empty = { baseUrl: "", authorizeUrl: "", tokenUrl: "", scopeBase: "", values: {}, overlay: {} };

function bind(slug: string, binding: Partial<ToolkitBinding> = {}, shared = definitions) {
  return bindToolkit(boundText(slug, { ...empty, ...binding }), projectId, (name) => shared.get(name));
}

async function faultsOf(slug: string, binding: Partial<ToolkitBinding>): Promise<readonly string[]> {
  const error = await bind(slug, binding).then(
    () => undefined,
    (thrown: DefinitionError) => thrown,
  );
  return (error?.faults ?? []).map(({ file, path, reason }) => `${file} ${path}: ${reason}`);
}

const answers: Readonly<Record<string, string>> = {
  baseUrl: "https://api.app.example",
  authorizeUrl: "https://login.app.example/authorize",
  tokenUrl: "https://login.app.example/token",
  scopeBase: "https://scopes.app.example",
};

test.each([...toolkits.values()].map(({ slug }) => slug))(
  "%s can be bound with the answers that it asks for",
  async (slug) => {
    const shared = toolkits.get(slug);
    const asked = shared?.questions ?? [];
    const values = asked.flatMap(({ path }) => {
      if (Object.hasOwn(answers, path)) return [];
      return [[path, path.includes(":") ? "X-Answer: given" : "X-Answer"]];
    });
    const addresses = Object.fromEntries(asked.flatMap(({ path }) => (answers[path] ? [[path, answers[path]]] : [])));
    const bound = await bind(slug, { ...addresses, values: Object.fromEntries(values) });
    expect(bound).toMatchObject({ slug, ownerProjectId: projectId, isLive: true, webhook: undefined, triggers: [] });
    expect(bound.actions.map(({ name }) => name)).toEqual(shared?.actions.map(({ name }) => name));
    const phrased = bound.actions.flatMap(({ name }) => (shared?.sayings?.has(name) ? [name] : []));
    expect([...(bound.sayings?.keys() ?? [])].toSorted()).toEqual(phrased);
    expect(JSON.stringify([bound.baseUrl, bound.auth])).not.toMatch(
      /\{(?:provider_base_url|auth_url|token_url|scope_base)\}/,
    );
  },
);

test("the answers are in their places, and each origin has a digest of its own", async () => {
  const values = { "auth[0].name": "X-Engine-Key", "always.headers:application": "X-Engine-App:  A1 " };
  const bound = await bind("search_ingestion", { baseUrl: "https://a.app.example", values });
  expect(bound.baseUrl).toBe("https://a.app.example");
  expect(bound.auth).toMatchObject([{ type: "api_key", placement: "header", name: "X-Engine-Key" }]);
  expect(JSON.stringify(bound.always.headers)).toContain("X-Engine-App");
  const other = await bind("search_ingestion", { baseUrl: "https://b.app.example", values });
  expect(other.originDigest).not.toBe(bound.originDigest);
  expect((await bind("search_ingestion", { baseUrl: "https://a.app.example", values })).originDigest).toBe(
    bound.originDigest,
  );
});

test("without the addresses of OAuth, only the other schemes are left", async () => {
  const typesOf = async (binding: object) => (await bind("issue_tracker", binding)).auth.map(({ type }) => type);
  const { baseUrl = "", authorizeUrl = "", tokenUrl = "" } = answers;
  expect(await typesOf({ baseUrl })).toEqual(["api_key"]);
  expect(await typesOf({ baseUrl, authorizeUrl, tokenUrl })).toEqual(["oauth2", "api_key"]);
});

test("the copy follows the definition that svc ships", async () => {
  const newer = new Map(definitions);
  const shipped = definitions.get("sales_crm");
  if (shipped === undefined) throw new Error("the toolkit is missing");
  newer.set("sales_crm", { ...shipped, toolkit: { ...shipped.toolkit, version: "9.0.0" } });
  const baseUrl = "https://api.app.example";
  expect((await bind("sales_crm", { baseUrl }, newer)).version).toBe("9.0.0");
  newer.delete("sales_crm");
  await expect(bind("sales_crm", { baseUrl }, newer)).rejects.toThrow("svc does not ship any more");
});

const baseUrl = "https://api.app.example";
test.each([
  ["an address without https", { baseUrl: "http://app.example" }, "binding baseUrl: "],
  ["an address with a query", { baseUrl: "https://app.example?x=1" }, "binding baseUrl: "],
  ["an argument in the domain", { baseUrl: "https://{{params.host}}" }, "binding baseUrl: "],
  ["another token address", { baseUrl, tokenUrl: "ftp://x" }, "binding tokenUrl: "],
  ["an answer that is not asked for", { baseUrl, values: { "always.headers.X-A": "1" } }, "binding values: "],
  ["an unknown tool", { baseUrl, overlay: { tools: { nope: {} } } }, "binding overlay.tools.nope: "],
  [
    "a reference",
    { baseUrl, overlay: { tools: { list_deals: { input: { $ref: "#" } } } } },
    "tools.list_deals input.$ref: ",
  ],
  [
    "an argument of the host",
    { baseUrl, overlay: { tools: { list_deals: { input: { "x-host": true } } } } },
    "tools.list_deals input.x-host: ",
  ],
  ["a webhook", { baseUrl, overlay: { toolkit: { webhook: {} } } }, "toolkit webhook: "],
  [
    "a value of the deployment",
    { baseUrl, overlay: { toolkit: { baseUrl: "{{deployment.auth_url}}" } } },
    "toolkit baseUrl: ",
  ],
  ["another slug", { baseUrl, overlay: { toolkit: { slug: "mine" } } }, "toolkit (with the overlay of binding) slug: "],
  ["a malformed overlay", { baseUrl, overlay: { tools: "all" } as object }, "binding overlay.tools: "],
])("%s is refused and named", async (_what, binding, named) => {
  expect(await faultsOf("sales_crm", binding)).toEqual(expect.arrayContaining([expect.stringContaining(named)]));
});

test("an overlay cannot make a tool more dangerous than its class says, also after a release that raised the class", async () => {
  const overlayOf = (patch: object) => ({ baseUrl, overlay: { tools: { create_deal: patch } } });
  const isDelete = { request: { method: "DELETE" } };
  const named = expect.stringMatching(/^tools\.create_deal.* class: is write, and the call is a DELETE/);
  expect(await faultsOf("sales_crm", overlayOf(isDelete))).toContainEqual(named);
  const shipped = definitions.get("sales_crm");
  const tool = shipped?.tools.get("create_deal");
  if (shipped === undefined || tool === undefined) throw new Error("the tool is missing");
  const raised = { ...tool, class: "destructive" } as typeof tool;
  const newer = new Map([
    ...definitions,
    ["sales_crm", { ...shipped, tools: new Map([...shipped.tools, ["create_deal", raised]]) }],
  ]);
  const overlay = overlayOf({ class: "write" });
  expect((await bind("sales_crm", overlay)).slug).toBe("sales_crm");
  await expect(bind("sales_crm", overlay, newer)).rejects.toThrow("the class of the shared tool is destructive");
});

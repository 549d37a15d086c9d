import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { catalogOf, type ToolkitSource, writeToolkits } from "@svc/testing/catalog";
import { sampleToolkits } from "@svc/testing/sample-toolkits";
import { afterEach, expect, test } from "vitest";
import { DefinitionError } from "../read/definition-file.ts";
import { loadCatalog } from "../read/load.ts";
import { loadDeployment } from "./deployment.ts";

const folders: string[] = [];

async function writeDeployment(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "svc-deployment-"));
  folders.push(folder);
  await writeFile(join(folder, "deployment.yaml"), text);
  return join(folder, "deployment.yaml");
}

afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })));
});

const audienceOf = (deployment: object | undefined) => {
  const catalog = catalogOf({ toolkits: [sampleToolkits.payments], ...(deployment && { deployment }) });
  return catalog.toolkits.get("payments")?.webhook?.audience;
};

test("the audience is projects without a deployment, accounts with one, and what it says where it says so", () => {
  expect(audienceOf(undefined)).toBe("projects");
  expect(audienceOf({})).toBe("accounts");
  expect(audienceOf({ toolkits: { payments: {} } })).toBe("accounts");
  expect(audienceOf({ toolkits: { payments: { webhook: { audience: "projects" } } } })).toBe("projects");
});

test("an empty deployment file is a deployment that binds nothing", async () => {
  const deployment = await loadDeployment(await writeDeployment("toolkits: {}\n"));
  expect(deployment.toolkits.size).toBe(0);
});

test("all faults of a deployment file are reported at once, with line, path and cure", async () => {
  const file = await writeDeployment(
    [
      "toolkits:",
      "  calendar:",
      "    provider_base_url: http://api.example.com",
      "    auth_url: example.com",
      "    colour: red",
      "    scope_base: https://scopes.example.com/",
      "    oauth: {client_id_env: id}",
      "    webhook: {audience: everyone}",
    ].join("\n"),
  );
  const refusal: unknown = await loadDeployment(file).catch((error: unknown) => error);
  const faults = (refusal as DefinitionError).faults.map(({ line, path }) => [line, path]);
  expect(faults).toContainEqual([3, "toolkits.calendar.provider_base_url"]);
  expect(faults).toContainEqual([4, "toolkits.calendar.auth_url"]);
  expect(faults).toContainEqual([5, "toolkits.calendar.colour"]);
  expect(faults).toContainEqual([6, "toolkits.calendar.scope_base"]);
  expect(faults).toContainEqual([7, "toolkits.calendar.oauth.client_id_env"]);
  expect(faults).toContainEqual([7, "toolkits.calendar.oauth.client_secret_env"]);
  expect(faults).toContainEqual([8, "toolkits.calendar.webhook.audience"]);
  expect((refusal as Error).message).toContain("use one of accounts, projects");
});

test.each([
  ["https://api.example.com", true],
  ["https://{{params.dc}}.api.example.com", true],
  ["https://us.{{ params.dc }}.api.example.com/base", true],
  ["http://localhost:4010", true],
  ["http://api.example.com", false],
  ["https://api.example.com/", false],
  ["https://api.example.com?x=1", false],
  ["https://{{params.host}}", false],
  ["https://{{params.host}}.com", false],
  ["https://x-{{params.dc}}.api.example.com", false],
  ["https://{{params.a}}.{{params.b}}.api.example.com", false],
  ["https://api.example.com/{{params.path}}", false],
  ["https://{{credential.key}}.example.com", false],
])("provider_base_url %s: accepted %s", async (address, accepted) => {
  const file = await writeDeployment(`toolkits: {calendar: {provider_base_url: "${address}"}}`);
  const outcome = await loadDeployment(file).then(
    () => true,
    (error: unknown) => !(error instanceof DefinitionError),
  );
  expect(outcome).toBe(accepted);
});

test("a deployment that cannot be read, or is not YAML, is refused with its cure", async () => {
  await expect(loadDeployment("/nowhere/deployment.yaml")).rejects.toThrow("leave SVC_DEPLOYMENT empty");
  await expect(loadDeployment(await writeDeployment("toolkits: [a"))).rejects.toThrow("YAML 1.2");
});

test("toolkits and tools that a deployment names exist", () => {
  const toolkits = [sampleToolkits.payments];
  expect(() => catalogOf({ toolkits, deployment: { toolkits: { payment: {} } } })).toThrow("use one of payments");
  const deployment = { toolkits: { payments: { overlay: { tools: { refund: {} } } } } };
  expect(() => catalogOf({ toolkits, deployment })).toThrow("overlay.tools.refund");
});

test("a host takes account variables that exist, and arguments that every action requires with a pattern", () => {
  const { payments } = sampleToolkits;
  const { toolkit } = payments;
  const bind = (address: string, argument: object, required = ["payment_id", "dc"]) => {
    const tools = structuredClone(payments.tools) as unknown as { refund_payment: { input: Record<string, object> } };
    const { input } = tools.refund_payment;
    input["properties"] = { ...input["properties"], dc: { type: "string", description: "Region.", ...argument } };
    input["required"] = required;
    const deployment = { toolkits: { payments: { provider_base_url: address } } };
    return catalogOf({ toolkits: [{ toolkit, tools } as unknown as ToolkitSource], deployment });
  };
  const host = { "x-host": true, pattern: "^[a-z0-9]+$" };
  expect(bind("https://{{params.dc}}.api.example.com", host).toolkits.size).toBe(1);
  expect(bind("https://{{params.dc}}.api.example.com", { ...host, default: "eu" }, ["payment_id"]).toolkits.size).toBe(
    1,
  );
  expect(() => bind("https://{{params.dc}}.api.example.com", host, ["payment_id"])).toThrow(
    /payments\.provider_base_url: \{\{params\.dc\}\} is not a required argument with a pattern of refund_payment; declare dc/,
  );
  expect(() => bind("https://{{params.region}}.api.example.com", host)).toThrow("declare region there");
  expect(bind("https://{{account.prefix}}.api.example.com", host).toolkits.size).toBe(1);
  expect(() => bind("https://{{account.tenant}}.api.example.com", host)).toThrow("is not an account variable");
});

test("an overlay is merged over the definition, and checked like it", async () => {
  const toolkits = [sampleToolkits.payments];
  const overlaid = (overlay: object) => catalogOf({ toolkits, deployment: { toolkits: { payments: { overlay } } } });
  const catalog = overlaid({
    toolkit: { always: { headers: { "X-App-Version": "2" } }, rate: { max: 5, per: "1m" } },
    tools: { refund_payment: { scopes: null, class: "write" } },
  });
  expect(catalog.toolkits.get("payments")?.always.headers).toMatchObject({ value: { "X-App-Version": "2" } });
  expect(catalog.toolkits.get("payments")?.rate).toEqual({ max: 5, perMs: 60_000 });
  expect(catalog.tools.get("payments.refund_payment")).toMatchObject({ class: "write", scopes: [] });
  expect(() => overlaid({ toolkit: { category: "fun" } })).toThrow(
    "payments/toolkit.yaml (with the overlay of deployment.yaml) category",
  );
});

test("a deployment read from a file is loaded with the folders, and its faults name its lines", async () => {
  const file = await writeDeployment("toolkits:\n  code_host:\n    webhook: {audience: projects}\n  nope: {}\n");
  const folder = join(file, "..", "toolkits");
  await writeToolkits(folder, [sampleToolkits.codeHost]);
  const deployment = await loadDeployment(file);
  await expect(loadCatalog({ folders: [folder], deployment })).rejects.toThrow(`${file}:4 toolkits.nope`);
});

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProject } from "@svc/db/projects/repo";
import { ToolkitConnectability, type ToolkitConnectSpec } from "@svc/gen/catalog";
import { writeToolkits } from "@svc/testing/catalog";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { isOauthRegistered, loadDeployment } from "./build/deployment.ts";
import { privateDefinition, sharedSource } from "./private/test-definitions.ts";
import { loadCatalog } from "./read/load.ts";
import { createTestNode } from "./test-client.ts";

const { db, drop } = await createTestDatabase();
const folder = await mkdtemp(join(tmpdir(), "svc-connect-"));
afterAll(() => Promise.all([drop(), rm(folder, { recursive: true })]));
const projectId = (await createProject(db, "connect", 1)).id;

const oauth2 = {
  type: "oauth2",
  authorizeUrl: "{{deployment.auth_url}}",
  tokenUrl: "{{deployment.token_url}}",
  defaultScopes: ["{{deployment.scope_base}}/orders"],
  refresh: true,
};
const apiKey = { type: "api_key", placement: "header", name: "X-Key", value: "{{credential.key}}" };
const clientCredentials = { type: "client_credentials", tokenUrl: "{{deployment.token_url}}", defaultScopes: ["all"] };

/** One toolkit definition for each list of authentication schemes. Their files are written once and never change. */
const definitions = {
  oauth_only: [oauth2],
  oauth_and_key: [oauth2, apiKey],
  key_only: [apiKey],
  credentials_only: [clientCredentials],
  oauth_and_credentials: [clientCredentials, oauth2],
  nothing_needed: [{ type: "none" }, clientCredentials],
};
const baseUrl = "https://{{account.prefix}}-{{deployment.provider_base_url}}/v1";
const account = [{ name: "prefix", description: "Prefix of your address", example: "acme", pattern: "^[a-z]+$" }];
await writeToolkits(
  join(folder, "toolkits"),
  Object.entries(definitions).map(([slug, auth]) => sharedSource({ slug, toolkit: { auth, baseUrl, account } })),
);

/** Creates a node whose deployment has this deployment file, or none, and these environment variables. Returns a client of the node. */
async function clientOf(deploymentText?: string, environment: Record<string, string> = {}) {
  const file = join(folder, "deployment.yaml");
  if (deploymentText !== undefined) await writeFile(file, deploymentText);
  const deployment = deploymentText === undefined ? undefined : await loadDeployment(file);
  const catalog = await loadCatalog({ folders: [join(folder, "toolkits")], deployment });
  const node = createTestNode(db, {
    catalog,
    isOauthRegistered: (toolkit) => isOauthRegistered(toolkit, deployment, (name) => environment[name]),
  });
  return node.clientOf(projectId);
}

const registration = "oauth: {client_id_env: APP_ID, client_secret_env: APP_SECRET}";
const registered = ["oauth_only", "oauth_and_key", "oauth_and_credentials"]
  .map((slug) => `  ${slug}: {${registration}}`)
  .join("\n");

const { READY, NEEDS_OAUTH_REGISTRATION, OAUTH_PENDING } = ToolkitConnectability;
const withoutClient = {
  credentials_only: [false, NEEDS_OAUTH_REGISTRATION],
  key_only: [true, READY],
  nothing_needed: [true, READY],
  oauth_and_credentials: [false, NEEDS_OAUTH_REGISTRATION],
  oauth_and_key: [true, OAUTH_PENDING],
  oauth_only: [false, NEEDS_OAUTH_REGISTRATION],
};
const withClient = {
  ...withoutClient,
  oauth_and_credentials: [true, READY],
  oauth_and_key: [true, READY],
  oauth_only: [true, READY],
};

test.each<[name: string, file: string | undefined, environment: Record<string, string>, expected: object]>([
  ["no deployment", undefined, { APP_ID: "a", APP_SECRET: "b" }, withoutClient],
  ["a deployment that names no client", "toolkits: {oauth_only: {}}", { APP_ID: "a", APP_SECRET: "b" }, withoutClient],
  ["variables named and not set", `toolkits:\n${registered}`, {}, withoutClient],
  ["one of the two set", `toolkits:\n${registered}`, { APP_ID: "a" }, withoutClient],
  ["one of the two empty", `toolkits:\n${registered}`, { APP_ID: "a", APP_SECRET: "" }, withoutClient],
  ["both set", `toolkits:\n${registered}`, { APP_ID: "a", APP_SECRET: "b" }, withClient],
])("connectability with %s", async (_name, file, environment, expected) => {
  const { toolkits } = await (await clientOf(file, environment)).listToolkits({});
  const found = toolkits.map(({ slug, connectable, connectability }) => [slug, [connectable, connectability]]);
  expect(Object.fromEntries(found)).toEqual(expected);
});

const bound = `toolkits:
  oauth_and_credentials:
    provider_base_url: https://pay.example.com
    auth_url: https://login.example.org/authorize
    token_url: https://login.example.org/token
    scope_base: https://scopes.example.net
    ${registration}
  oauth_and_key:
    provider_base_url: https://example.com
`;

async function specOf(slug: string, file?: string): Promise<ToolkitConnectSpec> {
  const client = await clientOf(file, { APP_ID: "the-id", APP_SECRET: "the-secret" });
  const { spec } = await client.getToolkitConnectSpec({ slug });
  if (spec === undefined) throw new Error("the answer has a spec");
  return spec;
}

test("the base URL template shows the deployment's host, or its key while it is unbound", async () => {
  const unbound = await specOf("oauth_and_credentials");
  expect(unbound.baseUrlTemplate).toBe("https://{{account.prefix}}-{provider_base_url}/v1");
  expect(unbound.accountVariables).toMatchObject([{ name: "prefix", example: "acme", decidesOrigin: false }]);
  const spec = await specOf("oauth_and_credentials", bound);
  expect(spec.baseUrlTemplate).toBe("https://{{account.prefix}}-pay.example.com/v1");
  expect(spec.accountVariables).toMatchObject([{ name: "prefix", decidesOrigin: false }]);
});

test("a variable in front of a bound host of two labels decides the origin", async () => {
  const spec = await specOf("oauth_and_key", bound);
  expect(spec.baseUrlTemplate).toBe("https://{{account.prefix}}-example.com/v1");
  expect(spec.accountVariables).toMatchObject([{ name: "prefix", decidesOrigin: true }]);
});

test("a connect spec leaves client_credentials out, and carries neither endpoint nor client nor credential", async () => {
  const spec = await specOf("oauth_and_credentials", bound);
  expect(spec.authSchemes).toMatchObject([
    { type: "oauth2", defaultScopes: ["https://scopes.example.net/orders"], keyPlacement: "", keyName: "" },
  ]);
  expect((await specOf("credentials_only", bound)).authSchemes).toEqual([]);
  const keyed = await specOf("oauth_and_key", bound);
  expect(keyed.authSchemes[1]).toMatchObject({ type: "api_key", keyPlacement: "header", keyName: "X-Key" });
  expect(JSON.stringify([spec, keyed])).not.toMatch(
    /login\.example|auth_url|token_url|\{\{credential|the-id|the-secret|APP_/,
  );
});

test("a private toolkit over a registered slug is not registered, and takes no value of the deployment", async () => {
  const client = await clientOf(`toolkits:\n${registered}`, { APP_ID: "a", APP_SECRET: "b" });
  const auth = [
    { ...oauth2, authorizeUrl: "https://a.example.com", tokenUrl: "https://t.example.com", defaultScopes: [] },
  ];
  await client.publishToolkit({ definitionJson: privateDefinition({ slug: "oauth_only", toolkit: { auth } }) });
  const read = async (project: string) => (await client.getToolkit({ slug: "oauth_only", projectId: project })).toolkit;
  expect((await read(projectId))?.connectability).toBe(NEEDS_OAUTH_REGISTRATION);
  expect((await read(""))?.connectability).toBe(READY);
  await client.deleteToolkit({ slug: "oauth_only" });
  expect((await read(projectId))?.connectability).toBe(READY);
});

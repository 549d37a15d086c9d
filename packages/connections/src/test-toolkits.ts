import type { ToolkitSource } from "@svc/testing/catalog";
import { testClient } from "./test-app.ts";

const text = { type: "string" };

const trigger = {
  kind: "trigger",
  description: "Fires when something changes in the app that is connected here.",
  intents: ["tell me about changes", "when it changes", "watch this"],
  output: { type: "object", additionalProperties: false, required: ["id"], properties: { id: text } },
  match: { headers: { "x-tracker-event": "changed" } },
  account: "{{body.account}}",
  dedupe: "{{body.id}}",
  payload: { id: "{{body.id}}" },
} as const;

const getMe = {
  kind: "action",
  class: "read",
  scopes: [],
  description: "Reads the person whose account is connected, with the id that the app knows them by.",
  intents: ["who am i", "which account is this", "check the connection"],
  input: { type: "object", additionalProperties: false, properties: {} },
  output: { type: "object", properties: { user: { type: "object", properties: { id: text } } } },
  request: { method: "GET", path: "/me" },
} as const;

const common = {
  name: "Test app",
  description: "An app that the tests of connections play on a port of their own.",
  version: "0.1.0",
  category: "work-tracking",
} as const;

const oauth2 = {
  type: "oauth2" as const,
  authorizeUrl: "{{deployment.auth_url}}",
  tokenUrl: "{{deployment.token_url}}",
  defaultScopes: ["read", "write"],
  refresh: true,
};

const keyInHeader = {
  type: "api_key",
  placement: "header",
  name: "X-Key",
  value: "Token {{credential.key}}",
} as const;

/** Toolkits of the tests. They differ in the parts of a definition that connections use. */
export const testToolkits: readonly ToolkitSource[] = [
  {
    // This toolkit has every scheme that an entity can use, a tool that identifies accounts, and events that name accounts.
    toolkit: {
      ...common,
      slug: "tracker",
      baseUrl: "{{deployment.provider_base_url}}",
      auth: [oauth2, keyInHeader, { type: "basic" }, { type: "none" }],
      identify: { tool: "get_me", path: "user.id" },
      webhook: {
        scheme: "hmac_sha256",
        secretEnv: "SVC_WEBHOOK_SECRET_TRACKER",
        header: "X-Sign",
        encoding: "hex",
        prefix: "",
      },
    },
    tools: { get_me: getMe, changed: trigger },
  },
  {
    toolkit: {
      ...common,
      slug: "plain",
      baseUrl: "{{deployment.provider_base_url}}",
      auth: [{ type: "api_key", placement: "query", name: "key", value: "{{credential.key}}" }],
    },
    tools: { get_me: getMe },
  },
  {
    toolkit: {
      ...common,
      slug: "own_server",
      baseUrl: "https://{{account.hostname}}:{{account.port}}",
      auth: [{ type: "none" }],
      account: [
        {
          name: "hostname",
          description: "Host name of your server",
          example: "app.example.com",
          pattern: "^[a-z0-9.-]+$",
        },
        { name: "port", description: "Port it listens on", example: "443", pattern: "^[0-9]{1,5}$" },
      ],
    },
    tools: { get_me: getMe },
  },
  {
    toolkit: {
      ...common,
      slug: "machine",
      baseUrl: "{{deployment.provider_base_url}}",
      auth: [{ type: "client_credentials", tokenUrl: "{{deployment.token_url}}", defaultScopes: ["all"] }, keyInHeader],
    },
    tools: { get_me: getMe },
  },
  {
    toolkit: {
      ...common,
      slug: "brief",
      baseUrl: "{{deployment.provider_base_url}}",
      auth: [{ ...oauth2, refresh: false }],
    },
    tools: { get_me: getMe },
  },
  {
    // This toolkit has a tool that identifies accounts, and sends no events.
    toolkit: {
      ...common,
      slug: "quiet",
      baseUrl: "{{deployment.provider_base_url}}",
      auth: [keyInHeader],
      identify: { tool: "get_me", path: "user.id" },
    },
    tools: { get_me: getMe },
  },
  {
    // The deployment file sets no values for this toolkit.
    toolkit: {
      ...common,
      slug: "unbound",
      baseUrl: "{{deployment.provider_base_url}}",
      auth: [oauth2, keyInHeader],
      identify: { tool: "get_me", path: "user.id" },
    },
    tools: { get_me: getMe },
  },
];

/**
 * Returns the deployment file for the toolkits of the tests. It sets the address of their app to `url`, and an OAuth client for the
 * toolkits `tracker` and `brief`.
 */
export function testDeployment(url: string): object {
  const bindings = { provider_base_url: url, auth_url: `${url}/authorize?prompt=consent`, token_url: `${url}/token` };
  const registered = {
    ...bindings,
    oauth: { client_id_env: "TEST_CLIENT_ID", client_secret_env: "TEST_CLIENT_SECRET" },
  };
  return {
    toolkits: {
      quiet: bindings,
      tracker: registered,
      plain: { provider_base_url: url },
      machine: bindings,
      brief: registered,
    },
  };
}

/** Environment variables of the tests. The deployment file refers to them by name. */
export const testVariables: Readonly<Record<string, string>> = {
  TEST_CLIENT_ID: testClient.clientId,
  TEST_CLIENT_SECRET: testClient.clientSecret,
};

/**
 * Returns the definition of a private toolkit (an app's tools, published by one project), for PublishToolkit. svc sends its credentials to
 * `host`.
 */
export function privateToolkit(slug: string, host: string): string {
  return JSON.stringify({
    toolkit: { ...common, slug, baseUrl: `https://${host}`, auth: [keyInHeader, oauthOf(host)] },
    tools: { get_me: getMe },
  });
}

function oauthOf(host: string) {
  return { ...oauth2, authorizeUrl: `https://${host}/authorize`, tokenUrl: `https://${host}/token` };
}

import type { ToolkitSource as Source } from "./catalog.ts";

const text = { type: "string" };
const integer = { type: "integer" };

const codeHost: Source = {
  toolkit: {
    slug: "code_host",
    name: "Code host",
    description: "Repositories and issues of a code host, for tests of hmac_sha256 with hex and a prefix.",
    version: "0.1.0",
    category: "developer-infrastructure",
    baseUrl: "https://api.code.example.com",
    auth: [{ type: "api_key", placement: "header", name: "Authorization", value: "Bearer {{credential.key}}" }],
    webhook: {
      scheme: "hmac_sha256",
      secretEnv: "SVC_WEBHOOK_SECRET_CODE_HOST",
      header: "X-Code-Signature",
      encoding: "hex",
      prefix: "sha256=",
      ignore: [{ headers: { "X-Code-Event": "ping" } }],
    },
  },
  tools: {
    issue_opened: {
      kind: "trigger",
      description: "Fires when somebody opens an issue in a repository of the organization.",
      intents: ["tell me about new bugs", "when a ticket comes in", "watch for reports"],
      output: {
        type: "object",
        additionalProperties: false,
        required: ["number", "title", "repository"],
        properties: { number: integer, title: text, repository: text, labels: { type: "array", items: text } },
      },
      match: { headers: { "X-Code-Event": "issues" }, body: { action: "opened" } },
      account: "{{body.organization.id}}",
      dedupe: "{{headers.x-code-delivery}}",
      occurredAt: "{{body.issue.created_at}}",
      payload: {
        number: "{{body.issue.number | int}}",
        title: "{{body.issue.title}}",
        repository: "{{body.repository.name}}",
        labels: "{{body.issue.labels}}",
      },
    },
    push_received: {
      kind: "trigger",
      description: "Fires when commits are pushed to a branch of a repository of the organization.",
      intents: ["when someone pushes code", "tell me about new commits", "start a build on a change"],
      output: {
        type: "object",
        additionalProperties: false,
        required: ["ref"],
        properties: { ref: text, head: { type: "object", properties: { id: text, message: text } } },
      },
      match: { headers: { "X-Code-Event": ["push", "force_push"] } },
      account: "{{body.organization.id}}",
      dedupe: "{{headers.x-code-delivery}}",
      payload: { ref: "{{body.ref}}", head: { id: "{{body.head.id}}", message: "{{body.head.message}}" } },
    },
  },
};

const payments: Source = {
  toolkit: {
    slug: "payments",
    name: "Payments",
    description: "Payments of a shop, for tests of hmac_sha256 with base64 and no prefix.",
    version: "0.1.0",
    category: "payments-and-banking",
    baseUrl: "https://{{account.prefix}}.payments.example.com",
    auth: [
      {
        type: "oauth2",
        authorizeUrl: "{{deployment.auth_url}}",
        tokenUrl: "{{deployment.token_url}}",
        defaultScopes: ["{{deployment.scope_base}}/payments"],
        refresh: true,
      },
      { type: "api_key", placement: "query", name: "key", value: "{{credential.key}}" },
      { type: "client_credentials", tokenUrl: "{{deployment.token_url}}" },
    ],
    account: [
      { name: "prefix", description: "Prefix of your live address", example: "shop-1", pattern: "^[a-z0-9-]+$" },
    ],
    webhook: {
      scheme: "hmac_sha256",
      secretEnv: "SVC_WEBHOOK_SECRET_PAYMENTS",
      header: "X-Pay-Signature",
      encoding: "base64",
    },
  },
  tools: {
    payment_changed: {
      kind: "trigger",
      description: "Fires when a payment of the shop is settled, or when it fails for good.",
      intents: ["when money comes in", "tell me about failed charges", "watch the shop's income"],
      output: {
        type: "object",
        additionalProperties: false,
        required: ["id", "state", "amount"],
        properties: { id: text, state: { enum: ["payment.settled", "payment.failed"] }, amount: integer },
      },
      match: { body: { type: ["payment.settled", "payment.failed"] } },
      account: "{{body.account}}",
      dedupe: "{{body.id}}",
      occurredAt: "{{body.created}}",
      payload: { id: "{{body.payment.id}}", state: "{{body.type}}", amount: "{{body.payment.amount | int}}" },
    },
    refund_payment: {
      kind: "action",
      class: "destructive",
      scopes: ["{{deployment.scope_base}}/payments.refund"],
      description: "Pays a settled payment back to the customer, whole or in part; it cannot be undone.",
      intents: ["give the customer the money back", "undo this charge", "pay back half of the order"],
      idempotency: { header: "Idempotency-Key", maxLength: 64 },
      input: {
        type: "object",
        additionalProperties: false,
        required: ["payment_id"],
        properties: {
          payment_id: { type: "string", description: "Id of the payment." },
          amount: { type: "integer", minimum: 1, description: "Amount in minor units. The whole when left out." },
        },
      },
      output: { type: "object", properties: { id: text, state: text, lines: { type: "array", items: integer } } },
      request: {
        method: "POST",
        path: "/payments/{{params.payment_id}}/refunds",
        body: { amount: "{{params.amount}}" },
      },
    },
  },
};

const teamChat: Source = {
  toolkit: {
    slug: "team_chat",
    name: "Team chat",
    description: "Channels and messages of a team chat, for tests of slack_v0.",
    version: "0.1.0",
    category: "communication",
    baseUrl: "https://chat.example.com/api",
    auth: [{ type: "basic" }],
    webhook: { scheme: "slack_v0", secretEnv: "SVC_WEBHOOK_SECRET_TEAM_CHAT" },
  },
  tools: {
    message_posted: {
      kind: "trigger",
      description: "Fires when somebody posts a message in a channel that the app was added to.",
      intents: ["when someone writes in the channel", "answer messages", "listen to the team"],
      output: {
        type: "object",
        additionalProperties: false,
        required: ["channel", "text"],
        properties: { channel: text, text, user: text },
      },
      match: { body: { type: "event_callback", "event.type": "message" } },
      account: "{{body.team_id}}",
      dedupe: "{{body.event_id}}",
      occurredAt: "{{body.event_time}}",
      payload: { channel: "{{body.event.channel}}", text: "{{body.event.text}}", user: "{{body.event.user}}" },
    },
  },
};

const watcher: Source = {
  toolkit: {
    slug: "watcher",
    name: "Watcher",
    description: "Channels that announce changes in headers alone, for tests of token_query.",
    version: "0.1.0",
    category: "scheduling",
    baseUrl: "https://{{account.hostname}}:{{account.port}}",
    auth: [{ type: "none" }],
    account: [
      { name: "hostname", description: "Host name of your server", example: "watch.example.com" },
      { name: "port", description: "Port it listens on" },
    ],
    webhook: {
      scheme: "token_query",
      secretEnv: "SVC_WEBHOOK_SECRET_WATCHER",
      parameter: "token",
      ignore: [{ headers: { "x-watch-state": "sync" } }],
    },
  },
  tools: {
    changed: {
      kind: "trigger",
      description: "Fires when the watched resource changes; the message says which, not what changed.",
      intents: ["tell me when it changes", "keep the copy fresh", "watch this resource"],
      output: {
        type: "object",
        additionalProperties: false,
        required: ["channel", "number"],
        properties: { channel: text, number: integer, room: text },
      },
      match: { headers: { "x-watch-state": ["exists", "gone"] } },
      account: "{{headers.x-watch-channel}}",
      dedupe: "{{headers.x-watch-channel}}:{{headers.x-watch-number}}",
      payload: {
        channel: "{{headers.x-watch-channel}}",
        number: "{{headers.x-watch-number | int}}",
        room: "{{query.room}}",
      },
    },
  },
};

/**
 * Toolkit definitions for tests. Together they use every webhook scheme and encoding, account keys, dedupe keys, and times in headers,
 * query and body.
 */
export const sampleToolkits = { codeHost, payments, teamChat, watcher };

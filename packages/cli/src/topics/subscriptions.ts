import { type SubscriptionHealth, TriggersService } from "@svc/gen/triggers";
import type { Subscription } from "@svc/sdk";
import { readSecretOption } from "../command/input.ts";
import { parseCount } from "../command/options.ts";
import { call, list, topic } from "../command/topic.ts";
import { addSubscriptionPreview } from "../custom/preview-subscription.ts";
import { addSubscriptionTest } from "../custom/send-test-event.ts";
import {
  clearingOptions,
  credentialOptions,
  formatOptions,
  maskOf,
  matchOptions,
  paceOptions,
  partFacts,
  partsOf,
  requireChange,
  retryOptions,
} from "../custom/subscription-parts.ts";
import { numberText, plainText } from "../text/plain.ts";
import { factLines, tableLines, timeText } from "../text/table.ts";
import { tryParts } from "./deliveries.ts";

const {
  createSubscription,
  listSubscriptions,
  getSubscription,
  updateSubscription,
  rotateSubscriptionSecret,
  deleteSubscription,
  tryNow,
} = TriggersService.method;
const exampleId = "sub_01h455vb4pex5vsknk084sn02q";

/**
 * The commands for subscriptions (rules that send events to an endpoint):
 * `svc subscriptions create|list|show|update|pause|resume|rotate|delete|preview|test|try`.
 */
export const addSubscriptionsCommand = topic({
  says: "create, list, show, change and delete subscriptions of endpoints to events, and test an endpoint",
  examples: [
    "svc subscriptions create https://hooks.example.com/svc --toolkit calendar",
    `svc subscriptions test ${exampleId}`,
  ],
  commands: {
    create: call(createSubscription, {
      says: "subscribe an endpoint to events, and print the subscription's id and its signing secret",
      takes: {
        "<url>": [
          "endpoint that deliveries are posted to; must be https unless its host is loopback",
          { fills: "endpointUrl" },
        ],
      },
      options: [
        ["--toolkit <slug>", "only events of this toolkit (default: all)", { fills: "toolkitSlug" }],
        [
          "--trigger <slug>",
          "only events of this trigger, such as calendar.events_changed (default: all)",
          { fills: "triggerSlug" },
        ],
        ["--entity <id>", "only events of this entity (default: all)", { fills: "entityId" }],
        ["--description <text>", "note for people"],
        ...matchOptions,
        ...formatOptions,
        ...retryOptions,
        ...paceOptions,
        ...credentialOptions,
      ],
      request: async ({ values, context }) => {
        const { toolkit = "", trigger = "" } = values;
        // A slug such as `calendar.events_changed` contains the slug of its toolkit.
        const [toolkitSlug = ""] = String(trigger).split(".", 1);
        const isWhole = toolkit === "" && String(trigger).includes(".");
        return { ...(await partsOf(values, context)), ...(isWhole && { toolkitSlug }) };
      },
      json: "the subscription and its secret as JSON",
      shows: ({ subscription, signingSecret }) =>
        factLines([
          ["subscription", subscription?.id ?? ""],
          ["signing secret", signingSecret],
        ]),
      notes: ({ subscription, warnings }) => [
        ...warnings.map((warning) => `Warning: ${plainText(warning)}`),
        "Keep the secret: it is not shown again.",
        `\`svc subscriptions test ${subscription?.id}\` sends the endpoint a test event.`,
      ],
      examples: [
        "svc subscriptions create https://hooks.example.com/svc",
        "svc subscriptions create http://localhost:3000/hook --trigger calendar.events_changed",
        "svc subscriptions create https://hooks.example.com/svc --toolkit events --filter 'event.payload.amount > 1000'",
      ],
    }),
    list: list(listSubscriptions, {
      says: "list the project's subscriptions, active or not, newest first",
      isDefault: true,
      options: [
        ["--entity <id>", "only subscriptions of this entity (default: all)", { fills: "entityId" }],
        ["--limit <count>", "largest number of subscriptions to list", { parse: parseCount, default: 1_000 }],
      ],
      pageSize: 1_000,
      rows: "subscriptions",
      table: subscriptionTable,
      json: "the subscriptions as a JSON list",
      examples: ["svc subscriptions list", "svc subscriptions list --limit 20 --json"],
    }),
    show: call(getSubscription, {
      says: "show one subscription: the health of its endpoint, its waiting deliveries, its last success",
      takes: { "<id>": "id of the subscription, sub_…" },
      result: "subscription",
      json: "the subscription as JSON",
      shows: ({ subscription }) => (subscription === undefined ? [] : factLines(factsOf(subscription))),
      examples: [`svc subscriptions show ${exampleId}`],
    }),
    update: call(updateSubscription, {
      says: "change a subscription's endpoint or parts, or switch it on or off; the rest stays",
      more: "\nWhat no option names stays as it is. An empty text ends a setting: --filter '', --triggers '', --retry '', --pace '' or\n--concurrency ''.",
      takes: { "<id>": "id of the subscription, sub_…" },
      options: [
        ["--endpoint <url>", "where deliveries are posted from now on", { fills: "endpointUrl" }],
        ["--activate", "receive deliveries again; missed events are not queued"],
        ["--deactivate", "receive no deliveries, and end the pending ones permanently", { conflicts: "activate" }],
        ["--description <text>", "note for people; an empty text removes it"],
        ...matchOptions,
        ...formatOptions,
        ...retryOptions,
        ...paceOptions,
        ...credentialOptions,
        ...clearingOptions,
      ],
      request: async ({ values, context }) => {
        requireChange(values);
        const { activate, deactivate } = values;
        const parts = { ...(await partsOf(values, context)), updateMask: maskOf(values) };
        return activate === deactivate ? parts : { ...parts, active: activate === true };
      },
      result: "subscription",
      json: "the subscription as JSON",
      shows: ({ subscription }) => (subscription === undefined ? [] : subscriptionTable([subscription])),
      notes: (_, { values: { id, activate } }) =>
        activate === true ? `\`svc replay --since <when> --subscription ${id}\` delivers what it missed.` : [],
      examples: [
        `svc subscriptions update ${exampleId} --endpoint https://hooks.example.com/v2`,
        `svc subscriptions update ${exampleId} --activate`,
        `svc subscriptions update ${exampleId} --pace 10/1s --concurrency 2`,
      ],
    }),
    pause: call(updateSubscription, {
      says: "pause a subscription for up to 30 days; what it misses is kept",
      takes: { "<id>": "id of the subscription, sub_…" },
      request: () => ({ paused: true }),
      result: "subscription",
      json: "the subscription as JSON",
      shows: ({ subscription }) => (subscription === undefined ? [] : subscriptionTable([subscription])),
      notes: (_, { values: { id } }) => `\`svc subscriptions resume ${id}\` delivers what it misses.`,
      examples: [`svc subscriptions pause ${exampleId}`],
    }),
    resume: call(updateSubscription, {
      says: "resume a paused subscription; it receives what it missed, each event once",
      takes: { "<id>": "id of the subscription, sub_…" },
      request: () => ({ paused: false }),
      result: "subscription",
      json: "the subscription as JSON",
      shows: ({ subscription }) => (subscription === undefined ? [] : subscriptionTable([subscription])),
      notes: () => "`svc replays` shows how far it has caught up.",
      examples: [`svc subscriptions resume ${exampleId}`],
    }),
    rotate: call(rotateSubscriptionSecret, {
      says: "replace a subscription's signing secret; for a time, deliveries are signed with both",
      takes: { "<id>": "id of the subscription, sub_…" },
      options: [
        [
          "--overlap <duration>",
          "how long the former secret still signs, at most 7d (default: 1d)",
          { fills: "overlap" },
        ],
        ["--secret-stdin", "read the new secret from standard input (default: svc generates one)"],
        ["--secret-env <name>", "read it from this environment variable"],
      ],
      request: async ({ values, context }) =>
        values["secretStdin"] === undefined && values["secretEnv"] === undefined
          ? {}
          : { secret: await readSecretOption("New signing secret", values, context) },
      json: "the new secret and the subscription as JSON",
      shows: ({ signingSecret }) => signingSecret,
      notes: ({ subscription }) => [
        subscription?.formerSecretUntil === undefined
          ? "The former secret signs no more."
          : `The former secret also signs until ${timeText(subscription.formerSecretUntil)}.`,
        "Keep the secret: it is not shown again.",
      ],
      examples: [
        `svc subscriptions rotate ${exampleId}`,
        `svc subscriptions rotate ${exampleId} --overlap 7d --secret-env NEW_SECRET`,
        `svc subscriptions rotate ${exampleId} --overlap 0s`,
      ],
    }),
    delete: call(deleteSubscription, {
      says: "delete a subscription and end its pending deliveries; events and past deliveries stay",
      takes: { "<id>": "id of the subscription, sub_…" },
      deleted: "id",
      json: "the id as JSON",
      shows: "{id} is deleted",
      examples: [`svc subscriptions delete ${exampleId}`],
    }),
    preview: addSubscriptionPreview,
    test: addSubscriptionTest,
    try: call(tryNow, {
      ...tryParts,
      says: "send the waiting deliveries of a subscription now instead of at their next attempts",
      takes: { "<id>": ["id of the subscription, sub_…", { fills: "subscriptionId" }] },
      examples: [`svc subscriptions try ${exampleId}`],
    }),
  },
});

/** Returns subscriptions as the lines of a table. If agents created some of them over MCP, the table has a column for the agents' keys. */
function subscriptionTable(subscriptions: readonly Subscription[]): string[] {
  const hasAgents = subscriptions.some(({ agent }) => agent !== undefined);
  const rows = subscriptions.map((subscription) => {
    const { id, active, inactiveReason, createdAt, endpointUrl, agent } = subscription;
    const state = active ? healthText(subscription) : inactiveReason;
    const cells = [id, state, eventsText(subscription), timeText(createdAt)];
    return [...cells, ...(hasAgents ? [agent?.keyId ?? "-"] : []), plainText(endpointUrl)];
  });
  return tableLines(["ID", "STATE", "EVENTS", "CREATED", ...(hasAgents ? ["AGENT'S KEY"] : []), "ENDPOINT"], rows);
}

/** Returns the health of an active subscription's endpoint (for example `failing: connection_refused` or `slow: 4000 ms`). */
function healthText({ health }: Subscription): string {
  const { state = "", lastError = "", p50Ms = 0 } = health ?? {};
  if (state === "well" || state === "") return "active";
  const detail = state === "slow" ? `${p50Ms} ms` : (lastError.split(/[\s:]/, 1)[0] ?? "");
  return `${state.replaceAll("_", " ")}${detail === "" ? "" : `: ${detail}`}`;
}

/** Returns which events a subscription receives (for example `calendar.events_changed of ada`). */
function eventsText({ toolkitSlug, triggerSlug, match, entityId }: Subscription): string {
  const events = match?.triggerSlugs.join(", ") || triggerSlug || toolkitSlug || "all";
  return entityId === "" ? events : `${events} of ${plainText(entityId)}`;
}

function factsOf(subscription: Subscription): readonly (readonly [string, string])[] {
  const { id, endpointUrl, inactiveReason, createdAt, health, agent, formerSecretUntil, pausedAt } = subscription;
  const { state = "", failingSince, backoffUntil, lastSuccessAt, pendingDeliveries = 0 } = health ?? {};
  return [
    ["id", id],
    ["endpoint", plainText(endpointUrl)],
    ["events", eventsText(subscription)],
    ["health", inactiveReason === "" ? state.replaceAll("_", " ") : `${state} (${inactiveReason})`],
    ["because", inactiveReason === "" ? plainText(health?.reason ?? "") : ""],
    ["last error", plainText(health?.lastError ?? "")],
    ["answers in", health === undefined ? "" : timesText(health)],
    ["failing since", failingSince === undefined ? "" : timeText(failingSince)],
    ["next attempt at", backoffUntil === undefined ? "" : timeText(backoffUntil)],
    ["last success", timeText(lastSuccessAt)],
    ["pending", pendingDeliveries >= countedMax ? `${numberText(countedMax)} or more` : numberText(pendingDeliveries)],
    ["created", timeText(createdAt)],
    ...partFacts(subscription),
    ["paused since", pausedAt === undefined ? "" : timeText(pausedAt)],
    ["former secret until", formerSecretUntil === undefined ? "" : timeText(formerSecretUntil)],
    ["created over MCP by", agent === undefined ? "" : agent.keyId],
    ["the agent's id of it", agent === undefined ? "" : agent.id],
    ["expires unless refreshed", agent === undefined ? "" : timeText(agent.refreshBefore)],
  ];
}

function timesText({ p50Ms, p99Ms, measuredAttempts }: SubscriptionHealth): string {
  if (measuredAttempts === 0) return "";
  return `${numberText(p50Ms)} ms (half of the latest ${measuredAttempts} attempts), ${numberText(p99Ms)} ms (99 of 100)`;
}

/** Number of pending deliveries at which the service stops counting. The command then shows "10,000 or more". */
const countedMax = 10_000;

import { SandboxService } from "@svc/gen/sandbox";
import { call, list, topic } from "../command/topic.ts";

const { sendSampleEvent, createInbox, listInboxRequests, connectSandboxAccounts } = SandboxService.method;

/** The commands `svc sandbox event|inbox|requests|connect`, which try svc without a real app or a server. */
export const addSandboxCommand = topic({
  says: "try svc without a real app or a server: sample events, inboxes, accounts (SVC_SANDBOX)",
  examples: ["svc sandbox event", "svc sandbox inbox", "svc sandbox connect messaging_bot calendar --entity demo"],
  commands: {
    event: call(sendSampleEvent, {
      says: "store a sample event of an app, and deliver it to a sandbox inbox",
      takes: { "[trigger]": ["slug of the trigger (default: the first)", { fills: "triggerSlug" }] },
      options: [
        ["--all", "send it also to the other subscriptions and schedules of the trigger", { fills: "toAllReceivers" }],
      ],
      json: "the ids of the event, the subscription and the inbox as JSON",
      more: "\nThe first sample of an app also creates a subscription that delivers its events to the inbox.\nIf other subscriptions or schedules would receive the sample too, the command needs --all.",
      shows: ({ eventId, triggerSlug }) => `${eventId} (${triggerSlug})`,
      notes: ({ inboxId }) => `\`svc sandbox requests ${inboxId}\` shows the delivery.`,
      examples: ["svc sandbox event", "svc sandbox event calendar.events_changed --all"],
    }),
    inbox: call(createInbox, {
      says: "create an address that answers 200 and shows the requests it receives",
      json: "the id and the address as JSON",
      shows: ({ url }) => url,
      notes: ({ inboxId }) => `\`svc sandbox requests ${inboxId}\` shows what it received.`,
      examples: ["svc sandbox inbox", 'svc subscriptions create "$(svc sandbox inbox)"'],
    }),
    requests: list(listInboxRequests, {
      says: "list the requests that a sandbox inbox received, newest first, at most 50",
      takes: { "<inbox>": ["id of the inbox", { fills: "inboxId" }] },
      rows: "requests",
      table: { RECEIVED: "receivedAt", METHOD: "method", BYTES: "bodyBytes", BODY: "body" },
      json: "the requests, with headers, as a JSON list",
      examples: ["svc sandbox requests INBOX", "svc sandbox requests INBOX --json | jq '.[0].headers'"],
    }),
    connect: call(connectSandboxAccounts, {
      says: "connect a user to apps of the sandbox, with made-up credentials",
      takes: { "<toolkits...>": "slugs of the apps, up to 20" },
      options: [["--entity <id>", "your own id of the user", { fills: "entityId", required: true }]],
      json: "the accounts as JSON",
      request: ({ values: { toolkits } }) => ({ toolkitSlugs: [toolkits].flat().map(String) }),
      shows: ({ accounts }) => accounts.map(({ id, toolkitSlug }) => `${id} (${toolkitSlug})`),
      examples: [
        "svc sandbox connect messaging_bot --entity demo",
        "svc sandbox connect sales_crm calendar --entity ada",
      ],
    }),
  },
});

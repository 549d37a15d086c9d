import { readdirSync, readFileSync } from "node:fs";
import { createSvcClient, type SvcClient } from "@svc/sdk";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { form, forms, hmac, type SignedForm, signedUrl } from "@svc/testing/signed-forms";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runTestCommand } from "../../test-command.ts";

// This file publishes the example toolkits in docs/examples/webhooks unchanged, and sends each of them posts that are signed by the
// published rule of its app. The signatures are made by `forms`, which has other names for some headers.

const docs = `${import.meta.dirname}/../../../../../docs`;
const folder = `${docs}/examples/webhooks`;
const common = "a-secret-of-the-examples";

/** A post as the app sends it. `event`: trigger, entity and payload of the event that svc makes of it; undefined if svc ignores it. */
type Post = {
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, or the text of a form. */
  readonly body: object | string;
  readonly event?: readonly [trigger: string, entity: string, payload: object];
};

type Example = {
  readonly form: SignedForm;
  /** Names of the app's headers, by the name that `forms` gives them. */
  readonly names?: Readonly<Record<string, string>>;
  readonly posts: readonly Post[];
  /** A request of the app that svc answers without storing anything: a GET with this query, or a signed POST with this body. */
  readonly handshake?: { readonly query: string; readonly body?: object; readonly answer: (secret: string) => string };
};

const timed = "time and signatures in one header";
const standardNames = (name: string) =>
  Object.fromEntries(["id", "timestamp", "signature"].map((part) => [`webhook-${part}`, `${name}-${part}`]));

const booking = (event: string) => ({
  ...{ event, created_at: "2026-01-05T09:00:00Z" },
  payload: {
    ...{ uri: "https://api.example.com/invitees/1", email: "ada@example.com", name: "Ada" },
    scheduled_event: { name: "Demo", start_time: "2026-01-07T09:00:00Z" },
  },
});
const booked = {
  ...{ invitee: "https://api.example.com/invitees/1", email: "ada@example.com", name: "Ada" },
  ...{ meeting: "Demo", start_time: "2026-01-07T09:00:00Z" },
};
const order = { id: 1, name: "#1001", total_price: "12.50", currency: "EUR", email: "ada@example.com" };
const ordered = { id: 1, name: "#1001", total: "12.50", currency: "EUR", email: "ada@example.com" };
const ticket = { id: "7", subject: "It is broken", status: "OPEN", requester_id: "21" };
const ticketed = { id: "7", subject: "It is broken", status: "OPEN", requester: "21" };
const issue = { identifier: "ENG-12", title: "It is slow", teamId: "team-1", state: { name: "Todo" } };
const issued = { id: "ENG-12", title: "It is slow", state: "Todo", url: "https://planning.example.com/ENG-12" };
const incident = {
  ...{ id: "Q1", title: "Disk full", urgency: "high", html_url: "https://oncall.example.com/Q1" },
  service: { id: "S1", summary: "Database" },
};
const paged = { ...{ id: "Q1", title: "Disk full", urgency: "high" }, service: "Database", url: incident.html_url };
const meeting = { uuid: "m==", topic: "Weekly", host_id: "h1", start_time: "2026-01-05T08:00:00Z" };
const met = { uuid: "m==", topic: "Weekly", host: "h1", start_time: "2026-01-05T08:00:00Z" };
const shipped: readonly Post[] = [
  {
    body: { type: "order.shipped", id: "e-1", order: { id: "o-1", customer: "ada", carrier: "Post", tracking: "T1" } },
    event: ["order_shipped", "ada", { order: "o-1", carrier: "Post", tracking: "T1" }],
  },
];

const examples: Readonly<Record<string, Example>> = {
  code_repository: {
    form: forms["hex after a prefix"]!,
    names: { "x-code-signature-256": "x-hub-signature-256" },
    posts: [
      {
        headers: { "x-github-event": "issues", "x-github-delivery": "d-1" },
        body: {
          ...{ action: "opened", repository: { full_name: "acme/engine" } },
          issue: { number: 7, title: "It stops", user: { login: "ada" }, html_url: "https://code.example.com/7" },
        },
        event: [
          ...(["issue_opened", "acme/engine"] as const),
          { number: 7, title: "It stops", author: "ada", url: "https://code.example.com/7", repository: "acme/engine" },
        ],
      },
      {
        headers: { ...form, "x-github-event": "push", "x-github-delivery": "d-2" },
        body: `payload=${encodeURIComponent('{"ref":"refs/heads/main","after":"c0ffee","pusher":{"name":"ada"},"repository":{"full_name":"acme/engine"}}')}`,
        event: [
          ...(["commits_pushed", "acme/engine"] as const),
          { ref: "refs/heads/main", commit: "c0ffee", pusher: "ada", repository: "acme/engine" },
        ],
      },
      { headers: { "x-github-event": "ping" }, body: { zen: "Keep it simple" } },
    ],
  },
  page_leads: {
    form: forms["hex after a prefix"]!,
    names: { "x-code-signature-256": "x-hub-signature-256" },
    posts: [
      {
        body: {
          object: "page",
          entry: [{ id: "p1", time: 1, changes: [{ field: "leadgen", value: { leadgen_id: "l1" } }] }],
        },
        event: [
          "lead_submitted",
          "p1",
          { page_id: "p1", changes: [{ field: "leadgen", value: { leadgen_id: "l1" } }] },
        ],
      },
    ],
    handshake: {
      query: "hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=SECRET",
      answer: () => "1158201444",
    },
  },
  card_payments: {
    form: forms[timed]!,
    names: { "x-signature": "stripe-signature" },
    posts: [
      {
        body: {
          ...{ id: "evt_1", type: "invoice.paid", created: 1_767_600_000 },
          data: { object: { id: "in_1", customer: "cus_1", amount_paid: 1250, currency: "eur" } },
        },
        event: ["invoice_paid", "cus_1", { id: "in_1", customer: "cus_1", amount_paid: 1250, currency: "eur" }],
      },
      {
        body: {
          ...{ id: "evt_2", type: "charge.refunded", created: 1_767_600_000 },
          data: { object: { id: "ch_1", customer: "cus_1", amount_refunded: 250, currency: "eur" } },
        },
        event: ["charge_refunded", "cus_1", { id: "ch_1", customer: "cus_1", amount_refunded: 250, currency: "eur" }],
      },
    ],
  },
  meeting_bookings: {
    form: forms[timed]!,
    names: { "x-signature": "calendly-webhook-signature" },
    posts: [
      { body: booking("invitee.created"), event: ["meeting_booked", "ada@example.com", booked] },
      { body: booking("invitee.canceled"), event: ["meeting_canceled", "ada@example.com", booked] },
    ],
  },
  software_subscriptions: {
    form: forms["time and signature, separated by a semicolon"]!,
    names: { "x-signature": "paddle-signature" },
    posts: [
      {
        body: {
          ...{ event_id: "e1", event_type: "subscription.activated", occurred_at: "2026-01-05T09:00:00Z" },
          data: { id: "sub_1", customer_id: "ctm_1", status: "active", currency_code: "EUR" },
        },
        event: [
          ...(["subscription_activated", "ctm_1"] as const),
          { id: "sub_1", customer: "ctm_1", status: "active", currency: "EUR" },
        ],
      },
      {
        body: {
          ...{ event_id: "e2", event_type: "transaction.completed", occurred_at: "2026-01-05T09:00:00Z" },
          data: {
            ...{ id: "txn_1", customer_id: "ctm_1", currency_code: "EUR" },
            details: { totals: { grand_total: "1250" } },
          },
        },
        event: [
          ...(["transaction_completed", "ctm_1"] as const),
          { id: "txn_1", customer: "ctm_1", total: "1250", currency: "EUR" },
        ],
      },
    ],
  },
  online_shop: {
    form: forms["base64 alone"]!,
    names: { "x-shop-hmac-sha256": "x-shopify-hmac-sha256" },
    posts: ["created:orders/create", "cancelled:orders/cancelled"].map((pair) => {
      const [name, topic = ""] = pair.split(":");
      const headers = {
        "x-shopify-topic": topic,
        "x-shopify-webhook-id": topic,
        "x-shopify-shop-domain": "a.example.com",
      };
      return { headers, body: order, event: [`order_${name}`, "a.example.com", ordered] };
    }),
  },
  team_messages: {
    form: forms["slack_v0"]!,
    posts: [
      {
        headers: { "content-type": "application/json" },
        body: {
          ...{ type: "event_callback", team_id: "T1", event_id: "Ev1", event_time: 1_767_600_000 },
          event: { type: "app_mention", text: "<@U0> hello", user: "U1", channel: "C1", ts: "1767600000.000100" },
        },
        event: [
          ...(["bot_mentioned", "T1"] as const),
          { text: "<@U0> hello", user: "U1", channel: "C1", ts: "1767600000.000100" },
        ],
      },
      {
        body: "command=%2Fticket&text=It+is+broken&user_id=U1&team_id=T1&channel_id=C1&trigger_id=1.2&response_url=https%3A%2F%2Fchat.example.com%2F1",
        event: [
          ...(["ticket_requested", "T1"] as const),
          { text: "It is broken", user: "U1", channel: "C1", response_url: "https://chat.example.com/1" },
        ],
      },
    ],
    handshake: { query: "", body: { type: "url_verification", challenge: "c-1" }, answer: () => '{"challenge":"c-1"}' },
  },
  standard_webhooks: {
    form: forms["Standard Webhooks"]!,
    posts: [
      {
        body: {
          ...{ type: "invoice.paid", timestamp: "2026-01-05T09:00:00Z" },
          data: { id: "in_1", customer: "ada", amount: 12.5, currency: "EUR" },
        },
        event: ["invoice_paid", "ada", { id: "in_1", customer: "ada", amount: 12.5, currency: "EUR" }],
      },
    ],
  },
  webhook_sender: {
    form: forms["Standard Webhooks"]!,
    names: standardNames("svix"),
    posts: ["created", "deleted"].map((name) => ({
      body: { type: `user.${name}`, data: { id: "u1" } },
      event: [`user_${name}`, "u1", { id: "u1" }],
    })),
  },
  store_payments: {
    form: forms["address and body"]!,
    names: { "x-hmacsha256-signature": "x-square-hmacsha256-signature" },
    posts: [
      {
        body: {
          ...{ merchant_id: "M1", type: "payment.created", event_id: "e1", created_at: "2026-01-05T09:00:00Z" },
          data: {
            object: { payment: { id: "p1", status: "APPROVED", amount_money: { amount: 1250, currency: "EUR" } } },
          },
        },
        event: ["payment_created", "M1", { id: "p1", status: "APPROVED", amount: 1250, currency: "EUR" }],
      },
    ],
  },
  support_tickets: {
    form: forms["time before the body, as RFC 3339"]!,
    names: {
      "x-signature": "x-zendesk-webhook-signature",
      "x-signature-timestamp": "x-zendesk-webhook-signature-timestamp",
    },
    posts: ["created", "status_changed"].map((name) => ({
      body: { type: `zen:event-type:ticket.${name}`, id: name, time: "2026-01-05T09:00:00Z", detail: ticket },
      event: [`ticket_${name}`, "21", ticketed],
    })),
  },
  work_items: {
    form: forms["time in the body"]!,
    names: { "x-signature": "linear-signature" },
    posts: ["create", "update"].map((action) => ({
      headers: { "linear-delivery": action },
      body: `{"webhookTimestamp":TIME,"type":"Issue","action":"${action}","url":"${issued.url}","data":${JSON.stringify(issue)}}`,
      event: [`issue_${action}d`, "team-1", issued],
    })),
  },
  incident_pages: {
    form: forms["several signatures, no time"]!,
    names: { "x-signature": "x-pagerduty-signature" },
    posts: [
      ...["triggered", "resolved"].map(
        (name): Post => ({
          body: { event: { id: name, event_type: `incident.${name}`, data: incident } },
          event: [`incident_${name}`, "S1", paged],
        }),
      ),
      { body: { event: { id: "3", event_type: "pagey.ping", data: { message: "Hello" } } } },
    ],
  },
  form_answers: {
    form: forms["base64 after a prefix"]!,
    names: { "x-signature": "typeform-signature" },
    posts: [
      {
        body: {
          ...{ event_id: "e1", event_type: "form_response" },
          form_response: {
            form_id: "f1",
            token: "t1",
            hidden: { customer: "ada" },
            answers: [{ type: "text", text: "Yes" }],
          },
        },
        event: ["form_submitted", "ada", { form: "f1", token: "t1", answers: [{ type: "text", text: "Yes" }] }],
      },
    ],
  },
  customer_records: {
    form: forms["method, address, body and time"]!,
    names: { "x-signature-v3": "x-hubspot-signature-v3", "x-request-timestamp": "x-hubspot-request-timestamp" },
    posts: [
      {
        body: [
          {
            ...{ eventId: 1, subscriptionId: 2, portalId: 3, occurredAt: 1_767_600_000_000, objectId: 9 },
            ...{ subscriptionType: "deal.propertyChange", propertyName: "stage", propertyValue: "won" },
          },
        ],
        event: ["deal_changed", "3", { deal: 9, property: "stage", value: "won" }],
      },
      {
        body: [{ eventId: 2, subscriptionId: 4, portalId: 3, objectId: 5, subscriptionType: "contact.creation" }].map(
          (change) => ({ ...change, occurredAt: 1_767_600_000_000 }),
        ),
        event: ["contact_created", "3", { contact: 5 }],
      },
    ],
  },
  video_meetings: {
    form: forms["the same with headers of another name"]!,
    names: { "x-meet-signature": "x-zm-signature", "x-meet-request-timestamp": "x-zm-request-timestamp" },
    posts: ["meeting.ended", "recording.completed"].map((event) => ({
      body: { event, event_ts: 1_767_600_000_000, payload: { account_id: "a1", object: meeting } },
      event: [event.replace(".", "_"), "a1", met],
    })),
    handshake: {
      ...{ query: "", body: { event: "endpoint.url_validation", payload: { plainToken: "t-1" } } },
      answer: (secret) => JSON.stringify({ plainToken: "t-1", encryptedToken: hmac(secret, "t-1").digest("hex") }),
    },
  },
  text_messages: {
    form: forms["address and form"]!,
    names: { "x-form-signature": "x-twilio-signature" },
    posts: [
      {
        body: "MessageSid=SM1&From=%2B18005551212&To=%2B14158675309&Body=caf%C3%A9+au+lait&SmsStatus=received",
        event: [
          ...(["message_received", "+18005551212"] as const),
          { sid: "SM1", from: "+18005551212", to: "+14158675309", text: "café au lait" },
        ],
      },
      {
        body: "MessageSid=SM2&From=%2B14158675309&To=%2B18005551212&MessageStatus=failed&ErrorCode=30003",
        event: [
          ...(["message_status_changed", "+18005551212"] as const),
          { sid: "SM2", from: "+14158675309", to: "+18005551212", status: "failed", error: "30003" },
        ],
      },
    ],
  },
  merge_requests: {
    form: forms["a token in a header"]!,
    names: { "x-forge-token": "x-gitlab-token" },
    posts: [
      {
        body: {
          ...{ object_kind: "merge_request", user: { username: "ada" }, project: { path_with_namespace: "acme/web" } },
          object_attributes: {
            id: 1,
            iid: 4,
            title: "Fix",
            action: "merge",
            updated_at: "t",
            url: "https://f.example.com/4",
          },
        },
        event: [
          ...(["merge_request_merged", "acme/web"] as const),
          { number: 4, title: "Fix", project: "acme/web", author: "ada", url: "https://f.example.com/4" },
        ],
      },
      {
        body: {
          ...{ object_kind: "pipeline", project: { path_with_namespace: "acme/web" } },
          object_attributes: { id: 31, ref: "main", status: "failed", finished_at: "t" },
        },
        event: ["pipeline_failed", "acme/web", { id: 31, ref: "main", project: "acme/web" }],
      },
    ],
  },
  bot_updates: {
    form: forms["a token in a header"]!,
    names: { "x-forge-token": "x-telegram-bot-api-secret-token" },
    posts: [
      {
        body: {
          update_id: 1,
          message: {
            message_id: 5,
            date: 1_767_600_000,
            from: { id: 8 },
            chat: { id: 8, type: "private" },
            text: "Hi",
          },
        },
        event: ["message_received", "8", { message: 5, chat: 8, sender: 8, text: "Hi" }],
      },
      {
        body: {
          update_id: 2,
          callback_query: { id: "q1", from: { id: 8 }, data: "yes", message: { chat: { id: -9, type: "group" } } },
        },
        event: ["button_pressed", "-9", { query: "q1", chat: -9, sender: 8, data: "yes" }],
      },
    ],
  },
  calendar_channel: {
    form: forms["a token in a header"]!,
    names: { "x-forge-token": "x-goog-channel-token" },
    posts: ["exists", "sync"].map(
      (state): Post => ({
        headers: {
          ...{ "x-goog-channel-id": "ch-1", "x-goog-message-number": "12", "x-goog-resource-state": state },
          "x-goog-resource-uri": "https://calendar.example.com/1",
        },
        body: "",
        ...(state === "exists" && {
          event: [
            ...(["events_changed", "ch-1"] as const),
            { channel: "ch-1", number: 12, state: "exists", resource: "https://calendar.example.com/1" },
          ],
        }),
      }),
    ),
  },
  customer_conversations: {
    form: forms["a token in the query"]!,
    posts: [
      ...["started:user.created", "closed:admin.closed"].map((pair): Post => {
        const [name, topic] = pair.split(":");
        const item = { id: "c1", state: "open" };
        const body = {
          id: name,
          app_id: "app-1",
          topic: `conversation.${topic}`,
          created_at: 1_767_600_000,
          data: { item },
        };
        return { body, event: [`conversation_${name}`, "app-1", { conversation: "c1", state: "open" }] };
      }),
      { body: { topic: "ping", app_id: "app-1" } },
    ],
  },
  mailing_audience: {
    form: forms["a token in the query"]!,
    posts: ["subscribe", "unsubscribe"].map((type) => ({
      headers: form,
      body: `type=${type}&fired_at=2026-01-05+09%3A00%3A00&data%5Bemail%5D=ada%40example.com&data%5Blist_id%5D=l1`,
      event: [`person_${type}d`, "l1", { email: "ada@example.com", list: "l1" }],
    })),
    handshake: { query: "token=SECRET", answer: () => "" },
  },
  phone_calls: {
    form: forms["basic authentication"]!,
    posts: [
      {
        headers: form,
        body: "CallSid=CA1&From=%2B18005551212&To=%2B14158675309&CallStatus=completed&CallDuration=12",
        event: [
          ...(["call_ended", "+18005551212"] as const),
          { sid: "CA1", from: "+18005551212", to: "+14158675309", status: "completed", seconds: 12 },
        ],
      },
    ],
  },
  bearer_token: { form: forms["a bearer token"]!, posts: shipped },
  basic_authentication: { form: forms["basic authentication"]!, posts: shipped },
};

let server: TestServer;
let client: SvcClient;
beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_PUBLIC_URL: signedUrl } });
  client = createSvcClient({ baseUrl: server.url, apiKey: server.key });
});
afterAll(() => server.stop());

const run = (argv: string[], input = "") =>
  runTestCommand(argv, { SVC_URL: server.url, SVC_API_KEY: server.key }, input);

/** Sends a post that is signed with the secret. `change`: changes one byte of the body after it is signed, or of the token. */
async function send(
  { form, names }: Example,
  path: string,
  { headers, body }: Omit<Post, "event">,
  secret: string,
  change = false,
) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const isToken = form.webhook.scheme === "token_query";
  const made = form.post(text, change && isToken ? `${secret.slice(0, -1)}X` : secret, Date.now(), path);
  const bytes = Buffer.from(made.body ?? text);
  // One letter becomes another, so that the body is still JSON or a form.
  if (change && !isToken) bytes.write("Z", bytes.lastIndexOf("e"));
  const signed = Object.entries(made.headers ?? {}).map(([name, value]) => [names?.[name] ?? name, value]);
  const query = made.query === undefined ? "" : `?${made.query}`;
  const answer = await fetch(`${server.url}${path}${query}`, {
    ...{ method: "POST", body: bytes },
    headers: { "content-type": "application/json", ...Object.fromEntries(signed), ...headers },
  });
  return [answer.status, await answer.text()];
}

test("every folder of docs/examples/webhooks has a row here, and a row of the providers' page that links to it", async () => {
  expect(readdirSync(folder).sort()).toEqual(Object.keys(examples).sort());
  const page = readFileSync(`${docs}/reference/webhook-providers.md`, "utf8");
  const rows = page
    .split("\n## What does not fit")[0]!
    .split("\n")
    .filter((line) => /^\| (?!provider|---)/.test(line));
  const linked = rows.map((row) => /\(\.\.\/examples\/webhooks\/(\w+)\/toolkit\.yaml\)/.exec(row)?.[1]);
  expect(linked.toSorted()).toEqual(Object.keys(examples).sort());
  expect((await run(["catalog", "check", "--private", folder])).printed).toEqual([
    expect.stringMatching(new RegExp(`^${rows.length} toolkits, .*: no problems`)),
  ]);
});

test.each(Object.entries(examples))(
  "%s: published, it accepts signed posts, refuses a changed byte and makes the events",
  async (slug, example) => {
    const published = await run(["catalog", "publish", `${folder}/${slug}`]);
    expect(published, published.noted.join("\n")).toMatchObject({ code: 0 });
    const secret = example.form.secret ?? common;
    expect(await run(["webhooks", "secrets", "put", slug, "--secret-stdin"], secret)).toMatchObject({ code: 0 });
    const endpoints = (await run(["endpoints", "--private", "--json"])).printed.join("\n");
    const path = new RegExp(`/webhooks/prj_\\w+/${slug}\\b`).exec(endpoints)![0];

    const [first] = example.posts as [Post];
    expect((await send(example, path, first, secret, true))[0]).toBe(401);
    for (const post of example.posts) {
      const accepted = post.event === undefined ? 0 : 1;
      for (const _again of ["", "a repeated post"])
        expect(await send(example, path, post, secret)).toEqual([202, JSON.stringify({ accepted })]);
    }
    const { events } = await client.triggers.listEvents({ toolkitSlug: slug });
    const made = events
      .toReversed()
      .map(({ triggerSlug, entityId, payloadJson }) => [...[triggerSlug, entityId], JSON.parse(payloadJson)]);
    expect(made).toEqual(
      example.posts.flatMap(({ event }) => (event === undefined ? [] : [[`${slug}.${event[0]}`, event[1], event[2]]])),
    );
    const { posts: quarantined } = await client.triggers.listQuarantinedPosts({ toolkitSlug: slug });
    expect(quarantined).toEqual([]);

    const { handshake } = example;
    if (handshake === undefined) return;
    const { body, query, answer } = handshake;
    const headers = { "content-type": "application/json" };
    if (body !== undefined)
      return expect(await send(example, path, { headers, body }, secret)).toEqual([200, answer(secret)]);
    const get = async (value: string) => {
      const response = await fetch(`${server.url}${path}?${query.replace("SECRET", value)}`);
      return [response.status, response.status === 200 ? await response.text() : ""];
    };
    const wrong = query.includes("verify_token") ? [401, ""] : [200, answer(secret)];
    expect([await get(secret), await get("another-secret")]).toEqual([[200, answer(secret)], wrong]);
  },
);

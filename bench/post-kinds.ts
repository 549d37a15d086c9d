import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** Names of the kinds of posts that a run can use. */
export type PostKindName = "calendar" | "order";

/** A provider's webhook post: how the load generator writes it, and how a peer verifies and reads it. */
export type PostKind = {
  readonly name: PostKindName;
  readonly toolkitSlug: string;
  readonly triggerSlug: string;
  /** Environment variable from which the server reads the shared secret. */
  readonly secretEnv: string;
  readonly secret: string;
  /**
   * Returns the whole HTTP request with keep-alive. `number` makes it unique. `stamp` appears in the delivered payload as `"at-<stamp>"`.
   */
  request(number: number, stamp: number): string;
  /** True if the post carries a valid proof of the shared secret. Takes constant time. */
  isGenuine(url: string, headers: IncomingHttpHeaders, body: Buffer): boolean;
  /** Returns the normalized payload as JSON text. */
  payload(headers: IncomingHttpHeaders, body: Buffer): string;
};

/** Returns a kind of posts by name: `calendar` has a token and no body, `order` has an HMAC signature and a JSON body of 1 KB. */
export function postKind(name: PostKindName): PostKind {
  return name === "calendar" ? calendarPost : orderPost;
}

/** Text before a post's stamp in the delivered body. */
export const stampMark = '"at-';

const calendarSecret = "bench-calendar-token-0123456789abcdef";

const calendarPost: PostKind = {
  name: "calendar",
  toolkitSlug: "calendar",
  triggerSlug: "calendar.events_changed",
  secretEnv: "SVC_WEBHOOK_SECRET_CALENDAR",
  secret: calendarSecret,
  request: (number, stamp) =>
    `POST /webhooks/calendar?token=${calendarSecret} HTTP/1.1\r\nHost: 127.0.0.1\r\n` +
    `X-Calendar-Channel-Id: bench-channel\r\nX-Calendar-Message-Number: ${number}\r\n` +
    `X-Calendar-Resource-Id: at-${stamp}\r\nX-Calendar-Resource-State: exists\r\n` +
    "X-Calendar-Resource-Uri: https://calendar.example/calendar/v3/calendars/primary/events?alt=json\r\n" +
    "Content-Length: 0\r\n\r\n",
  isGenuine: (url) => {
    const token = new URLSearchParams(url.slice(url.indexOf("?") + 1)).get("token") ?? "";
    return equal(Buffer.from(token), Buffer.from(calendarSecret));
  },
  payload: (headers) =>
    JSON.stringify({
      calendar_id: "primary",
      channel_id: headers["x-calendar-channel-id"],
      message_number: Number(headers["x-calendar-message-number"]),
      resource_id: headers["x-calendar-resource-id"],
      resource_state: headers["x-calendar-resource-state"],
      resource_uri: headers["x-calendar-resource-uri"],
    }),
};

const orderSecret = "bench-order-secret-0123456789abcdef";
const orderKey = createSecretKey(Buffer.from(orderSecret));
const orderLines = JSON.stringify(
  Array.from({ length: 8 }, (_, line) => ({
    sku: `item-${1000 + line}`,
    title: "A thing that is sold here",
    quantity: 1 + line,
    price: 12.5,
  })),
);

const orderPost: PostKind = {
  name: "order",
  toolkitSlug: "bench_orders",
  triggerSlug: "bench_orders.order_changed",
  secretEnv: "SVC_WEBHOOK_SECRET_BENCH_ORDERS",
  secret: orderSecret,
  request: (number, stamp) => {
    const body =
      `{"id":"order-${number}","topic":"order.changed","sentAt":"at-${stamp}","order":{"currency":"EUR","status":"paid",` +
      `"customer":{"id":"customer-81","email":"someone@example.com","name":"Someone Somewhere"},"lines":${orderLines},` +
      '"note":"Leave the parcel with the neighbours when nobody answers the door, please; ring twice."}}';
    const signature = createHmac("sha256", orderKey).update(body).digest("hex");
    return (
      "POST /webhooks/bench_orders HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n" +
      `X-Orders-Signature: sha256=${signature}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    );
  },
  isGenuine: (_url, headers, body) => {
    const presented = String(headers["x-orders-signature"] ?? "").slice("sha256=".length);
    return equal(Buffer.from(presented, "hex"), createHmac("sha256", orderKey).update(body).digest());
  },
  // The trigger takes the whole body, so a peer only has to check that it is JSON.
  payload: (_headers, body) => JSON.stringify(JSON.parse(body.toString())),
};

function equal(presented: Buffer, expected: Buffer): boolean {
  return presented.length === expected.length && timingSafeEqual(presented, expected);
}

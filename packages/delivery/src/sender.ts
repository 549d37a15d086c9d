import {
  type AddressGuard,
  type Clock,
  type DeliveryId,
  generateSigningSecret,
  type HmacKey,
  hmacSha256,
  requireText,
} from "@svc/core";
import { createGuardedAgent, type GuardedAgent } from "@svc/core/dial";
import type { SubscriptionFormat } from "@svc/db/documents/subscriptions";
import { type CredentialHeaders, createCredentialHeaders, withoutValues } from "./credentials.ts";
import { createSigningKeys, type Endpoint, type SigningKeys } from "./endpoint.ts";
import type { ResolvedLimits } from "./limits.ts";
import type { DeliveryObserver } from "./observer.ts";
import { type BodyRenderer, bodyFor, type DeliveredEvent, type OutgoingDelivery } from "./outgoing.ts";
import { type Attempt, abortedAttempt, bodilessAttempt, send, unauthorizedAttempt } from "./send.ts";

/**
 * Returns the headers of one attempt as a flat list: name, value, name, value. If the endpoint belongs to an agent or has a chosen body
 * format, the list has the headers of Standard Webhooks. Otherwise it has the signature headers of svc.
 */
function headersFor(
  { keys, former, agent, format }: Pick<Endpoint, "keys" | "former" | "agent" | "format">,
  ids: { readonly delivery: string; readonly message: string },
  body: Uint8Array,
  atMs: number,
  bodyHeaders: readonly string[] = jsonHeaders,
): string[] {
  const formerKeys = former !== undefined && atMs < former.untilMs ? former.keys : undefined;
  if (agent === undefined && format === undefined) return signedHeaders(keys, ids.delivery, body, atMs, formerKeys);
  const standard = standardHeaders([keys, formerKeys], ids.message, body, atMs);
  return [
    ...bodyHeaders,
    ...ownHeaders,
    ...(agent === undefined ? [] : ["X-MCP-Subscription-Id", agent.id]),
    ...standard,
  ];
}

const jsonHeaders = ["content-type", "application/json"];
const ownHeaders = ["user-agent", "svc/1"];

/** Returns the three headers of Standard Webhooks. They have one signature for each of the keys that is present. */
function standardHeaders(
  keys: readonly (SigningKeys | undefined)[],
  id: string,
  body: Uint8Array,
  atMs: number,
): string[] {
  const timestamp = String(Math.floor(atMs / 1000));
  const signatures = keys.flatMap((key) => (key === undefined ? [] : [signatureOf(key.bytes, id, timestamp, body)]));
  return ["webhook-id", id, "webhook-timestamp", timestamp, "webhook-signature", signatures.join(" ")];
}

/** Returns the value of the signature in the form of Standard Webhooks, for one key. */
function signatureOf(key: HmacKey, id: string, timestamp: string, body: Uint8Array): string {
  return `v1,${hmacSha256(key, [`${id}.${timestamp}.`, body], "base64")}`;
}

/**
 * Returns the headers of one delivery attempt as a flat list: name, value, name, value. `X-Svc-Signature` is the HMAC-SHA256 of the exact
 * body. The three `webhook-*` headers follow Standard Webhooks (spec/standard-webhooks.md). `former`: the keys of the former secret, while
 * the endpoint's secret is being changed. Then `X-Svc-Signature` is made with the former secret, and `X-Svc-Signature-Next` with the new
 * one.
 */
export function signedHeaders(
  keys: SigningKeys,
  deliveryId: string,
  body: Uint8Array,
  atMs: number,
  former?: SigningKeys,
): string[] {
  const plain = (key: HmacKey) => `sha256=${hmacSha256(key, [body], "hex")}`;
  return [
    ...jsonHeaders,
    ...ownHeaders,
    "X-Svc-Signature",
    plain((former ?? keys).text),
    ...(former === undefined ? [] : ["X-Svc-Signature-Next", plain(keys.text)]),
    "X-Svc-Delivery-Id",
    deliveryId,
    ...standardHeaders([keys, former], deliveryId, body, atMs),
  ];
}

const secretHeaders = /signature/i;

/** Returns the request of a delivery as a preview shows it: signatures are replaced by `…`. `own`: the body, if a template makes it. */
export function previewedRequest(
  event: DeliveredEvent,
  { deliveryId, format }: { readonly deliveryId: DeliveryId; readonly format: SubscriptionFormat | undefined },
  atMs: number,
  own?: string,
): { readonly headers: readonly (readonly [name: string, value: string])[]; readonly body: string } {
  const { body: made, bodyHeaders } = bodyFor({ format }, event);
  const body = own === undefined ? made : Buffer.from(own, "utf8");
  const endpoint = { keys: createSigningKeys(generateSigningSecret()), format };
  const flat = headersFor(endpoint, { delivery: deliveryId, message: event.id }, body, atMs, bodyHeaders);
  const headers = flat.flatMap((name, index): [string, string][] => {
    return index % 2 === 0 ? [[name, secretHeaders.test(name) ? "…" : (flat[index + 1] ?? "")]] : [];
  });
  return { headers, body: requireText(body) };
}

/** Returns the headers with the credentials' headers added. If both have a header, such as `user-agent`, the credentials' value is used. */
function withHeaders(own: readonly string[], given: readonly string[]): string[] {
  const names = new Set(given.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase()));
  const kept = own.filter((_, index) => !names.has((own[index - (index % 2)] ?? "").toLowerCase()));
  return [...kept, ...given];
}

/**
 * Maximum duration of a request for a token, in milliseconds. An attempt may need two such requests. Their time is a part of the attempt's
 * own time.
 */
const tokenTimeoutMs = 5_000;
const tokenBytesMax = 65_536;

/** A message that svc sends to an endpoint outside of event deliveries, for example that a subscription has ended. */
export type Message = { readonly id: string; readonly body: string };

/** The connections of one node to endpoints, and the requests in flight on them. */
export class Sender {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #agent: GuardedAgent;
  /**
   * Functions that abort the attempts in flight. The key is the delivery object, not its id: a delivery that is claimed again during its
   * old attempt is a new object.
   */
  readonly #aborters = new Map<OutgoingDelivery, () => void>();
  readonly #credentials: CredentialHeaders;
  #isAborted = false;

  readonly #renderBody: BodyRenderer | undefined;

  constructor(options: {
    guard: AddressGuard;
    clock: Clock;
    limits: ResolvedLimits;
    renderBody?: BodyRenderer | undefined;
    observer: Pick<DeliveryObserver, "authenticated">;
  }) {
    this.#renderBody = options.renderBody;
    const { attemptTimeoutMs, inFlightMax } = options.limits;
    this.#clock = options.clock;
    this.#timeoutMs = attemptTimeoutMs;
    this.#credentials = createCredentialHeaders(
      options.clock,
      (url, headers, form) => this.#postForm(url, headers, form),
      (outcome) => options.observer.authenticated(outcome),
    );
    this.#agent = createGuardedAgent({
      guard: options.guard,
      connections: inFlightMax,
      connectTimeoutMs: attemptTimeoutMs,
      // This limit of undici is longer than the timer that svc uses for each attempt. svc's timer is exact and normally ends the attempt.
      // undici's timers are inexact and only remove requests that were left over.
      headersTimeoutMs: attemptTimeoutMs + 1_000,
      bodyTimeoutMs: attemptTimeoutMs + 1_000,
    });
  }

  /**
   * Posts a delivery once, signed for the time `startedAtMs`. Resolves to the attempt, even if it was aborted, and never rejects.
   * `traceparent`: sent to the endpoint, so that its spans continue the trace.
   */
  async send(delivery: OutgoingDelivery, startedAtMs: number, traceparent?: string): Promise<Attempt> {
    const made = await this.#bodyOf(delivery);
    if ("fault" in made) return bodilessAttempt(made.fault);
    const { id, endpoint, messageId, bodyHeaders } = delivery;
    const { body } = made;
    const { origin, path, credentials } = endpoint;
    const given = credentials === undefined ? undefined : await this.#credentials.of(credentials);
    if (given !== undefined && "fault" in given) return unauthorizedAttempt(given.fault);
    if (this.#isAborted) return abortedAttempt();
    const own = headersFor(endpoint, { delivery: id, message: messageId }, body, startedAtMs, bodyHeaders);
    if (traceparent !== undefined) own.push("traceparent", traceparent);
    const headers = given === undefined ? own : withHeaders(own, given.headers);
    // The time limit of an attempt includes the request for a token, because the attempt must end before its lease.
    const wholeMs = Math.min(this.#timeoutMs, endpoint.retry?.timeoutMs ?? this.#timeoutMs);
    const timeoutMs = given === undefined ? wholeMs : Math.max(1, wholeMs - (this.#clock.now() - startedAtMs));
    const request = { origin, path, headers, body, timeoutMs };
    const attempt = await send(this.#agent, request, (abort) => this.#aborters.set(delivery, abort));
    this.#aborters.delete(delivery);
    if (credentials === undefined || given === undefined) return attempt;
    if (attempt.statusCode === 401) this.#credentials.drop(credentials);
    return withoutValues(attempt, given.headers);
  }

  /**
   * Returns the body of a delivery. If the subscription has a template for the body, the body is made at each attempt. So after a
   * correction of the template, the next attempt uses the new one.
   */
  async #bodyOf({ projectId, endpoint, body, custom }: OutgoingDelivery) {
    if (custom === undefined) return { body };
    const made = await this.#renderBody?.(projectId, endpoint.format?.bodyJson ?? "", custom);
    if (made === undefined || "fault" in made) return { fault: made?.fault ?? "this node makes no bodies" };
    return { body: Buffer.from(made.body, "utf8") };
  }

  /** Posts a message that is not a delivery, once and at once. Resolves to the attempt within `timeoutMs` and never rejects. */
  tell(endpoint: Endpoint, message: Message, timeoutMs: number): Promise<Attempt> {
    const body = Buffer.from(message.body, "utf8");
    const ids = { delivery: message.id, message: message.id };
    const headers = headersFor(endpoint, ids, body, this.#clock.now());
    return send(this.#agent, { origin: endpoint.origin, path: endpoint.path, headers, body, timeoutMs });
  }

  /** Posts a form to a token endpoint, to request a token. */
  #postForm(url: string, headers: Readonly<Record<string, string>>, body: Buffer): Promise<Attempt> {
    const { origin, pathname, search } = new URL(url);
    const list = Object.entries(headers).flat();
    const request = { origin, path: `${pathname}${search}`, headers: list, body, keptBytes: tokenBytesMax };
    return send(this.#agent, { ...request, timeoutMs: Math.min(tokenTimeoutMs, this.#timeoutMs) });
  }

  /** Aborts the attempts in flight. From now on, every new attempt is aborted as well. */
  abortAll(): void {
    this.#isAborted = true;
    for (const abort of [...this.#aborters.values()]) abort();
  }

  /** Closes every connection. */
  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

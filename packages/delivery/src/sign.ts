import { type HmacKey, hmacSha256 } from "@svc/core";
import type { Endpoint } from "./endpoint.ts";
import type { SigningKeys } from "./signing-keys.ts";

/** The headers of one attempt to an endpoint, names and values in turn: those of the service's own form, or of MCP's profile of Standard Webhooks. */
export function headersFor(
  { keys, agent }: Pick<Endpoint, "keys" | "agent">,
  ids: { readonly delivery: string; readonly message: string },
  body: Uint8Array,
  atMs: number,
): string[] {
  if (agent === undefined) return signedHeaders(keys, ids.delivery, body, atMs);
  const timestamp = String(Math.floor(atMs / 1000));
  const signing = agent.former !== undefined && atMs < agent.former.untilMs ? [keys, agent.former.keys] : [keys];
  const signatures = signing.map(({ bytes }) => signatureOf(bytes, ids.message, timestamp, body));
  return [
    ...contentHeaders,
    "X-MCP-Subscription-Id",
    agent.id,
    ...standardHeaders(ids.message, timestamp, signatures.join(" ")),
  ];
}

const contentHeaders = ["content-type", "application/json", "user-agent", "svc/1"];

function standardHeaders(id: string, timestamp: string, signature: string): string[] {
  return ["webhook-id", id, "webhook-timestamp", timestamp, "webhook-signature", signature];
}

/** As Standard Webhooks has it. */
function signatureOf(key: HmacKey, id: string, timestamp: string, body: Uint8Array): string {
  return `v1,${hmacSha256(key, [`${id}.${timestamp}.`, body], "base64")}`;
}

/**
 * The headers of one attempt, names and values in turn. `X-Svc-Signature` is the HMAC-SHA256 of the exact body; the three
 * `webhook-*` headers are those of Standard Webhooks (spec/standard-webhooks.md), so public verifiers work unchanged.
 */
export function signedHeaders(keys: SigningKeys, deliveryId: string, body: Uint8Array, atMs: number): string[] {
  const timestamp = String(Math.floor(atMs / 1000));
  const plain = hmacSha256(keys.text, [body], "hex");
  return [
    ...contentHeaders,
    "X-Svc-Signature",
    `sha256=${plain}`,
    "X-Svc-Delivery-Id",
    deliveryId,
    ...standardHeaders(deliveryId, timestamp, signatureOf(keys.bytes, deliveryId, timestamp, body)),
  ];
}

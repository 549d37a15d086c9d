import { createHmac, createSecretKey } from "node:crypto";
import { createId, isoTime, systemClock } from "@svc/core";
import { Pool } from "undici";
import type { PostKind } from "../post-kinds.ts";

/** An accepted post that is to be delivered to the endpoint. */
export type PeerEvent = { readonly id: string; readonly receivedAt: string; readonly body: string };

/** Returns the delivery body that the server would send for the payload, under new ids. */
export function createPeerEvent(kind: PostKind, payload: string): PeerEvent {
  const now = systemClock.now();
  const id = createId("evt", now);
  const receivedAt = isoTime(now);
  const body =
    `{"id":"${id}","type":"event","toolkitSlug":"${kind.toolkitSlug}","triggerSlug":"${kind.triggerSlug}","entityId":"",` +
    `"occurredAt":"${receivedAt}","receivedAt":"${receivedAt}","payload":${payload}}`;
  return { id, receivedAt, body };
}

const secretBytes = Buffer.alloc(32, 7);
const textKey = createSecretKey(Buffer.from(`whsec_${secretBytes.toString("base64")}`));
const bytesKey = createSecretKey(secretBytes);

/** Result of an attempt. */
export type PeerOutcome = { readonly statusCode: number; readonly durationMs: number; readonly error: string };

/**
 * Returns a function that sends signed deliveries over keep-alive connections, one request at a time on each. Headers and signatures are
 * the same as the server's. It never rejects.
 */
export function createSender(endpointUrl: string, connections: number): (event: PeerEvent) => Promise<PeerOutcome> {
  const { origin, pathname } = new URL(endpointUrl);
  const pool = new Pool(origin, { connections, pipelining: 1 });
  return async ({ body }) => {
    const startedAt = systemClock.now();
    try {
      const request = { method: "POST", path: pathname, headers: signedHeaders(body, startedAt), body } as const;
      const { statusCode, body: answer } = await pool.request(request);
      await answer.dump();
      return {
        statusCode,
        durationMs: systemClock.now() - startedAt,
        error: statusCode < 300 ? "" : `http_${statusCode}`,
      };
    } catch (error) {
      return { statusCode: 0, durationMs: systemClock.now() - startedAt, error: String(error) };
    }
  };
}

function signedHeaders(body: string, now: number): Record<string, string> {
  const id = createId("dlv", now);
  const timestamp = String(Math.floor(now / 1000));
  const signature = createHmac("sha256", bytesKey).update(`${id}.${timestamp}.${body}`).digest("base64");
  return {
    "content-type": "application/json",
    "x-svc-signature": `sha256=${createHmac("sha256", textKey).update(body).digest("hex")}`,
    "x-svc-delivery-id": id,
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  };
}

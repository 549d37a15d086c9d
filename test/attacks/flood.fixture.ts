/**
 * Workers in a separate process. Each repeats the same request as soon as it is answered, and reads the whole answer. A message says which
 * request. On the message "stop", the process answers with the number of answers by status.
 */
import { once } from "node:events";
import type { FloodOrder } from "./flood.ts";

const [order] = (await once(process, "message")) as [FloodOrder];
const { url, headers, workers } = order;
const body = Buffer.from(order.body, "base64");
const statuses = new Map<number, number>();
let bytes = 0;
let isStopped = false;

async function work(): Promise<void> {
  while (!isStopped) {
    const answer = await fetch(url, { method: "POST", headers, body }).catch(() => undefined);
    if (answer === undefined) continue;
    bytes += (await answer.arrayBuffer().catch(() => new ArrayBuffer(0))).byteLength;
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
  }
}

const all = Array.from({ length: workers }, work);
process.send?.("started");
await once(process, "message");
isStopped = true;
await Promise.all(all);
process.send?.({ statuses: Object.fromEntries(statuses), bytes }, () => process.exit());

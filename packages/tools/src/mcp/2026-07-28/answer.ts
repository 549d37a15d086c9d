import { dispatch } from "../dispatch.ts";
import { invalidRequest } from "../errors.ts";
import type { McpMessages } from "../messages.ts";
import type { McpAnswer } from "../request.ts";
import type { Exchange } from "../served.ts";
import { nameFault, readEnvelope } from "./envelope.ts";
import { faultOf, responseOf } from "./results.ts";

/** Answers a POST of a client that says with every request what it speaks, and what it can be asked for. */
export async function answer({ messages, isBatch }: McpMessages, exchange: Exchange): Promise<McpAnswer> {
  const [message] = messages;
  if (isBatch || message === undefined) return faultOf(invalidRequest("this revision has no batches"));
  if (message.kind === "response") return faultOf(invalidRequest("nothing was asked of the client"));
  // The revision has none that a server on HTTP would act on.
  if (message.kind === "notification") return { status: 202, body: "" };
  const { id, method: name, params } = message;
  const { served, headers, onTrace } = exchange;
  const envelope = readEnvelope(message, headers);
  if ("error" in envelope) return faultOf(envelope.error, { id, status: 400 });
  const { client, traceparent } = envelope;
  if (traceparent !== undefined) onTrace(traceparent);
  const method = served.methods.get(name);
  const mismatch = method && nameFault(method, params, headers);
  if (mismatch !== undefined) return faultOf(mismatch, { id });
  const asked = { revision: "2026-07-28", client, isAlone: true, name, method, params } as const;
  return responseOf(id, await dispatch(exchange, asked), { served, isCacheable: method?.isCacheable ?? false });
}

import { dispatch } from "../dispatch.ts";
import type { McpMessage, McpMessages } from "../messages.ts";
import type { McpAnswer } from "../request.ts";
import type { Exchange } from "../served.ts";
import { envelopeFault } from "./envelope.ts";
import { faultOf, responseOf } from "./results.ts";

type Request = Extract<McpMessage, { kind: "request" }>;

/** Answers a POST of a client that begins with a handshake: one message, or several as clients before 2025-06-18 send them. */
export async function answer({ messages, isBatch }: McpMessages, exchange: Exchange): Promise<McpAnswer> {
  const requests = messages.filter((message): message is Request => message.kind === "request");
  // A handshake agrees on the version: what its header names is what the client would like to speak.
  const isHandshake = requests.some(({ method }) => method === "initialize");
  const fault = isHandshake ? undefined : envelopeFault(exchange.headers);
  if (fault !== undefined) return faultOf(fault, isBatch ? undefined : requests[0]?.id);
  // Nothing follows from notifications: what a client cancels is what it waits for, and it ends that by going away.
  if (requests.length === 0) return { status: 202, body: "" };
  const isAlone = requests.length === 1;
  const answers = await Promise.all(requests.map((request) => answerRequest(request, exchange, isAlone)));
  return { status: 200, body: JSON.stringify(isBatch ? answers : answers[0]) };
}

async function answerRequest(
  { id, method: name, params }: Request,
  exchange: Exchange,
  isAlone: boolean,
): Promise<object> {
  const method = exchange.served.methods.get(name);
  const asked = { revision: "2025-11-25", client: undefined, isAlone, name, method, params } as const;
  return responseOf(id, await dispatch(exchange, asked));
}

import { isObject } from "@svc/core";
import { codes, methodNotFound } from "./errors.ts";
import { type McpContext, type McpMethod, type McpOutcome, type Params, refused } from "./offer.ts";
import type { Exchange } from "./served.ts";

/** A request that a revision has read, and what it knows of its client. */
export type Asked = Pick<McpContext, "revision" | "client" | "isAlone"> & {
  readonly name: string;
  readonly method: McpMethod | undefined;
  readonly params: Params;
};

/**
 * Answers a request by its method. What the method throws is an error of the protocol; rejects with it where HTTP has a better answer: the
 * store is away, and nothing else is answered with it.
 */
export async function dispatch(exchange: Exchange, { name, method, params, ...asked }: Asked): Promise<McpOutcome> {
  const { principal, address, signal, mapError, enter, notify } = exchange;
  if (method === undefined) return refused(methodNotFound(name));
  if ("error" in address) return refused(address.error);
  const context: McpContext = {
    ...asked,
    ...{ principal, address, signal, mapError, enter },
    progressToken: isObject(params["_meta"]) ? params["_meta"]["progressToken"] : undefined,
    notify: (told, about) => notify?.(JSON.stringify({ jsonrpc: "2.0", method: told, params: about })),
  };
  try {
    return await method.answer(params, context);
  } catch (error) {
    const refusal = mapError(error);
    if (refusal.code === "unavailable" && asked.isAlone) throw refusal;
    const { reason = "INTERNAL" } = refusal.details[0] ?? {};
    return refused({ code: codes.internalError, message: refusal.message, data: { reason } });
  }
}

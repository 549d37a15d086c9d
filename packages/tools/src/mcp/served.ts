import { isObject } from "@svc/core";
import type { McpAddress } from "./address.ts";
import type { McpMessages, MessageId } from "./messages.ts";
import {
  type McpContext,
  type McpMethod,
  type McpOffer,
  type McpOutcome,
  type Params,
  type Revision,
  refused,
} from "./offer.ts";
import { codes, type McpAnswer, type McpError, type McpRequest, methodNotFound } from "./request.ts";

/** How a revision carries what is offered. Each is a folder of the same files. */
export type RevisionCarrier = {
  readonly revision: Revision;
  /** The methods that the revision itself has. */
  ownMethods(served: Omit<ServedProtocol, "methods">): Readonly<Record<string, McpMethod>>;
  /** Answers a POST. */
  answer(messages: McpMessages, exchange: McpExchange): Promise<McpAnswer>;
  /** Answers a POST that holds no message which could be answered; `id` is that of the request it may have meant. */
  faultOf(error: McpError, id?: MessageId): McpAnswer;
};

/** All that a server has to say in one revision: its offers, joined. */
export type ServedProtocol = {
  /** Its version, as clients are told. */
  readonly version: string;
  readonly capabilities: Params;
  readonly methods: ReadonlyMap<string, McpMethod>;
  instructions(address: McpAddress): string;
};

/** One POST on its way to its answer. What is wrong with the address is answered to each of its requests. */
export type McpExchange = Omit<McpRequest, "body" | "onLabel" | "query"> & {
  readonly served: ServedProtocol;
  readonly address: McpAddress | { readonly error: McpError };
};

/** Joins what is offered in a revision. A later offer wins over an earlier one that has a method of the same name. */
export function joinOffers(version: string, offers: readonly McpOffer[], carrier: RevisionCarrier): ServedProtocol {
  const own = offers.filter(({ revisions }) => revisions?.includes(carrier.revision) ?? true);
  const parts = {
    version,
    capabilities: joined(own.map(({ capabilities }) => capabilities)),
    instructions: (address: McpAddress) =>
      own.flatMap(({ instructions }) => instructions?.(address) ?? []).join("\n\n"),
  };
  const methods = [...own.map((offer) => offer.methods), carrier.ownMethods(parts)];
  return { ...parts, methods: new Map(methods.flatMap((named) => Object.entries(named))) };
}

/** Capabilities of several offers: those of one name, as extensions are, joined. */
function joined(capabilities: readonly Params[]): Params {
  const all: Record<string, object> = {};
  for (const [name, value] of capabilities.flatMap((one) => Object.entries(one)))
    all[name] = { ...all[name], ...(value as object) };
  return all;
}

/** What clients are told that the server is. */
export function serverInfo({ version }: Pick<ServedProtocol, "version">): Params {
  return { name: "svc", title: "svc tools", version };
}

/** A request that a revision has read, and what it knows of its client. */
type RevisionRequest = Pick<McpContext, "revision" | "client" | "isAlone"> & {
  readonly name: string;
  readonly method: McpMethod | undefined;
  readonly params: Params;
};

/**
 * Answers a request by its method. What the method throws is an error of the protocol; rejects with it where HTTP has a better answer: the
 * store is away, and nothing else is answered with it.
 */
export async function dispatch(
  exchange: McpExchange,
  { name, method, params, ...asked }: RevisionRequest,
): Promise<McpOutcome> {
  const { principal, address, signal, mapError, enter, notify } = exchange;
  if (method === undefined) return refused(methodNotFound(name));
  if ("error" in address) return refused(address.error);
  const context: McpContext = {
    ...asked,
    ...{ principal, address, signal, mapError, enter },
    progressToken: isObject(params["_meta"]) ? params["_meta"]["progressToken"] : undefined,
    notify: (notification, about) => notify?.(JSON.stringify({ jsonrpc: "2.0", method: notification, params: about })),
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

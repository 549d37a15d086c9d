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

/** Reads and writes messages in one revision (version) of the protocol MCP. The code for each revision is in its own file. */
export type RevisionCarrier = {
  readonly revision: Revision;
  /** Returns the methods that exist only in this revision (version) of the protocol MCP. */
  ownMethods(served: Omit<ServedProtocol, "methods">): Readonly<Record<string, McpMethod>>;
  /** Returns the answer to an MCP request that a client posted. The request may contain several messages. */
  answer(messages: McpMessages, exchange: McpExchange): Promise<McpAnswer>;
  /** Returns the answer to a POST without a valid message. `id`: id of the request that the POST may contain. */
  faultOf(error: McpError, id?: MessageId): McpAnswer;
};

/** All features of a server in one protocol revision. */
export type ServedProtocol = {
  /** Version of the server (not of the protocol) that clients see. */
  readonly version: string;
  readonly capabilities: Params;
  readonly methods: ReadonlyMap<string, McpMethod>;
  instructions(address: McpAddress): string;
};

/**
 * An HTTP POST of an MCP client that svc is answering. `address`: the parsed MCP URL. If the URL is wrong, this is the error with which svc
 * answers every request of the POST.
 */
export type McpExchange = Omit<McpRequest, "body" | "onLabel" | "query"> & {
  readonly served: ServedProtocol;
  readonly address: McpAddress | { readonly error: McpError };
};

/**
 * Returns one object with everything that svc offers in one MCP revision. It joins the groups of features (`offers`) of several parts of
 * svc, for example tools and events. If two groups have a method of the same name, the method of the later group is used.
 */
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

/** Returns the capabilities of several groups of features joined. Capabilities with the same name (for example extensions) are merged. */
function joined(capabilities: readonly Params[]): Params {
  const all: Record<string, object> = {};
  for (const [name, value] of capabilities.flatMap((one) => Object.entries(one)))
    all[name] = { ...all[name], ...(value as object) };
  return all;
}

/** Name, title and version of an MCP server. */
export type ServerInfo = Readonly<Record<"name" | "title" | "version", string>>;

/** Returns the server information for clients. */
export function serverInfo({ version }: Pick<ServedProtocol, "version">): ServerInfo {
  return { name: "svc", title: "svc tools", version };
}

/** A request that was read by the rules of one MCP revision (version of the protocol), together with the data about its client. */
type RevisionRequest = Pick<McpContext, "revision" | "client" | "isAlone"> & {
  readonly name: string;
  readonly method: McpMethod | undefined;
  readonly params: Params;
};

/**
 * Runs the method of a request and returns the outcome. An error of the method becomes an error of the protocol. Rejects if the database is
 * unavailable and the POST has only this request; svc then answers with an HTTP error.
 */
export async function dispatch(
  exchange: McpExchange,
  { name, method, params, ...asked }: RevisionRequest,
): Promise<McpOutcome> {
  const { principal, address, signal, mapError, enter, scopesOf, notify } = exchange;
  if (method === undefined) return refused(methodNotFound(name));
  if ("error" in address) return refused(address.error);
  const context: McpContext = {
    ...asked,
    ...{ principal, address, signal, mapError, enter, scopesOf },
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

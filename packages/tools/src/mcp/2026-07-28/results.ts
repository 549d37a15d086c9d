import { assertExhaustive, isObject } from "@svc/core";
import { codes, type McpError } from "../errors.ts";
import type { MessageId } from "../messages.ts";
import type { McpOutcome, Params } from "../offer.ts";
import type { McpAnswer } from "../request.ts";
import { type Served, serverInfo } from "../served.ts";
import { metaKeys } from "./envelope.ts";

/** How long a client may keep a list, milliseconds; what it may use differs by key, so it shares it with nobody. */
const keptMs = 300_000;

/** The answer to a request. */
export function responseOf(
  id: MessageId,
  outcome: McpOutcome,
  { served, isCacheable }: { readonly served: Served; readonly isCacheable: boolean },
): McpAnswer {
  switch (outcome.type) {
    case "complete": {
      const kept = isCacheable ? { ttlMs: keptMs, cacheScope: "private" } : {};
      return resultOf(id, { resultType: "complete", ...outcome.result, ...kept }, served);
    }
    case "input_required":
    case "task":
      return resultOf(id, { resultType: outcome.type, ...outcome.result }, served);
    case "error":
      return faultOf(outcome.error, { id });
    default:
      return assertExhaustive(outcome);
  }
}

function resultOf(id: MessageId, result: Params, served: Served): McpAnswer {
  const meta = isObject(result["_meta"]) ? result["_meta"] : {};
  const whole = { ...result, _meta: { ...meta, [metaKeys.server]: serverInfo(served) } };
  return { status: 200, body: JSON.stringify({ jsonrpc: "2.0", id, result: whole }) };
}

/** The answer to what is refused; `status` where the code alone does not say it, and no id where no request could be read. */
export function faultOf(error: McpError, { id, status }: { id?: MessageId; status?: number } = {}): McpAnswer {
  const body = JSON.stringify({ jsonrpc: "2.0", ...(id !== undefined && { id }), error });
  return { status: status ?? statusOf(error.code), body };
}

/** Codes from -32,020 on are the protocol's own, of requests that miss what it asks of every one. */
function statusOf(code: number): number {
  if (code === codes.methodNotFound) return 404;
  const isNoRequest = code === codes.parseError || code === codes.invalidRequest;
  return isNoRequest || (code <= -32_020 && code >= -32_099) ? 400 : 200;
}

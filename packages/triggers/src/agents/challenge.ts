import { type Clock, equalConstantTime, generateToken, isObject, LeastRecentlyUsed } from "@svc/core";
import { type Attempt, createAgentEndpoint, type Dispatcher } from "@svc/delivery";
import type { McpError } from "@svc/tools";
import { type CallbackFailure, callbackFailed, exhausted } from "./errors.ts";

/** A callback that is asked whether it wants events. */
export type Callback = { readonly url: string; readonly secret: string; readonly mcpId: string };

/** Asks a callback; answers what to tell the client where it did not say yes. */
export type Challenge = (callback: Callback) => Promise<McpError | undefined>;

/** So long a callback has to answer, milliseconds. */
const timeoutMs = 10_000;
/** So often a host is asked by this node within a minute, whoever asks. */
const perMinuteMax = 60;
const minuteMs = 60_000;
const hostsMax = 10_000;

/** Makes it. A callback is posted a word that it has to say back; whose address it is was judged where it is dialled. */
export function createChallenge({
  dispatcher,
  clock,
}: {
  dispatcher: Pick<Dispatcher, "tell">;
  clock: Clock;
}): Challenge {
  const asked = new LeastRecentlyUsed<string, number[]>(hostsMax);
  return async ({ url, secret, mcpId }) => {
    const nowMs = clock.now();
    const { host } = new URL(url);
    const recent = (asked.get(host) ?? []).filter((atMs) => atMs > nowMs - minuteMs);
    if (recent.length >= perMinuteMax) return exhausted("verifications", perMinuteMax);
    asked.set(host, [...recent, nowMs]);
    const word = generateToken();
    const id = `msg_verification_${generateToken()}`;
    const body = JSON.stringify({ type: "verification", challenge: word });
    const attempt = await dispatcher.tell(createAgentEndpoint(url, secret, mcpId), { id, body }, timeoutMs);
    return saysBack(attempt, word) ? undefined : callbackFailed(failureOf(attempt));
  };
}

function saysBack({ error, responseBody }: Attempt, word: string): boolean {
  if (error !== "") return false;
  try {
    const said: unknown = JSON.parse(responseBody);
    return isObject(said) && typeof said["challenge"] === "string" && equalConstantTime(said["challenge"], word);
  } catch {
    return false;
  }
}

/** Whoever answered was there, whatever was answered. */
function failureOf({ error, statusCode }: Attempt): CallbackFailure {
  if (statusCode > 0) return "challenge_failed";
  return categoryOf(error);
}

/** What a client may know of a failed attempt: a word of a closed set. */
export function categoryOf(error: string): CallbackFailure {
  if (error.startsWith("timeout")) return "timeout";
  if (error.startsWith("tls_error")) return "tls_error";
  if (error.startsWith("http_5")) return "http_5xx";
  if (error.startsWith("http_")) return "http_4xx";
  return "connection_refused";
}

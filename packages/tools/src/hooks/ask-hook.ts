import {
  type AddressGuard,
  AddressRefusedError,
  type Clock,
  createId,
  hmacSha256,
  holdsMoreThan,
  isObject,
  parseExactJson,
  readForeignText,
} from "@svc/core";
import { createGuardedAgent, type GuardedAgent } from "@svc/core/dial";
import type { Hook } from "./known-hooks.ts";

/**
 * Maximum time in milliseconds for the answer of a hook (an endpoint that checks tool calls). After that, the tool call is handled as if
 * the hook had refused it.
 */
const hookTimeoutMs = 5_000;
/**
 * Maximum bytes of a question to a hook (an endpoint that checks tool calls), and of its answer. `valuesMax`: maximum number of values in
 * an answer.
 */
const bytesMax = 1_048_576;
const valuesMax = 50_000;

/** The question to a hook (an endpoint that checks tool calls). It contains the call and no other data. */
export type HookQuestion = Readonly<Record<string, unknown>>;

/**
 * The answer of a hook (an endpoint that checks tool calls). `edit`: for arguments, a JSON merge patch (RFC 7396); for a result, the value
 * that replaces the result. `failed`: the hook gave no valid answer.
 */
export type HookAnswer =
  | { readonly decision: "allow" }
  | { readonly decision: "edit"; readonly edit: unknown }
  | { readonly decision: "refuse"; readonly why: string }
  | { readonly decision: "failed"; readonly why: string };

/**
 * Asks hooks. A hook is an address of a project that decides if a tool call may be sent, or changes it. `ask`: asks one hook and returns
 * its answer.
 */
export type HookAsker = {
  ask(hook: Hook, question: HookQuestion): Promise<HookAnswer>;
  /** Aborts all running requests to hooks. */
  close(): Promise<void>;
};

const tooLarge: HookAnswer = failed(`was not asked: the call has more than ${bytesMax} bytes`);

/**
 * Returns the answer `failed` if a value is too large to be sent to a hook. A hook is a URL of the project that svc asks about a tool call.
 * Otherwise returns undefined. The function counts the parts of the value, because each part takes at least two bytes. It stops counting as
 * soon as the value is too large.
 */
export function answerIfTooLarge(value: unknown): HookAnswer | undefined {
  return holdsMoreThan(value, { values: bytesMax / 2, characters: bytesMax }) ? tooLarge : undefined;
}

/**
 * Creates the object that asks hooks (endpoints that check tool calls). The address of a hook is checked each time a connection to it is
 * opened.
 */
export function createHookAsker({ guard, clock }: { guard: AddressGuard; clock: Clock }): HookAsker {
  const agent = createGuardedAgent({
    guard,
    ...{ connections: 64, connectTimeoutMs: hookTimeoutMs, headersTimeoutMs: hookTimeoutMs },
    ...{ bodyTimeoutMs: hookTimeoutMs, responseBytesMax: bytesMax },
  });
  return {
    ask: (hook, question) => ask(agent, clock, { hook, question }),
    close: () => agent.destroy(),
  };
}

async function ask(
  agent: GuardedAgent,
  clock: Clock,
  { hook, question }: { readonly hook: Hook; readonly question: HookQuestion },
): Promise<HookAnswer> {
  const body = Buffer.from(JSON.stringify(question));
  if (body.byteLength > bytesMax) return tooLarge;
  try {
    const response = await agent.request({
      origin: hook.url.origin,
      path: `${hook.url.pathname}${hook.url.search}`,
      method: "POST",
      headers: signedHeaders(hook, body, clock.now()),
      body,
      signal: AbortSignal.timeout(hookTimeoutMs),
    });
    const bytes = await response.body.bytes();
    if (response.statusCode !== 200) return failed(`answered with status ${response.statusCode}`);
    const type = response.headers["content-type"];
    const read = readForeignText(bytes, Array.isArray(type) ? type[0] : type);
    return "fault" in read ? failed(`answered with a body that ${read.fault}`) : readAnswer(read.text, hook);
  } catch (error) {
    return failed(whyOf(error));
  }
}

/**
 * Returns the headers of the request that asks a hook (an endpoint that svc asks about tool calls). With the three Standard Webhooks
 * headers, the hook can verify that the request is from svc.
 */
function signedHeaders({ key }: Hook, body: Buffer, nowMs: number): Record<string, string> {
  const id = createId("call", nowMs);
  const timestamp = String(Math.floor(nowMs / 1_000));
  return {
    "content-type": "application/json",
    "user-agent": "svc/1",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${hmacSha256(key, [`${id}.${timestamp}.`, body], "base64")}`,
  };
}

/** Error codes that mean a timeout. There are several, because each layer of the HTTP client has its own timer. */
const timeouts: ReadonlySet<string> = new Set([
  ...["TimeoutError", "AbortError", "HeadersTimeoutError", "BodyTimeoutError", "ConnectTimeoutError"],
]);

function whyOf(error: unknown): string {
  if (error instanceof AddressRefusedError) return "is at an address that svc does not connect to";
  const name = error instanceof Error ? error.name : "";
  if (timeouts.has(name)) return `did not answer within ${hookTimeoutMs / 1_000} s`;
  if (name === "ResponseExceededMaxSizeError") return `answered with more than ${bytesMax} bytes`;
  return "could not be reached";
}

const reasonMax = 300;

function readAnswer(text: string, { phase }: Hook): HookAnswer {
  let answer: unknown;
  try {
    answer = parseExactJson(text, { valuesMax });
  } catch {
    return failed("answered with a body that is not JSON");
  }
  if (!isObject(answer)) return failed("answered with a body that is not a JSON object");
  const { decision, reason } = answer;
  if (decision === "allow") return { decision };
  if (decision === "refuse") {
    const why = typeof reason === "string" ? reason.slice(0, reasonMax).toWellFormed() : "";
    return { decision, why: why === "" ? "refused it" : `refused it: ${why}` };
  }
  if (decision !== "edit") return failed("answered with a decision that is not allow, edit or refuse");
  const name = phase === "before" ? "arguments" : "result";
  const edit = answer[name];
  if (!isObject(edit)) return failed(`answered edit without an object in ${name}`);
  return { decision, edit };
}

function failed(why: string): HookAnswer {
  return { decision: "failed", why };
}

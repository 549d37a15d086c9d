import type { Toolkit } from "@svc/catalog";
import type { AppAnswer, AppCall, AppRequest, AppTransport } from "@svc/connections";
import { assertExhaustive, type Clock, LeastRecentlyUsed, type Turns } from "@svc/core";
import { type AcceptsToken, refuseCredential, schemeOf } from "./app/check-credential.ts";
import { type MatchedRequest, matchRequest } from "./app/match-request.ts";
import { badRequest, type Refusal, unauthorized } from "./app/refusal.ts";
import { type AppReply, replyWith, replyWithError } from "./app/wrap.ts";
import { answerCall } from "./data/answer.ts";
import type { ObjectStore } from "./data/store.ts";
import { type Scenario, scenarioOf, scenarios } from "./scenarios.ts";

/** One tool of one entity's app. */
type Played = {
  readonly projectId: string;
  readonly entityId: string;
  readonly toolkit: string;
  readonly tool: string;
};

/** Tools that are counted, and how long after its last call one begins anew. */
const countedMax = 10_000;

const forgottenAfterMs = 10 * 60_000;

/**
 * Counts the calls that failed by a scenario which ends. A tool that was left alone for ten minutes fails again: so a program can be
 * tried twice.
 */
class ScenarioCounts {
  readonly #clock: Clock;
  readonly #calls = new LeastRecentlyUsed<string, { readonly count: number; readonly atMs: number }>(countedMax);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The scenario of this call: the entity's own, or the usual one where it is over or another tool's. Counts the call. */
  next(scenario: Scenario, { projectId, entityId, toolkit, tool }: Played): Scenario {
    if (scenario.name === "usual" || scenario.name === "pages") return scenario;
    if (scenario.tool !== undefined && scenario.tool !== tool) return { name: "usual" };
    if (scenario.times === undefined) return scenario;
    const key = JSON.stringify([projectId, entityId, toolkit, tool]);
    const before = this.#calls.get(key);
    const now = this.#clock.now();
    const isAnew = before === undefined || now - before.atMs >= forgottenAfterMs;
    const count = isAnew ? 0 : before.count;
    this.#calls.set(key, { count: count + 1, atMs: now });
    return count < scenario.times ? scenario : { name: "usual" };
  }
}

/** What the emulated apps need. */
export type TransportOptions = {
  readonly clock: Clock;
  readonly store: ObjectStore;
  readonly seen: ObjectStore;
  /** The end of the time that made-up objects come from. */
  readonly baseMs: number;
  readonly acceptsToken: AcceptsToken;
  /** The toolkit of a call as its project sees it now, with all its tools; undefined where there is none. */
  readonly findWhole?: ((call: AppCall) => Promise<Toolkit | undefined>) | undefined;
  /** Gives out the time in which apps make their answers up: a page of 250 objects takes 10 ms. Without, they take it at once. */
  readonly turns?: Pick<Turns, "next"> | undefined;
};

/** A transport whose apps are emulated in the process, by their definitions. Nothing is dialled. */
export function createSandboxTransport(options: TransportOptions): AppTransport {
  const counts = new ScenarioCounts(options.clock);
  return { send: (request, call, { timeoutMs }) => send({ ...options, counts }, request, call, timeoutMs) };
}

async function send(
  { clock, store, seen, baseMs, acceptsToken, turns, findWhole, counts }: TransportOptions & { counts: ScenarioCounts },
  request: AppRequest,
  call: AppCall,
  timeoutMs: number,
): Promise<AppAnswer> {
  const scheme = schemeOf(call);
  const credentialQuery = scheme?.type === "api_key" && scheme.placement === "query" ? scheme.name : undefined;
  const scenario = scenarioOf(call.entityId);
  if (scenario === undefined) return refuse(unknownScenario(call.entityId));
  const matched = matchRequest(call.toolkit, call.action, request, { credentialQuery });
  // Apps look at who asks before they look at what is asked, but not before they know the path.
  if ("status" in matched && matched.status !== 400) return refuse(matched);
  const refusal = refuseCredential(request, call, acceptsToken);
  if (refusal !== undefined) return refuse(refusal);
  if ("status" in matched) return refuse(matched);
  await turns?.next(call.projectId);
  const { projectId, entityId, toolkit, action } = call;
  const played = counts.next(scenario, { projectId, entityId, toolkit: toolkit.slug, tool: action.name });
  return play(played, {
    clock,
    store,
    seen,
    baseMs,
    call: { ...call, toolkit: await appOf(call, findWhole) },
    matched,
    timeoutMs,
  });
}

/**
 * The toolkit whose tools say what an app keeps. A job's is pinned with the tools that its program calls: by those alone each program
 * would see data of its own, and none what the others made.
 */
async function appOf(call: AppCall, findWhole: TransportOptions["findWhole"]): Promise<Toolkit> {
  const whole = await findWhole?.(call);
  const isSame = whole?.ownerProjectId === call.toolkit.ownerProjectId;
  return whole !== undefined && isSame && whole.actions.some(({ slug }) => slug === call.action.slug)
    ? whole
    : call.toolkit;
}

type Play = {
  readonly clock: Clock;
  readonly store: ObjectStore;
  readonly seen: ObjectStore;
  readonly baseMs: number;
  readonly call: AppCall;
  readonly matched: MatchedRequest;
  readonly timeoutMs: number;
};

async function play(
  scenario: Scenario,
  { clock, store, seen, baseMs, call, matched, timeoutMs }: Play,
): Promise<AppAnswer> {
  const act = (pages?: number): AppAnswer => {
    const answered = answerCall(call, matched, { store, seen, pages, nowMs: clock.now(), baseMs });
    return "result" in answered ? reply(replyWith(call.action, answered.result)) : refuse(answered);
  };
  switch (scenario.name) {
    case "usual":
      return act();
    case "pages":
      return act(scenario.pages);
    case "429":
      return answer(429, { "retry-after": "1" }, { error: { message: "too many requests" } });
    case "500":
      return answer(500, {}, { error: { message: "something went wrong" } });
    case "slow":
      act();
      await clock.wait(timeoutMs);
      return { kind: "timeout", sent: true, message: `no answer within ${timeoutMs} ms` };
    case "cut":
      act();
      return { kind: "broken", sent: true, message: "the connection broke before the answer" };
    case "unauthorized":
      return refuse(unauthorized("the credential was withdrawn"));
    case "error":
      return reply(replyWithError(call.action, "the app cannot do this now"));
    default:
      return assertExhaustive(scenario);
  }
}

function unknownScenario(entityId: string): Refusal {
  const known = scenarios.map(({ name }) => `sandbox:${name}`).join(", ");
  return badRequest([`${entityId.slice(0, 80)} is no scenario of the sandbox: it knows ${known}`]);
}

function refuse({ status, headers = {}, faults }: Refusal): AppAnswer {
  return answer(status, headers, { error: { message: faults.join("; "), details: faults } });
}

function reply({ status, body }: AppReply): AppAnswer {
  return answer(status, {}, body);
}

function answer(status: number, headers: Readonly<Record<string, string>>, body: unknown): AppAnswer {
  const text = body === undefined ? "" : JSON.stringify(body);
  return {
    kind: "answer",
    status,
    headers: { ...headers, ...(text !== "" && { "content-type": "application/json" }) },
    body: Buffer.from(text, "utf8"),
  };
}

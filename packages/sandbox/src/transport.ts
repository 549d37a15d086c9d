import type { AuthScheme, SecretPlace, Toolkit } from "@svc/catalog";
import type { AppAnswer, AppCall, AppRequest, AppTransport } from "@svc/connections";
import {
  assertExhaustive,
  type Clock,
  isObject,
  LeastRecentlyUsed,
  type Template,
  type TemplateTree,
  type Turns,
} from "@svc/core";
import { schemeOf } from "./app/check-credential.ts";
import { headerOf, type MatchedRequest, matchRequest } from "./app/match-request.ts";
import { type AppRefusal, badRequest } from "./app/refusal.ts";
import { type AppReply, replyWith, replyWithError } from "./app/wrap.ts";
import { answerCall } from "./data/answer.ts";
import type { ObjectStore } from "./data/store.ts";
import { type Scenario, scenarioOf, scenarios } from "./scenarios.ts";

/** Returns true if this sandbox issued an access token for the toolkit (app) and the token is still valid. */
type AcceptsToken = (token: string, toolkitSlug: string) => boolean;

/** Identifies one tool of an app that the sandbox plays, as used by one entity (customer or user) of a project. */
type Played = {
  readonly projectId: string;
  readonly entityId: string;
  readonly toolkit: string;
  readonly tool: string;
};

/**
 * Maximum number of tools whose calls are counted. `forgottenAfterMs`: time without calls after which a count starts again, in
 * milliseconds.
 */
const countedMax = 10_000;

const forgottenAfterMs = 10 * 60_000;

/**
 * Counts calls for scenarios (chosen behaviors, such as an error) that end after some calls. If a tool is not called for ten minutes, its
 * count restarts.
 */
class ScenarioCounts {
  readonly #clock: Clock;
  readonly #calls = new LeastRecentlyUsed<string, { readonly count: number; readonly atMs: number }>(countedMax);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Counts a call, and returns the scenario (the behaviour of the sandbox, for example an error) that applies to it. This is the scenario
   * that the name of the entity (customer or user) requests. If that scenario is for a different tool, or its number of calls is used up,
   * returns the usual scenario.
   */
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

/** Dependencies of the emulated apps. */
export type TransportOptions = {
  readonly clock: Clock;
  readonly store: ObjectStore;
  readonly seen: ObjectStore;
  /** The latest time that objects invented by the sandbox may have, in epoch milliseconds. */
  readonly baseMs: number;
  readonly acceptsToken: AcceptsToken;
  /**
   * Returns the project's current version of the toolkit (one app) to which the called tool belongs, with all its tools. Returns undefined
   * if the toolkit no longer exists.
   */
  readonly findWhole?: ((call: AppCall) => Promise<Toolkit | undefined>) | undefined;
  /**
   * Shares processor time among the apps of the sandbox in short turns, because a page of 250 objects takes 10 ms to make. If absent, every
   * answer is made at once.
   */
  readonly turns?: Pick<Turns, "next"> | undefined;
};

/** Creates a transport whose apps are emulated in the process, from their definitions. It opens no connection. */
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
  const credentialQuery = placesOf(scheme).flatMap((place) => (place.in === "query" ? [place.name] : []));
  const scenario = scenarioOf(call.entityId);
  if (scenario === undefined) return refuse(unknownScenario(call.entityId));
  const matched = matchRequest(call.toolkit, call.action, request, { credentialQuery });
  // The path is checked before the credential, and the content of the request after it, as real apps do. A refusal with status 400 is about
  // the content, so it is not returned yet.
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
 * Returns the toolkit with all tools of an app, because they determine the data that the sandbox makes for the app. A job's own toolkit
 * contains only the tools that its program calls. With that toolkit alone, a program would not see objects that other programs made.
 * Returns the job's own toolkit if the whole toolkit is not found.
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
    if (!("result" in answered)) return refuse(answered);
    return call.action.response.as === "text"
      ? textReply(answered.result)
      : reply(replyWith(call.action, answered.result));
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

function unknownScenario(entityId: string): AppRefusal {
  const known = scenarios.map(({ name }) => `sandbox:${name}`).join(", ");
  return badRequest([`${entityId.slice(0, 80)} is not a scenario of the sandbox: it has ${known}`]);
}

function refuse({ status, headers = {}, faults }: AppRefusal): AppAnswer {
  return answer(status, headers, { error: { message: faults.join("; "), details: faults } });
}

/** Returns the answer of a tool whose app answers with plain text instead of JSON. This text is the member `text` of the tool's result. */
function textReply(result: unknown): AppAnswer {
  const text = isObject(result) && typeof result["text"] === "string" ? result["text"] : "";
  return { kind: "answer", status: 200, headers: { "content-type": "text/plain" }, body: Buffer.from(text, "utf8") };
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

/**
 * Returns the refusal if the app would not accept the credential of a request: it is in the wrong place, has the wrong form, or is an
 * unknown token. Returns undefined if the app would accept it.
 */
function refuseCredential(request: AppRequest, call: AppCall, acceptsToken: AcceptsToken): AppRefusal | undefined {
  const scheme = schemeOf(call);
  switch (scheme?.type) {
    case undefined:
      return unauthorized(`${call.toolkit.slug} has no authentication of the kind ${call.scheme}`);
    case "none":
      return undefined;
    case "api_key":
      return refusePlaces(request, placesOf(scheme));
    case "basic":
      return scheme.place === undefined
        ? refuseBasic(headerOf(request.headers, "authorization"))
        : refusePlaces(request, scheme.place);
    case "oauth2":
    case "client_credentials":
      return refuseToken(headerOf(request.headers, "authorization"), (token) => acceptsToken(token, call.toolkit.slug));
  }
}

/**
 * Returns the headers and query parameters in which an authentication scheme sends its secrets. None for a key in the path, because the
 * sandbox's own addresses have no path of the app's base URL.
 */
function placesOf(scheme: AuthScheme | undefined): readonly SecretPlace[] {
  if (scheme?.type === "api_key")
    return scheme.placement === "path" ? [] : [{ in: scheme.placement, name: scheme.name, value: scheme.value }];
  return scheme?.type === "basic" ? (scheme.place ?? []) : [];
}

function refusePlaces(request: AppRequest, places: readonly SecretPlace[]): AppRefusal | undefined {
  for (const { in: part, name, value } of places) {
    const place = part === "header" ? `header ${name}` : `query parameter ${name}`;
    const given =
      part === "header"
        ? headerOf(request.headers, name)
        : (URL.parse(request.url)?.searchParams.get(name) ?? undefined);
    if (given === undefined) return unauthorized(`the key is missing: it must be in ${place}`);
    if (!hasForm(given, value)) return unauthorized(`${place} must have the form ${formOf(value)}`);
  }
  return undefined;
}

/**
 * True if a credential has the form of its template in the app's definition: the fixed parts are in their places, and each placeholder has
 * a text.
 */
function hasForm(given: string, tree: TemplateTree): boolean {
  if (tree.kind !== "text") return tree.kind === "constant" && given === String(tree.value);
  const pieces = tree.template.parts.map((part) => (typeof part === "string" ? part : undefined));
  let at = 0;
  for (const [index, piece] of pieces.entries()) {
    if (piece === undefined) {
      const next = pieces[index + 1];
      const end = next === undefined ? given.length : given.indexOf(next, at + 1);
      if (end <= at) return false;
      at = end;
    } else if (given.startsWith(piece, at)) at += piece.length;
    else return false;
  }
  return at === given.length;
}

function formOf(tree: TemplateTree): string {
  const parts: Template["parts"] = tree.kind === "text" ? tree.template.parts : [];
  return parts.map((part) => (typeof part === "string" ? part : `<${part.path.join(".")}>`)).join("");
}

function refuseBasic(header: string | undefined): AppRefusal | undefined {
  const [, encoded] = /^Basic ([A-Za-z0-9+/]+={0,2})$/.exec(header ?? "") ?? [];
  if (encoded === undefined) return unauthorized("header Authorization must be Basic and base64", "Basic");
  const text = Buffer.from(encoded, "base64").toString("utf8");
  return text.includes(":") ? undefined : unauthorized("the Basic credential must be user:password", "Basic");
}

function refuseToken(header: string | undefined, accepts: (token: string) => boolean): AppRefusal | undefined {
  const [, token] = /^Bearer (\S+)$/.exec(header ?? "") ?? [];
  if (token === undefined) return unauthorized("header Authorization must be Bearer and the access token", "Bearer");
  if (accepts(token)) return undefined;
  return unauthorized("the access token is expired, or was not issued here", 'Bearer error="invalid_token"');
}

/**
 * Returns the refusal for a credential that is missing, in the wrong place or not valid. `challenge`: the authentication scheme that the
 * app asks for (RFC 9110); empty for a key.
 */
function unauthorized(fault: string, challenge = ""): AppRefusal {
  return { status: 401, ...(challenge !== "" && { headers: { "www-authenticate": challenge } }), faults: [fault] };
}

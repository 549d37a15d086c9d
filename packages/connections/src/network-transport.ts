import {
  type AddressGuard,
  acceptedEncodings,
  assertExhaustive,
  type BodyDecoder,
  createBodyDecoder,
  formatValue,
  type ProjectId,
} from "@svc/core";
import { createGuardedAgent, type GuardedAgent } from "@svc/core/dial";
import type { Dispatcher } from "undici";
import { type AnswerAllowance, AnswerBudget } from "./answer-budget.ts";
import type { AppAnswer, AppParty, AppRequest, AppTransport } from "./app-transport.ts";
import { CallSlots } from "./call-slots.ts";
import { answerBytesMax, Exchange, type ExchangeOptions } from "./exchange.ts";
import { createPartyFetch, type PartyFetch } from "./token-fetch.ts";

/** Maximum numbers of idle agents (unused connection pools) that are kept. `node`: in total. `project`: for one project. */
type IdleLimits = { readonly node: number; readonly project: number };

type Entry = { readonly key: string; readonly projectId: ProjectId; readonly agent: GuardedAgent; uses: number };

/** An agent (HTTP connection pool) that a request is using at the moment. `release`: ends this use. */
type AgentUse = { readonly agent: GuardedAgent; readonly release: () => void };

/**
 * HTTP agents (connection pools), one for each project and origin. Two projects never share a connection. If a project or the node has too
 * many idle agents, the one that has been idle longest is closed.
 */
class OriginAgents {
  readonly #create: () => GuardedAgent;
  readonly #limits: IdleLimits;
  readonly #entries = new Map<string, Entry>();
  /** HTTP agents (pools of connections to one origin) that are idle. They are in the order in which they became idle. */
  readonly #idle = new Set<Entry>();
  readonly #idleOf = new Map<ProjectId, number>();

  constructor(create: () => GuardedAgent, limits: IdleLimits) {
    this.#create = create;
    this.#limits = limits;
  }

  /** Number of HTTP agents (pools of connections to one origin), used or idle. */
  get size(): number {
    return this.#entries.size;
  }

  /**
   * Returns the HTTP agent (connection pool) of a project for an origin (scheme, host and port). The agent is not closed before the caller
   * calls `release`.
   */
  use(projectId: ProjectId, origin: string): AgentUse {
    const key = `${projectId} ${origin}`;
    const entry = this.#entries.get(key) ?? { key, projectId, agent: this.#create(), uses: 0 };
    this.#entries.set(key, entry);
    this.#unidle(entry);
    entry.uses++;
    return { agent: entry.agent, release: () => this.#release(entry) };
  }

  /** Closes every connection of every project at once. */
  async destroy(): Promise<void> {
    const agents = [...this.#entries.values()].map(({ agent }) => agent);
    this.#entries.clear();
    this.#idle.clear();
    this.#idleOf.clear();
    await Promise.all(agents.map((agent) => agent.destroy()));
  }

  #release(entry: Entry): void {
    entry.uses--;
    if (entry.uses > 0 || this.#entries.get(entry.key) !== entry) return;
    this.#idle.add(entry);
    const own = (this.#idleOf.get(entry.projectId) ?? 0) + 1;
    this.#idleOf.set(entry.projectId, own);
    if (own > this.#limits.project) this.#closeOldest(({ projectId }) => projectId === entry.projectId);
    else if (this.#idle.size > this.#limits.node) this.#closeOldest(() => true);
  }

  #closeOldest(isMeant: (entry: Entry) => boolean): void {
    for (const entry of this.#idle) {
      if (!isMeant(entry)) continue;
      this.#unidle(entry);
      this.#entries.delete(entry.key);
      void entry.agent.destroy();
      return;
    }
  }

  #unidle(entry: Entry): void {
    if (!this.#idle.delete(entry)) return;
    const left = (this.#idleOf.get(entry.projectId) ?? 1) - 1;
    if (left > 0) this.#idleOf.set(entry.projectId, left);
    else this.#idleOf.delete(entry.projectId);
  }
}

/** Sends requests to apps over the network. Requests to token endpoints use the same connection pools. */
export type NetworkTransport = AppTransport & {
  readonly fetch: PartyFetch;
  /** Sends a request on behalf of a party (a project and the toolkit of an app). Never rejects. */
  exchange(request: AppRequest, party: ExchangeParty, options: SendOptions): Promise<AppAnswer>;
  /**
   * Reads the document at an address with a GET for a project, like a call of the project's private toolkits (its own apps). The document
   * may have 16 MiB, more than other answers.
   */
  read(url: string, projectId: ProjectId): Promise<AppAnswer>;
  /** Returns the number of connection pools, and the number of bytes of answers that the node holds in memory. */
  stats(): { readonly agents: number; readonly answerBytes: number };
  /** Closes every connection to apps. Call it when the node stops. */
  close(): Promise<void>;
};

/** The project for which a request is sent, and the owner of its toolkit (empty for a shared toolkit). */
export type ExchangeParty = Pick<AppParty, "projectId"> & {
  readonly toolkit: Pick<AppParty["toolkit"], "ownerProjectId">;
};

/** How long a request may take, and when it ends earlier: on a signal, or when its answer is complete before the app ends it. */
export type SendOptions = Pick<ExchangeOptions, "timeoutMs" | "bytesMax" | "signal" | "isComplete">;

/** Limits of one node. `nodeAnswerBytes` and `idleAgents` apply to all projects together, every other limit to each project. */
export type TransportLimits = {
  /**
   * Maximum number of calls that each project may have in progress at one origin, for shared toolkits (apps that all projects can use). The
   * next member, `privateAtOrigin`, is the limit for the project's private toolkits.
   */
  readonly sharedAtOrigin: number;
  readonly privateAtOrigin: number;
  /**
   * Maximum number of calls that each project may have in progress, over all origins. The next member, `waiting`, is the maximum number of
   * a project's calls that wait until they may start.
   */
  readonly underWay: number;
  readonly waiting: number;
  readonly nodeAnswerBytes: number;
  readonly projectAnswerBytes: number;
  /**
   * Maximum time in milliseconds for which reading an app's answer may pause because memory is short. After this time, the call ends as
   * `too_large`.
   */
  readonly patienceMs: number;
  /** Maximum number of idle agents (unused connection pools) that the node keeps for all projects together. */
  readonly idleAgents: number;
  readonly projectIdleAgents: number;
};

const mebibyte = 1024 * 1024;
const usualLimits: TransportLimits = {
  sharedAtOrigin: 32,
  privateAtOrigin: 16,
  underWay: 512,
  waiting: 256,
  nodeAnswerBytes: 256 * mebibyte,
  projectAnswerBytes: 64 * mebibyte,
  patienceMs: 5_000,
  idleAgents: 1024,
  projectIdleAgents: 64,
};

const redirectsMax = 3;
const connectTimeoutMs = 10_000;
/**
 * Idle timeout of a connection, in milliseconds. It is longer than any deadline of a call, so a request is always ended by its own
 * `timeoutMs`.
 */
const idleTimeoutMs = 300_000;
/** Maximum time in milliseconds for which an idle connection is kept, even if the server offers a longer time. */
const keepAliveMaxMs = 15_000;

type Parts = {
  readonly limits: TransportLimits;
  readonly slots: CallSlots;
  readonly agents: OriginAgents;
  readonly budget: AnswerBudget;
  readonly decoder: BodyDecoder;
};

/**
 * Creates the transport that sends requests to apps. Each connection must pass the address guard, which refuses private addresses. Each
 * project has its own connections and its own limit on running requests, so a project never waits for calls of another project. A GET
 * follows up to 3 redirects within its origin; all further redirects are returned unchanged. An answer is cut off above 8 MiB (before or
 * after decoding), or if memory for it is short.
 */
export function createAppTransport(options: {
  guard: AddressGuard;
  limits?: Partial<TransportLimits>;
}): NetworkTransport {
  const limits = { ...usualLimits, ...options.limits };
  const createAgent = () =>
    createGuardedAgent({
      guard: options.guard,
      connections: Math.max(limits.sharedAtOrigin, limits.privateAtOrigin),
      connectTimeoutMs,
      headersTimeoutMs: idleTimeoutMs,
      bodyTimeoutMs: idleTimeoutMs,
      keepAliveMaxMs,
    });
  const parts: Parts = {
    limits,
    slots: new CallSlots(limits),
    agents: new OriginAgents(createAgent, { node: limits.idleAgents, project: limits.projectIdleAgents }),
    budget: new AnswerBudget({ nodeBytes: limits.nodeAnswerBytes, projectBytes: limits.projectAnswerBytes }),
    decoder: createBodyDecoder(answerBytesMax),
  };
  const documentParts: Parts = { ...parts, decoder: createBodyDecoder(documentBytesMax) };
  return {
    send: (request, call, { timeoutMs }) => sendInTurn(parts, request, call, { timeoutMs }),
    exchange: (request, party, sendOptions) => sendInTurn(parts, request, party, sendOptions),
    fetch: createPartyFetch((request, party, timeoutMs) => sendInTurn(parts, request, party, { timeoutMs })),
    read: (url, projectId) => {
      const request = { method: "GET", url, headers: documentHeaders, body: undefined };
      const party = { projectId, toolkit: { ownerProjectId: projectId } };
      return sendInTurn(documentParts, request, party, { timeoutMs: documentTimeoutMs, bytesMax: documentBytesMax });
    },
    stats: () => ({ agents: parts.agents.size, answerBytes: parts.budget.held }),
    async close() {
      parts.slots.close();
      await parts.agents.destroy();
    },
  };
}

/** Maximum size in bytes of a document that is read from a URL, also after decompression. */
const documentBytesMax = 16 * mebibyte;
/** Maximum time in milliseconds to read a document from a URL. */
const documentTimeoutMs = 30_000;
const documentHeaders = { accept: "application/json, application/yaml;q=0.9, */*;q=0.5", "user-agent": "svc/0.1" };

/** Waits until the project has a free slot for a call to the app's server, sends the request, and returns the answer. */
async function sendInTurn(
  { limits, slots, agents, budget, decoder }: Parts,
  request: AppRequest,
  { projectId, toolkit }: ExchangeParty,
  { timeoutMs, ...early }: SendOptions,
): Promise<AppAnswer> {
  const url = URL.parse(request.url);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
    return { kind: "refused", message: "the request's address is not an http or https URL" };
  }
  const { origin } = url;
  const endMs = performance.now() + timeoutMs;
  const most = toolkit.ownerProjectId === "" ? limits.sharedAtOrigin : limits.privateAtOrigin;
  const slot = await slots.take({ projectId, origin, most }, timeoutMs);
  switch (slot.kind) {
    case "crowded":
      return { kind: "unreachable", message: "too many calls of this project are under way; try again later" };
    case "closed":
      return { kind: "unreachable", message: "the service is stopping" };
    case "late": {
      const message = `the project's other calls of this app did not end within ${Math.round(timeoutMs)} ms`;
      return { kind: "timeout", sent: false, message };
    }
    case "slot":
  }
  const { agent, release } = agents.use(projectId, origin);
  try {
    const way = { agent, patienceMs: limits.patienceMs, early, open: () => budget.open(projectId) };
    return await decodeAnswer(decoder, await sendFollowing(way, { request, url }, endMs));
  } finally {
    release();
    slot.release();
  }
}

type Way = {
  readonly agent: Dispatcher;
  readonly patienceMs: number;
  readonly early: Omit<SendOptions, "timeoutMs">;
  readonly open: () => AnswerAllowance;
};

/** A request to an app, and the URL to which it is sent. The URL differs from that of the request after a redirect. */
type AddressedRequest = { readonly request: AppRequest; readonly url: URL };

async function sendFollowing(way: Way, { request, url }: AddressedRequest, endMs: number): Promise<AppAnswer> {
  let current = url;
  for (let followed = 0; ; followed++) {
    const answer = await sendOnce(way, { request, url: current }, Math.max(1, endMs - performance.now()));
    const next = followed < redirectsMax ? redirectOf({ request, url: current }, answer) : undefined;
    if (next === undefined) return answer;
    current = next;
  }
}

const redirectStatuses = new Set([301, 302, 303, 307, 308]);

/**
 * Returns the next address of a redirected GET. Undefined for other methods, other origins and other answers. The credential never leaves
 * its origin.
 */
function redirectOf({ request, url }: AddressedRequest, answer: AppAnswer): URL | undefined {
  if (request.method !== "GET" || answer.kind !== "answer" || !redirectStatuses.has(answer.status)) return undefined;
  const location = answer.headers["location"];
  const target = location === undefined ? null : URL.parse(location, url.href);
  return target === null || target.origin !== url.origin ? undefined : target;
}

function sendOnce(
  { agent, patienceMs, early, open }: Way,
  { request, url: { origin, pathname, search } }: AddressedRequest,
  timeoutMs: number,
): Promise<AppAnswer> {
  return new Promise((resolve) => {
    const exchange = new Exchange({ ...early, timeoutMs, allowance: open(), patienceMs }, resolve);
    try {
      agent.dispatch(
        {
          origin,
          path: `${pathname}${search}`,
          method: request.method as Dispatcher.HttpMethod,
          headers: { "accept-encoding": acceptedEncodings, ...request.headers },
          body: request.body ?? null,
        },
        exchange,
      );
    } catch (error) {
      exchange.fail(error);
    }
  });
}

/** Decodes an app's answer according to its `content-encoding`. An answer that cannot be decoded is returned unchanged, with the reason. */
async function decodeAnswer(decoder: BodyDecoder, answer: AppAnswer): Promise<AppAnswer> {
  if (answer.kind !== "answer") return answer;
  const { "content-encoding": coding, "content-length": _length, ...headers } = answer.headers;
  if (coding === undefined) return answer;
  const decoded = await decoder.decode(answer.body, coding);
  switch (decoded.outcome) {
    case "decoded":
      // The decoded body stays in memory until the caller has read it. The caller reads it before `setImmediate` runs this function.
      setImmediate(decoded.done);
      return { ...answer, headers, body: decoded.body };
    case "unsupported":
      return {
        ...answer,
        unreadable: `has the content encoding ${formatValue(decoded.encoding)}, which is not supported`,
      };
    case "broken":
      return { ...answer, unreadable: "is not compressed as its Content-Encoding says" };
    case "too_large":
      return { kind: "too_large", status: answer.status };
    case "no_room":
      return { kind: "too_large", status: answer.status, isBusy: true };
    default:
      return assertExhaustive(decoded);
  }
}

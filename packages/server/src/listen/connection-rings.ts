import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** So long a client may take to send what the node waits for before it counts as idle, milliseconds. */
const promptMs = 250;
/** So long a request without a key may arrive once the server stops, milliseconds: a post may be large. */
const requestTimeMs = 2_000;
/** So long a request without a key may be answered before its connection may be shed, milliseconds. */
const answeringMs = 1_000;
/** Connections that are looked at before one is shed or refused. */
const looksMax = 64;

/** What a connection has shown: no request yet, requests without a valid key, or a key. */
export type KeyState = "halfOpen" | "keyless" | "keyed";

/** A connection that is open, and what decides when it is shed. */
export type HeldConnection = {
  /** The one that requests come on, once there is any. */
  socket: HttpSocket;
  readonly address: string;
  readonly isProxied: boolean;
  /** The node's rings and those of its address. */
  readonly scopes: readonly Rings[];
  keyState: KeyState;
  usedMs: number;
  orderedMs: number;
  /** Requests in this turn of the event loop. */
  burst: number;
  /** Counts a request of it as refused, and returns after how long that is to be answered, milliseconds. */
  readonly refusalWaitMs: (req: IncomingMessage) => number;
};

/** Connections of each standing, least recently used first. */
export type Rings = Readonly<Record<KeyState, Set<HeldConnection>>>;

/** The answer that a socket's parser has under way, and the parser: `node:http` has no other word for a busy connection, nor another way to stop it. */
type HttpSocket = Socket & {
  _httpMessage?: ServerResponse | null;
  parser?: { onIncoming?: (req: unknown, keepsAlive: boolean) => number } | null;
  [marked]?: HeldConnection;
};

/** On the socket itself: each request asks three times, and a WeakMap of what is new costs the collector. */
const marked = Symbol("connection");

/** The connection that a socket belongs to, where it was marked. */
export function connectionOf(socket: HttpSocket): HeldConnection | undefined {
  return socket[marked];
}

/** Notes on a socket which connection it belongs to. */
export function mark(socket: HttpSocket, connection: HeldConnection): void {
  socket[marked] = connection;
}

/** An answer to the parser by which it reads no further. */
const endParsing = -1;

/** Has what was read of a connection parsed no further once it has ended: thousands of requests may stand in one read, each an object. */
export function parseWhileOpen(socket: HttpSocket): void {
  const { parser } = socket;
  const given = parser?.onIncoming;
  if (parser == null || given === undefined) return;
  parser.onIncoming = (req, keepsAlive) => {
    const answer = given.call(parser, req, keepsAlive);
    return socket.destroyed ? endParsing : answer;
  };
}

/** In the order in which they are shed. */
export const everyKeyState: readonly KeyState[] = ["halfOpen", "keyless", "keyed"];
/** The same of those without a key. */
export const keylessStates = everyKeyState.slice(0, 2);

/** Rings without connections. */
export function createRings(): Rings {
  return { halfOpen: new Set(), keyless: new Set(), keyed: new Set() };
}

/** How many connections there are in rings. */
export function sizeOf({ halfOpen, keyless, keyed }: Rings): number {
  return halfOpen.size + keyless.size + keyed.size;
}

/** Puts a connection last in the rings of a standing, unless it was shed. */
export function promote(connection: HeldConnection, keyState: KeyState): void {
  for (const rings of connection.scopes) {
    if (rings[connection.keyState].delete(connection)) rings[keyState].add(connection);
  }
  connection.keyState = keyState;
}

/** Whom to end for a new connection, by the order that `createConnections` tells; of `standings` alone. Undefined where nobody can go. */
export function victimOf(rings: Rings, standings: readonly KeyState[], nowMs: number): HeldConnection | undefined {
  const { halfOpen, keyless, keyed } = rings;
  const slow = findWaiting(halfOpen, nowMs - promptMs) ?? findWaiting(keyless, nowMs - promptMs);
  const victim = slow ?? findAnswered(keyless, nowMs - answeringMs);
  if (victim !== undefined) return victim;
  const prompt = [findWaiting(halfOpen, nowMs), findWaiting(keyless, nowMs)].filter((found) => found !== undefined);
  if (prompt.length > 0) return prompt.reduce((older, found) => (found.usedMs < older.usedMs ? found : older));
  return standings.includes("keyed") ? findWaiting(keyed, nowMs) : undefined;
}

/** One that keeps the node waiting since `untilMs`: for a request, for the rest of one, or for the next. */
function findWaiting(ring: Set<HeldConnection>, untilMs: number): HeldConnection | undefined {
  let looks = 0;
  for (const connection of ring) {
    const isAnswered = isBeingAnswered(connection);
    if (!isAnswered && connection.usedMs <= untilMs) return connection;
    looks += 1;
    if (looks === looksMax) break;
    // Looked at last the next time.
    if (isAnswered) promote(connection, connection.keyState);
  }
  return undefined;
}

/** One whose answer takes since `untilMs`. */
function findAnswered(ring: Set<HeldConnection>, untilMs: number): HeldConnection | undefined {
  let looks = 0;
  for (const connection of ring) {
    if (connection.usedMs <= untilMs) return connection;
    looks += 1;
    if (looks === looksMax) break;
  }
  return undefined;
}

/** Whether a server that stops need not wait for it. */
export function isUnasked(connection: HeldConnection, nowMs: number): boolean {
  const waitedMs = nowMs - connection.usedMs;
  if (connection.socket._httpMessage == null) return waitedMs >= promptMs;
  return connection.keyState !== "keyed" && !isBeingAnswered(connection) && waitedMs >= requestTimeMs;
}

/** Whether a request is there whole and its answer is not. */
function isBeingAnswered({ socket }: HeldConnection): boolean {
  return socket._httpMessage?.req.complete === true;
}

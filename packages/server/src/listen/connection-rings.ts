import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** How long a client may keep the node waiting before it counts as idle, milliseconds. */
const promptMs = 250;
/** How long a request without a key may take to arrive after the server begins to stop, milliseconds: a post may be large. */
const requestTimeMs = 2_000;
/** How long a request without a key may take to answer before its connection may be closed, milliseconds. */
const answeringMs = 1_000;
/** Maximum connections checked before one is closed or refused. */
const looksMax = 64;

/** State of a connection: no request yet, requests without a valid key, or a key. */
export type KeyState = "halfOpen" | "keyless" | "keyed";

/** An open connection, and the data that decides when it is closed. */
export type HeldConnection = {
  /** Socket of its requests, if there are any. */
  socket: HttpSocket;
  readonly address: string;
  readonly isProxied: boolean;
  /** Rings of the node and of its address. */
  readonly scopes: readonly Rings[];
  keyState: KeyState;
  usedMs: number;
  orderedMs: number;
  /** Requests in this turn of the event loop. */
  burst: number;
  /** Counts a refused request of the connection. Returns the delay of the answer, milliseconds. */
  readonly refusalWaitMs: (req: IncomingMessage) => number;
};

/** Connections by state, least recently used first. */
export type Rings = Readonly<Record<KeyState, Set<HeldConnection>>>;

/**
 * The current answer of a socket's parser, and the parser. `node:http` has no other sign of a busy connection, and no other way to stop it.
 */
type HttpSocket = Socket & {
  _httpMessage?: ServerResponse | null;
  parser?: { onIncoming?: (req: unknown, keepsAlive: boolean) => number } | null;
  [marked]?: HeldConnection;
};

/** Stored on the socket, because each request reads it three times and a WeakMap of new objects burdens the garbage collector. */
const marked = Symbol("connection");

/** Returns the connection of a marked socket. */
export function connectionOf(socket: HttpSocket): HeldConnection | undefined {
  return socket[marked];
}

/** Records the connection of a socket. */
export function mark(socket: HttpSocket, connection: HeldConnection): void {
  socket[marked] = connection;
}

/** Return value that stops the parser. */
const endParsing = -1;

/** Stops parsing a connection's data after the connection has ended. One read may contain thousands of requests, each an object. */
export function parseWhileOpen(socket: HttpSocket): void {
  const { parser } = socket;
  const given = parser?.onIncoming;
  if (parser == null || given === undefined) return;
  parser.onIncoming = (req, keepsAlive) => {
    const answer = given.call(parser, req, keepsAlive);
    return socket.destroyed ? endParsing : answer;
  };
}

/** In the order in which connections are closed. */
export const everyKeyState: readonly KeyState[] = ["halfOpen", "keyless", "keyed"];
/** The same without keyed connections. */
export const keylessStates = everyKeyState.slice(0, 2);

/** Returns rings without connections. */
export function createRings(): Rings {
  return { halfOpen: new Set(), keyless: new Set(), keyed: new Set() };
}

/** Returns the number of connections in rings. */
export function sizeOf({ halfOpen, keyless, keyed }: Rings): number {
  return halfOpen.size + keyless.size + keyed.size;
}

/** Moves a connection to the end of the rings of a state, unless it was closed. */
export function promote(connection: HeldConnection, keyState: KeyState): void {
  for (const rings of connection.scopes) {
    if (rings[connection.keyState].delete(connection)) rings[keyState].add(connection);
  }
  connection.keyState = keyState;
}

/**
 * Returns the connection to close for a new one, in the order described at `createConnections` and among `standings` only. Undefined if
 * none can be closed.
 */
export function victimOf(rings: Rings, standings: readonly KeyState[], nowMs: number): HeldConnection | undefined {
  const { halfOpen, keyless, keyed } = rings;
  const slow = findWaiting(halfOpen, nowMs - promptMs) ?? findWaiting(keyless, nowMs - promptMs);
  const victim = slow ?? findAnswered(keyless, nowMs - answeringMs);
  if (victim !== undefined) return victim;
  const prompt = [findWaiting(halfOpen, nowMs), findWaiting(keyless, nowMs)].filter((found) => found !== undefined);
  if (prompt.length > 0) return prompt.reduce((older, found) => (found.usedMs < older.usedMs ? found : older));
  return standings.includes("keyed") ? findWaiting(keyed, nowMs) : undefined;
}

/** Returns a connection that has kept the node waiting since `untilMs`: for a request, the rest of one, or the next one. */
function findWaiting(ring: Set<HeldConnection>, untilMs: number): HeldConnection | undefined {
  let looks = 0;
  for (const connection of ring) {
    const isAnswered = isBeingAnswered(connection);
    if (!isAnswered && connection.usedMs <= untilMs) return connection;
    looks += 1;
    if (looks === looksMax) break;
    // Moved to the end, so that it is checked last the next time.
    if (isAnswered) promote(connection, connection.keyState);
  }
  return undefined;
}

/** Returns a connection whose answer has been in progress since `untilMs`. */
function findAnswered(ring: Set<HeldConnection>, untilMs: number): HeldConnection | undefined {
  let looks = 0;
  for (const connection of ring) {
    if (connection.usedMs <= untilMs) return connection;
    looks += 1;
    if (looks === looksMax) break;
  }
  return undefined;
}

/** True if a stopping server need not wait for the connection. */
export function isUnasked(connection: HeldConnection, nowMs: number): boolean {
  const waitedMs = nowMs - connection.usedMs;
  if (connection.socket._httpMessage == null) return waitedMs >= promptMs;
  return connection.keyState !== "keyed" && !isBeingAnswered(connection) && waitedMs >= requestTimeMs;
}

/** True if a complete request is not answered yet. */
function isBeingAnswered({ socket }: HeldConnection): boolean {
  return socket._httpMessage?.req.complete === true;
}

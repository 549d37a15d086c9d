import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Time in milliseconds for which a client may keep the node waiting before its connection counts as idle. */
const promptMs = 250;
/**
 * When the server stops: time in milliseconds for which it still waits for the rest of a request without a key. The request may be a large
 * webhook post, so this time is longer than that for an idle connection.
 */
const requestTimeMs = 2_000;
/** Maximum time in milliseconds for answering a request without a key. After that, the connection may be closed. */
const answeringMs = 1_000;
/**
 * Maximum number of connections in one state that svc checks while it looks for a connection to close. The limit keeps this search short.
 */
const looksMax = 64;

/**
 * State of a connection. `halfOpen`: no request yet. `keyless`: only requests without a valid key. `keyed`: at least one request with a
 * valid key.
 */
export type KeyState = "halfOpen" | "keyless" | "keyed";

/** An open connection, with the data that decides when svc may close it. */
export type HeldConnection = {
  /** Socket on which the requests of the connection arrive. No requests can arrive before the TLS handshake is complete. */
  socket: HttpSocket;
  readonly address: string;
  readonly isProxied: boolean;
  /**
   * The rings (sets of connections, ordered by their last use) that contain this connection: those of the node, and those of its address.
   */
  readonly scopes: readonly Rings[];
  keyState: KeyState;
  usedMs: number;
  orderedMs: number;
  /** Number of requests that arrived on this connection in the present turn of the event loop. */
  burst: number;
  /** Counts a refused request of the connection. Returns the delay of the answer in milliseconds. */
  readonly refusalWaitMs: (req: IncomingMessage) => number;
};

/** Connections by state. In each state, the least recently used connection is first. */
export type Rings = Readonly<Record<KeyState, Set<HeldConnection>>>;

/**
 * A socket with its HTTP parser and the answer that it is writing. svc uses these internal properties of Node, because `node:http` does not
 * show in another way that a connection is busy, and cannot stop the parser.
 */
type HttpSocket = Socket & {
  _httpMessage?: ServerResponse | null;
  parser?: { onIncoming?: (req: unknown, keepsAlive: boolean) => number } | null;
  [marked]?: HeldConnection;
};

/**
 * Property of a socket in which svc stores its data about the connection, because each request reads this data three times. A WeakMap would
 * be the alternative, but its entries would burden the garbage collector.
 */
const marked = Symbol("connection");

/** Returns the data about a connection that `mark` has stored on its socket. Returns undefined if no data was stored. */
export function connectionOf(socket: HttpSocket): HeldConnection | undefined {
  return socket[marked];
}

/** Stores svc's data about a connection on the socket of the connection, where `connectionOf` finds the data. */
export function mark(socket: HttpSocket, connection: HeldConnection): void {
  socket[marked] = connection;
}

/** Value that a callback of Node's HTTP parser returns to stop the parser. */
const endParsing = -1;

/**
 * Makes Node's HTTP parser stop when svc closes the connection. One read may contain thousands of requests. Without this, the parser would
 * make an object of each of them, although the connection is closed.
 */
export function parseWhileOpen(socket: HttpSocket): void {
  const { parser } = socket;
  const given = parser?.onIncoming;
  if (parser == null || given === undefined) return;
  parser.onIncoming = (req, keepsAlive) => {
    const answer = given.call(parser, req, keepsAlive);
    return socket.destroyed ? endParsing : answer;
  };
}

/** All states of a connection, in the order in which connections are closed. */
export const everyKeyState: readonly KeyState[] = ["halfOpen", "keyless", "keyed"];
/** The states of connections without a key, in the order in which svc closes connections. */
export const keylessStates = everyKeyState.slice(0, 2);

/** Returns empty rings (sets of connections, one for each state). */
export function createRings(): Rings {
  return { halfOpen: new Set(), keyless: new Set(), keyed: new Set() };
}

/** Returns the total number of connections in three sets, one set for each connection state. `Rings` is the type of these three sets. */
export function sizeOf({ halfOpen, keyless, keyed }: Rings): number {
  return halfOpen.size + keyless.size + keyed.size;
}

/** Gives a connection the state `keyState`, and marks it as the connection that was used last. */
export function promote(connection: HeldConnection, keyState: KeyState): void {
  for (const rings of connection.scopes) {
    if (rings[connection.keyState].delete(connection)) rings[keyState].add(connection);
  }
  connection.keyState = keyState;
}

/**
 * Returns the connection that is closed to make room for a new one. Only connections in a state in `standings` can be closed. Connections
 * that have sent no valid key are closed first: those that keep the server waiting, then those with a slow answer. A connection with a key
 * is closed only if none of these exists. Undefined if none can be closed.
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

/**
 * Returns a connection that has kept the node waiting since before `untilMs`: for its first request, for the rest of a request, or for its
 * next request. Undefined if there is none.
 */
function findWaiting(ring: Set<HeldConnection>, untilMs: number): HeldConnection | undefined {
  let looks = 0;
  for (const connection of ring) {
    const isAnswered = isBeingAnswered(connection);
    if (!isAnswered && connection.usedMs <= untilMs) return connection;
    looks += 1;
    if (looks === looksMax) break;
    // A connection with a running request is moved to the end of the ring (list in order of last use), so that the next search looks at
    // other connections first.
    if (isAnswered) promote(connection, connection.keyState);
  }
  return undefined;
}

/** Returns a connection that the server has been answering since before `untilMs`; undefined if there is none. */
function findAnswered(ring: Set<HeldConnection>, untilMs: number): HeldConnection | undefined {
  let looks = 0;
  for (const connection of ring) {
    if (connection.usedMs <= untilMs) return connection;
    looks += 1;
    if (looks === looksMax) break;
  }
  return undefined;
}

/**
 * True if a stopping server may close the connection now. It waits 250 ms for a request to begin, and 2 s for a whole request without a
 * valid key.
 */
export function isUnasked(connection: HeldConnection, nowMs: number): boolean {
  const waitedMs = nowMs - connection.usedMs;
  if (connection.socket._httpMessage == null) return waitedMs >= promptMs;
  return connection.keyState !== "keyed" && !isBeingAnswered(connection) && waitedMs >= requestTimeMs;
}

/** True if a request has arrived completely and is not answered yet. */
function isBeingAnswered({ socket }: HeldConnection): boolean {
  return socket._httpMessage?.req.complete === true;
}

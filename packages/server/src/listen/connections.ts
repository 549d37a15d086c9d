import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { addressGroup, type ClientAddresses, plainAddress } from "./client-address.ts";
import {
  connectionOf,
  createRings,
  everyKeyState,
  type HeldConnection,
  isUnasked,
  type KeyState,
  keylessStates,
  mark,
  parseWhileOpen,
  promote,
  type Rings,
  sizeOf,
  victimOf,
} from "./connection-rings.ts";
import { createRefusalPace } from "./refusal-pace.ts";

/**
 * Registry of the connections of a node's listeners. It knows the sender of each connection, and decides which connections are closed if
 * there are too many.
 */
export type Connections = {
  /**
   * Registers a new connection of a listener. `isTls`: true if the listener uses TLS. If a limit is exceeded, closes another connection, or
   * the new one.
   */
  accept(socket: Socket, isTls: boolean): void;
  /**
   * Records that the TLS handshake of a connection is complete. `socket`: the TLS socket on which the requests of the connection arrive
   * from now on.
   */
  secure(socket: Socket): void;
  /**
   * Records a request whose headers are complete, and returns true. Returns false if the connection has ended, so that no answer is
   * necessary. Closes a connection that sends far more requests at once than can be answered.
   */
  noteRequest(socket: Socket): boolean;
  /** Records that the sender of a connection showed a valid key, or sent a verified webhook post. */
  noteKey(socket: Socket): void;
  /**
   * Closes a connection whose sender caused excessive cost before it showed a key or a valid signature. Further connections of its address
   * stay open, because they may have keys. If an address has many such connections, svc reads its new connections a few at a time.
   */
  punish(socket: Socket): void;
  /** Returns the address under which a request's sender is counted: see `addressGroup`. */
  addressOf(req: IncomingMessage): string;
  /**
   * Closes connections that would only delay a stopping server. These are idle connections, and connections without a key whose request
   * stays incomplete.
   */
  endUnasked(): void;
  stats(): ConnectionStats;
};

/**
 * Numbers of connections. `open`: those that are open now, by state. `shed`: those that svc has closed since its start to make room for
 * others.
 */
export type ConnectionStats = {
  readonly open: { readonly halfOpen: number; readonly keyless: number; readonly keyed: number };
  readonly shed: number;
};

/** Limits on the number of connections. */
export type ConnectionLimits = {
  /**
   * Maximum number of connections of a node. A quarter of this number is reserved for connections whose sender showed a valid key or sent a
   * verified webhook post.
   */
  max: number;
  /** Maximum number of open connections per client address. Addresses of trusted proxies have no such limit. */
  perAddressMax: number;
  addresses: ClientAddresses;
  /** Returns a monotonic time in milliseconds. Default: the time of the machine. */
  nowMs?: () => number;
};

const keyedReserve = 0.25;
/**
 * Maximum number of requests in one read of a connection. A read may contain thousands of small requests, and they must not all be served
 * at the same time.
 */
const burstMax = 64;
/**
 * Number of closed connections of one address after which svc reads new connections of this address only a few at a time. It counts
 * connections that caused too much work, and were closed for this within one second.
 */
const punishedMax = 8;
const punishedWithinMs = 1_000;
/**
 * Interval in milliseconds at which svc begins to read new connections of addresses that caused too much work. Such connections are held
 * back at first. At each interval, svc takes a few of them from every address.
 */
const heldMs = 100;
const heldAtOnce = 2;
/** Minimum time in milliseconds between two updates of a connection's place in the order of last use. */
const orderMs = 1_000;

/**
 * Creates the registry of the node's open connections. At a limit, a new connection is accepted only if an open one can be closed.
 * Connections that showed no valid key are closed first.
 */
export function createConnections(limits: ConnectionLimits): Connections {
  const { max, perAddressMax, addresses, nowMs: now = () => performance.now() } = limits;
  const all = createRings();
  const byAddress = new Map<string, Rings>();
  /**
   * Connections whose TLS handshake is not complete. The key is made of the addresses and ports of both sides (`endpointsOf`). Node.js does
   * not say which TCP socket a TLS socket uses, but both have the same addresses and ports.
   */
  const handshakes = new Map<string, HeldConnection>();
  const keylessMax = max - Math.floor(max * keyedReserve);
  let shed = 0;
  /**
   * For each client address: how many of its connections were closed because they caused too much work. `untilMs`: time in milliseconds (on
   * the clock `now`) after which the count starts again from zero.
   */
  const punished = new Map<string, { count: number; readonly untilMs: number }>();
  const holding = createHolding();
  const refusals = createRefusalPace(now);
  const bursts = new Set<HeldConnection>();
  const endBursts = () => {
    for (const connection of bursts) connection.burst = 0;
    bursts.clear();
  };

  const remove = (connection: HeldConnection) => {
    for (const rings of connection.scopes) rings[connection.keyState].delete(connection);
    const own = byAddress.get(connection.address);
    if (own !== undefined && sizeOf(own) === 0) byAddress.delete(connection.address);
  };
  const end = (connection: HeldConnection) => {
    shed += 1;
    remove(connection);
    connection.socket.destroy();
  };
  const punish = (connection: HeldConnection) => {
    end(connection);
    if (connection.isProxied) return;
    const nowMs = now();
    for (const [address, { untilMs }] of punished) if (untilMs <= nowMs) punished.delete(address);
    const known = punished.get(connection.address);
    if (known === undefined) punished.set(connection.address, { count: 1, untilMs: nowMs + punishedWithinMs });
    else known.count += 1;
  };
  const isHeldBack = (address: string) => {
    const known = punished.get(address);
    return known !== undefined && known.count >= punishedMax && known.untilMs > now();
  };
  /**
   * Closes connections in `rings` until `isFull` returns false. Closes only connections in one of the states `standings`. Returns true when
   * there is room, and false if svc may not close any more connections.
   */
  const makeRoom = (rings: Rings, isFull: () => boolean, standings: readonly KeyState[]): boolean => {
    while (isFull()) {
      const victim = victimOf(rings, standings, now());
      if (victim === undefined) return false;
      end(victim);
    }
    return true;
  };
  const addressOf = (req: IncomingMessage): string => {
    const connection = connectionOf(req.socket);
    if (connection !== undefined && !connection.isProxied) return connection.address;
    const peer = plainAddress(req.socket.remoteAddress ?? "");
    return addressGroup(addresses.isTrusted(peer) ? addresses.forwardedFor(peer, req) : peer);
  };
  const refusalWaitMs = (req: IncomingMessage) => refusals.take(addressOf(req));
  const register = (socket: Socket, isTls: boolean) => {
    const peer = plainAddress(socket.remoteAddress ?? "");
    const address = addressGroup(peer);
    const isProxied = addresses.isTrusted(peer);
    const own = isProxied ? undefined : (byAddress.get(address) ?? createRings());
    const hasRoom =
      (own === undefined || makeRoom(own, () => sizeOf(own) >= perAddressMax, everyKeyState)) &&
      makeRoom(all, () => all.halfOpen.size + all.keyless.size >= keylessMax, keylessStates) &&
      makeRoom(all, () => sizeOf(all) >= max, everyKeyState);
    if (!hasRoom) {
      shed += 1;
      socket.destroy();
      return;
    }
    if (own !== undefined) byAddress.set(address, own);
    const nowMs = now();
    const connection: HeldConnection = {
      ...{ socket, address, isProxied, scopes: own === undefined ? [all] : [all, own] },
      ...{ keyState: "halfOpen", usedMs: nowMs, orderedMs: nowMs, burst: 0, refusalWaitMs },
    };
    for (const rings of connection.scopes) rings.halfOpen.add(connection);
    mark(socket, connection);
    parseWhileOpen(socket);
    if (!isProxied && isHeldBack(address)) holding.add(address, socket);
    const endpoints = isTls ? endpointsOf(socket) : "";
    if (isTls) handshakes.set(endpoints, connection);
    socket.once("close", () => {
      if (handshakes.get(endpoints) === connection) handshakes.delete(endpoints);
      remove(connection);
    });
  };
  return {
    accept: register,
    secure(socket) {
      const endpoints = endpointsOf(socket);
      const connection = handshakes.get(endpoints);
      if (connection === undefined) return;
      handshakes.delete(endpoints);
      connection.socket = socket;
      mark(socket, connection);
      parseWhileOpen(socket);
      socket.once("close", () => remove(connection));
    },
    noteRequest(socket) {
      const connection = connectionOf(socket);
      if (connection === undefined || socket.destroyed) return false;
      if (bursts.size === 0) setImmediate(endBursts);
      connection.burst += 1;
      if (connection.burst === 1) bursts.add(connection);
      if (connection.burst > burstMax) {
        punish(connection);
        return false;
      }
      const nowMs = now();
      connection.usedMs = nowMs;
      if (connection.keyState === "halfOpen") promote(connection, "keyless");
      else if (nowMs - connection.orderedMs > orderMs) promote(connection, connection.keyState);
      else return true;
      connection.orderedMs = nowMs;
      return true;
    },
    noteKey(socket) {
      const connection = connectionOf(socket);
      if (connection !== undefined && connection.keyState !== "keyed") promote(connection, "keyed");
    },
    punish(socket) {
      const connection = connectionOf(socket);
      if (connection !== undefined) punish(connection);
    },
    addressOf,
    endUnasked() {
      const nowMs = now();
      for (const keyState of everyKeyState) {
        for (const connection of all[keyState]) if (isUnasked(connection, nowMs)) connection.socket.destroy();
      }
    },
    stats: () => ({
      open: { halfOpen: all.halfOpen.size, keyless: all.keyless.size, keyed: all.keyed.size },
      shed,
    }),
  };
}

/**
 * Delays new connections of addresses that caused too much work. It does not read such a connection at first, and releases a few
 * connections of each address at a time. So a request with a valid key is delayed but not lost.
 */
function createHolding(): { add(address: string, socket: Socket): void } {
  const held = new Map<string, Set<Socket>>();
  const look = () => {
    for (const [address, sockets] of held) {
      for (const socket of [...sockets].slice(0, heldAtOnce)) {
        sockets.delete(socket);
        socket.resume();
      }
      if (sockets.size === 0) held.delete(address);
    }
    if (held.size > 0) setTimeout(look, heldMs).unref();
  };
  return {
    add(address, socket) {
      socket.pause();
      if (held.size === 0) setTimeout(look, heldMs).unref();
      const sockets = held.get(address) ?? new Set();
      held.set(address, sockets.add(socket));
      socket.once("close", () => sockets.delete(socket));
    },
  };
}

function endpointsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

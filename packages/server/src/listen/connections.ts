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

/** Connections of a node's listeners: their senders, and the order in which they are closed if there are too many. */
export type Connections = {
  /** Registers a new connection of a listener with or without TLS. Above a limit, closes another one or the new one. */
  accept(socket: Socket, isTls: boolean): void;
  /** The handshake of a connection is complete; its requests arrive on this socket. */
  secure(socket: Socket): void;
  /**
   * A connection sent a request with complete headers. Returns false if the connection has ended and the answer is not needed. A connection
   * that sends far more at once than can be answered is punished.
   */
  noteRequest(socket: Socket): boolean;
  /** The sender of a connection showed a valid key or sent a verified post. */
  noteKey(socket: Socket): void;
  /**
   * A connection caused excessive cost before anything could be charged for it. It is closed; others of its address stay open, because they
   * may have keys. If an address has many such connections, its new ones are read a few at a time.
   */
  punish(socket: Socket): void;
  /** Returns the counted address of a request's sender: see `addressGroup`. */
  addressOf(req: IncomingMessage): string;
  /**
   * For a stopping server: closes connections without a running request for 250 ms, and those without a key and with an incomplete request
   * for 2 s. Otherwise any client could delay each stop.
   */
  endUnasked(): void;
  stats(): ConnectionStats;
};

/** Open connections by state, and the connections closed for others since the start. */
export type ConnectionStats = {
  readonly open: { readonly halfOpen: number; readonly keyless: number; readonly keyed: number };
  readonly shed: number;
};

/** Limits of connections. */
export type ConnectionLimits = {
  /** In total. A quarter is reserved for connections that showed a key. */
  max: number;
  /** Per address. Trusted proxies have no such limit. */
  perAddressMax: number;
  addresses: ClientAddresses;
  /** Monotonic time, milliseconds. Default: the machine's. */
  nowMs?: () => number;
};

const keyedReserve = 0.25;
/** Maximum requests in one read of a connection. One read may contain thousands of small ones, which must not be served at once. */
const burstMax = 64;
/** Number of an address's connections that may be punished within a second before its new ones are held. */
const punishedMax = 8;
const punishedWithinMs = 1_000;
/** Interval of releasing held connections, milliseconds. Each time, a few of every address continue. */
const heldMs = 100;
const heldAtOnce = 2;
/** Precision of the order of use, milliseconds: a connection moves in its ring at most once in this time. */
const orderMs = 1_000;

/**
 * Creates the register of connections. Above a limit, a new connection is accepted if another one can be closed. Closed first: connections
 * without a request, then those without a key that keep the node waiting, each after 250 ms and least recently used first. Then those
 * without a key whose answer takes over a second, then the prompt ones of the first two kinds. If there are too many keyed ones, the one
 * idle for longest is closed.
 */
export function createConnections(limits: ConnectionLimits): Connections {
  const { max, perAddressMax, addresses, nowMs: now = () => performance.now() } = limits;
  const all = createRings();
  const byAddress = new Map<string, Rings>();
  /** Connections before the end of their handshake, by `endpointsOf`: no other data links the two sockets. */
  const handshakes = new Map<string, HeldConnection>();
  const keylessMax = max - Math.floor(max * keyedReserve);
  let shed = 0;
  /** Number of punished connections by address, and when it expires. */
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
  /** Brings a scope below its limit. Returns false if none of its connections can be closed. */
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

/** Holds new connections of addresses unread and releases a few of each address at a time: a request with a key is delayed, not lost. */
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

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

/** The connections of a node's listeners: who has them, and which end first when there are too many. */
export type Connections = {
  /** Takes in a connection that was just accepted, by a listener that speaks TLS or not; ends another for it, or it, over a limit. */
  accept(socket: Socket, isTls: boolean): void;
  /** The handshake of a connection is over: requests come on this socket. */
  secure(socket: Socket): void;
  /**
   * A connection sent a request, whose headers are all there. False: it has ended, and nobody waits for the answer. One that sends far
   * more at once than it can have answers to is punished.
   */
  noteRequest(socket: Socket): boolean;
  /** Who is behind a connection has shown a valid key, or sent a post that verifies. */
  noteKey(socket: Socket): void;
  /**
   * A connection sent what costs the node out of all proportion, before anything can be charged for it. It ends, and no other does:
   * others behind the same address may have keys. Where an address sends many such connections, its new ones are read a few at a time.
   */
  punish(socket: Socket): void;
  /** Who sent a request, as addresses are counted: see `addressGroup`. */
  addressOf(req: IncomingMessage): string;
  /**
   * For a server that stops: ends those that it does not wait for, with no request under way for 250 ms, or with half a one and without
   * a key for 2 s. Anyone who reaches the port could else hold up each stop.
   */
  endUnasked(): void;
  stats(): ConnectionStats;
};

/** Connections open now, by what they have shown, and how many were ended for others since the start. */
export type ConnectionStats = {
  readonly open: { readonly halfOpen: number; readonly keyless: number; readonly keyed: number };
  readonly shed: number;
};

/** How many there may be. */
export type ConnectionLimits = {
  /** In all. A quarter of them is kept for those that have shown a key. */
  max: number;
  /** Of one address; trusted proxies have no such limit. */
  perAddressMax: number;
  addresses: ClientAddresses;
  /** Monotonic time, milliseconds. Default: the machine's. */
  nowMs?: () => number;
};

const keyedReserve = 0.25;
/** Requests that one read of a connection may hold: of small ones it would hold thousands, which the loop is not to serve in one go. */
const burstMax = 64;
/** So many connections of an address may be punished within a second before its new ones are held back. */
const punishedMax = 8;
const punishedWithinMs = 1_000;
/** Between two looks for connections that were held back, milliseconds; each look lets some of every address go on. */
const heldMs = 100;
const heldAtOnce = 2;
/** So exactly the order of use is kept: a connection moves in its ring at most once in so many milliseconds. */
const orderMs = 1_000;

/**
 * Makes the register. Over a limit nothing new is refused as long as another connection is worth less. The order in which they are shed:
 * those that sent no request, then those without a key that keep the node waiting, each after 250 ms and the one that was used longest
 * ago first; those without a key whose answer takes over a second; of the former two also the prompt ones; and where even the keyed
 * are too many, the one of them that was idle for longest.
 */
export function createConnections(limits: ConnectionLimits): Connections {
  const { max, perAddressMax, addresses, nowMs: now = () => performance.now() } = limits;
  const all = createRings();
  const byAddress = new Map<string, Rings>();
  /** Connections before the end of their handshake, by `endpointsOf`: nothing else leads from one socket to the other. */
  const handshakes = new Map<string, HeldConnection>();
  const keylessMax = max - Math.floor(max * keyedReserve);
  let shed = 0;
  /** How many of an address's connections were punished, by when that is forgotten. */
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
  /** Brings a scope below its limit; false when none of its connections can go. */
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

/** Keeps new connections of addresses unread, and lets a few of each address go on at a time: a request with a key is late, and not lost. */
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

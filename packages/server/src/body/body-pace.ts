import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/**
 * Shares the reading time between connections with large bodies. Only a few of these connections are read at a time, so that they do not
 * delay the other requests.
 */
export type BodyPace = {
  /** Pauses reading the connection of a request until it is this connection's turn. Call it inside the request's `data` event. */
  yield(req: IncomingMessage): void;
};

/**
 * Number of connections that are read in one turn of the event loop, each with one piece of 64 KiB. Turns must be short, because Node
 * accepts only one new connection in each turn.
 */
const atOnce = 2;
/**
 * Pause between two reads of request bodies that are only read to be discarded, in milliseconds. It limits such reading to 25 MB a second.
 */
const discardMs = 5;

/**
 * Paces at which this process reads request bodies: one for bodies that it keeps, one for bodies that it discards. Without them, large
 * bodies would delay all other connections.
 */
export const bodyPaces: { readonly kept: BodyPace; readonly discarded: BodyPace } = {
  // Without a pace, one turn of the event loop read up to 2 MiB of every connection. 300 connections then delayed all others by a second.
  kept: createPace((turn) => void setImmediate(turn)),
  discarded: createPace((turn) => void setTimeout(turn, discardMs).unref()),
};

function createPace(schedule: (turn: () => void) => void): BodyPace {
  const waiting = new Set<Socket>();
  let fresh: Socket[] = [];
  const turn = () => {
    let left = atOnce;
    for (const socket of waiting) {
      waiting.delete(socket);
      socket.resume();
      left -= 1;
      if (left === 0) break;
    }
    if (waiting.size > 0) schedule(turn);
  };
  /** Pauses the new connections again. Node undoes the first pause at the end of the event loop turn in which it was made. */
  const pauseAgain = () => {
    for (const socket of fresh) if (waiting.has(socket)) socket.pause();
    fresh = [];
  };
  return {
    yield({ socket }) {
      if (waiting.has(socket)) return;
      socket.pause();
      if (fresh.length === 0) setImmediate(pauseAgain);
      fresh.push(socket);
      if (waiting.size === 0) schedule(turn);
      waiting.add(socket);
    },
  };
}

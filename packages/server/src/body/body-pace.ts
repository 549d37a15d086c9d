import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/** Reads the connections of large bodies a few at a time. */
export type BodyPace = {
  /** Stops reading the connection of a request, from within its `data` event, until its turn. */
  yield(req: IncomingMessage): void;
};

/**
 * Connections read per event-loop turn, each with one piece of 64 KiB. libuv accepts one new connection per turn, so turns must be short.
 */
const atOnce = 2;
/** Pause between reads of discarded bodies, milliseconds: at most 25 MB a second are read for nothing. */
const discardMs = 5;

/**
 * Paces of this process, which has one event loop. Without them, one turn reads up to 2 MiB of every connection, and 300 connections
 * delayed all others by a second.
 */
export const bodyPaces: { readonly kept: BodyPace; readonly discarded: BodyPace } = {
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
  /** Reading a request asks for more at the end of the tick, which resumes its connection. */
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

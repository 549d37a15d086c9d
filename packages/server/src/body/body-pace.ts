import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/** Lets the connections of large bodies be read a few at a time. */
export type BodyPace = {
  /** Stops reading the connection of a request, from within its `data`, until it is its turn. */
  yield(req: IncomingMessage): void;
};

/** So many connections go on in one turn, each with one piece of 64 KiB: libuv accepts one new connection a turn, so turns are short. */
const atOnce = 2;
/** Between two turns of what nobody keeps, milliseconds: 25 MB a second are read to be thrown away, and no more. */
const discardMs = 5;

/**
 * The paces of this process, as its event loop is. Without them one turn of the loop reads up to 2 MiB of every connection that has so
 * much to give, and 300 connections held all others up for a second.
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
  /** Reading a request asks for more of it at the end of the tick, which resumes its connection. */
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

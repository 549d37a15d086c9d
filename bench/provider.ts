import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import { answerCommands } from "./child.ts";
import { monotonicMicros } from "./monotonic.ts";
import { requestBytes } from "./request-bytes.ts";

/** Items in a page of a list. */
export const pageItems = 1_000;

let received = 0;
let arrivals: number[] | undefined;
let awaited: { readonly path: string; arrive(micros: number): void } | undefined;

const server = createServer({ noDelay: true }, (socket) => serve(socket));
const listening = new Promise<number>((resolve) => {
  server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
});

/** Commands of the app that the tools of bench/toolkits/bench_items call. */
export const providerCommands = {
  /** Returns the port at which the app listens. */
  port: (_: null) => listening,
  /** Returns the number of requests for single items since the last reset, without lists. */
  count: (_: null) => received,
  reset: (_: null) => {
    received = 0;
    arrivals = undefined;
  },
  /** Starts to record the arrival times of requests for items, until the next reset. */
  remember: (_: null) => {
    arrivals = [];
  },
  /** Returns the arrival times since `remember`, in microseconds of the monotonic clock, and clears the record. */
  takeArrivals: (_: null): readonly number[] => {
    const taken = arrivals ?? [];
    arrivals = [];
    return taken;
  },
  /** Resolves with the time at which the next request for an item arrives, in microseconds of the monotonic clock. */
  arrival: (id: string) =>
    new Promise<number>((resolve) => {
      awaited = { path: `/items/${id} `, arrive: resolve };
    }),
};

answerCommands(providerCommands, () => {
  server.close();
});

/**
 * Serves a connection. node:http is not used, because the app shares the machine's cores with the measured system. Only the first line and
 * the length are read.
 */
function serve(socket: Socket): void {
  let held: Buffer | undefined;
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    let rest = held === undefined ? chunk : Buffer.concat([held, chunk]);
    for (let bytes = requestBytes(rest); bytes > 0 && bytes <= rest.length; bytes = requestBytes(rest)) {
      socket.write(answerTo(rest.toString("latin1", 0, Math.min(bytes, 200))));
      rest = rest.subarray(bytes);
    }
    held = rest.length > 0 ? rest : undefined;
  });
}

function answerTo(request: string): string {
  const path = request.slice(request.indexOf(" ") + 1);
  const list = /^\/lists\/(\d+)(?:\?cursor=(\d+))? /.exec(path);
  return list ? listAnswer(Number(list[1]), Number(list[2] ?? 0)) : itemAnswer(path);
}

const itemAnswerText = answerText('{"id":"i1","state":"closed"}');

function itemAnswer(path: string): string {
  received += 1;
  arrivals?.push(monotonicMicros());
  if (awaited !== undefined && path.startsWith(awaited.path)) {
    awaited.arrive(monotonicMicros());
    awaited = undefined;
  }
  return itemAnswerText;
}

function listAnswer(total: number, from: number): string {
  const to = Math.min(total, from + pageItems);
  const items = Array.from({ length: to - from }, (_, index) => ({
    id: `i${from + index}`,
    title: `Item ${from + index} of ${total}`,
    owner: `owner ${(from + index) % 100}`,
    // `place` takes each number below the total once, in an unsorted order.
    place: ((from + index) * 7_919) % total,
  }));
  return answerText(JSON.stringify({ items, ...(to < total && { nextCursor: String(to) }) }));
}

function answerText(body: string): string {
  return `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import { answerCommands } from "./child.ts";
import { Histogram, type LatencySummary } from "./histogram.ts";
import { monotonicMicros } from "./monotonic.ts";
import { stampMark } from "./post-kinds.ts";
import { requestBytes } from "./request-bytes.ts";

/**
 * The requests that the sink (the receiver of deliveries) got since its last reset. Times are microseconds of the monotonic clock, 0 if
 * there was no request.
 */
export type SinkReport = {
  readonly received: number;
  readonly lastAtMicros: number;
  /** Latency from the post's stamp to its receipt. */
  readonly latency: LatencySummary;
};

const answer = Buffer.from("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
const mark = Buffer.from(stampMark);
let received = 0;
let lastAtMicros = 0;
let latency = new Histogram();

const server = createServer({ noDelay: true }, (socket) => receive(socket));
const listening = new Promise<number>((resolve) => {
  server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
});

/** The sink's commands. */
export const sinkCommands = {
  /** Returns the port at which the app listens. */
  port: (_: null) => listening,
  /** Forgets everything received so far. */
  reset: (_: null) => {
    received = 0;
    lastAtMicros = 0;
    latency = new Histogram();
  },
  count: (_: null) => received,
  report: (_: null): SinkReport => ({ received, lastAtMicros, latency: latency.summary() }),
};

answerCommands(sinkCommands, () => {
  server.close();
});

/**
 * Answers every request with 200 as soon as it is complete. node:http is not used, because the sink shares the machine's cores with the
 * measured system. Only the length and the stamp are read.
 */
function receive(socket: Socket): void {
  let held: Buffer | undefined;
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    let rest = held === undefined ? chunk : Buffer.concat([held, chunk]);
    for (let bytes = requestBytes(rest); bytes > 0 && bytes <= rest.length; bytes = requestBytes(rest)) {
      record(rest, bytes);
      socket.write(answer);
      rest = rest.subarray(bytes);
    }
    held = rest.length > 0 ? rest : undefined;
  });
}

function record(bytes: Buffer, end: number): void {
  received += 1;
  lastAtMicros = monotonicMicros();
  const at = bytes.indexOf(mark);
  if (at < 0 || at >= end) return;
  const stamp = Number.parseInt(bytes.toString("latin1", at + mark.length, at + mark.length + 20), 10);
  if (stamp > 0) latency.record(lastAtMicros - stamp);
}

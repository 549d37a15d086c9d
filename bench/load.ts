import { connect, type Socket } from "node:net";
import { answerCommands } from "./child.ts";
import { Histogram, type LatencySummary } from "./histogram.ts";
import { delay, monotonicMicros } from "./monotonic.ts";
import { type PostKindName, postKind } from "./post-kinds.ts";

/** Options for one run of the load generator. */
export type LoadOptions = {
  readonly port: number;
  /** Kind of posts, each of which is unique, or one fixed request that is repeated. */
  readonly post: PostKindName | { readonly request: string };
  readonly connections: number;
  /** Duration of posting in seconds. */
  readonly seconds: number;
  /** Number of posts after which a closed loop ends. Default: only time ends the run. */
  readonly postsMax?: number;
  /** Posts a second, independent of the answers (open loop). Default: every connection posts again as soon as it is answered. */
  readonly ratePerSecond?: number;
};

/** Result of a run. Times are microseconds of the monotonic clock. */
export type LoadReport = {
  readonly startedAtMicros: number;
  readonly endedAtMicros: number;
  /** Number of requests answered 2xx. */
  readonly accepted: number;
  /** Number of requests with another answer or none. */
  readonly refused: number;
  /** One answer other than 2xx, for the error message. */
  readonly firstRefusal: string;
  /** Latency from the post to its answer. */
  readonly latency: LatencySummary;
};

/** The load generator's commands. */
export const loadCommands = { run };

answerCommands(loadCommands);

let posts = 0;

async function run(options: LoadOptions): Promise<LoadReport> {
  const run = createRun(options);
  const connections = await Promise.all(
    Array.from({ length: options.connections }, () => open(options.port, run.settle)),
  );
  const startedAtMicros = monotonicMicros();
  const deadline = startedAtMicros + options.seconds * 1e6;
  await (options.ratePerSecond === undefined
    ? Promise.all(connections.map((connection) => postUntil(deadline, connection, run)))
    : postAtRate(options.ratePerSecond, startedAtMicros, deadline, connections, run.next));
  const endedAtMicros = monotonicMicros();
  for (const connection of connections) connection.socket.destroy();
  return { startedAtMicros, endedAtMicros, ...run.counts(), latency: run.latency.summary() };
}

function createRun(options: LoadOptions) {
  const latency = new Histogram();
  let accepted = 0;
  let refused = 0;
  let firstRefusal = "";
  let turns = options.postsMax ?? Number.POSITIVE_INFINITY;
  const { post } = options;
  const kind = typeof post === "string" ? postKind(post) : undefined;
  const fixed = typeof post === "string" ? "" : post.request;
  return {
    latency,
    counts: () => ({ accepted, refused, firstRefusal }),
    /** Returns true if another post may be made. */
    takeTurn: () => {
      turns -= 1;
      return turns >= 0;
    },
    next: (stamp: number) => {
      posts += 1;
      return kind === undefined ? fixed : kind.request(posts, stamp);
    },
    settle: (answer: Answer, sentAtMicros: number) => {
      latency.record(monotonicMicros() - sentAtMicros);
      if (answer.isSuccess) accepted += 1;
      else {
        refused += 1;
        firstRefusal ||= answer.text;
      }
    },
  };
}

type Answer = { readonly isSuccess: boolean; readonly text: string };

/** One keep-alive connection, with at most one request under way. */
type Connection = { readonly socket: Socket; post(request: string, sentAtMicros: number): Promise<void> };

async function postUntil(deadline: number, connection: Connection, run: ReturnType<typeof createRun>): Promise<void> {
  for (let now = monotonicMicros(); now < deadline && run.takeTurn(); now = monotonicMicros()) {
    await connection.post(run.next(now), now);
  }
}

/**
 * Posts at a fixed rate. The stamp of a post is the time when it was due, not when a connection was free. A stall of the server delays
 * every post behind it, and ignoring that would make the percentiles look better.
 */
async function postAtRate(
  ratePerSecond: number,
  startedAt: number,
  deadline: number,
  connections: readonly Connection[],
  next: (stamp: number) => string,
): Promise<void> {
  const idle = [...connections];
  const overdue: number[] = [];
  let inFlight = 0;
  const send = (connection: Connection, dueAt: number) => {
    inFlight += 1;
    void connection.post(next(dueAt), dueAt).then(() => {
      inFlight -= 1;
      const waiting = overdue.shift();
      if (waiting === undefined) idle.push(connection);
      else send(connection, waiting);
    });
  };
  let sent = 0;
  for (let now = monotonicMicros(); now < deadline; now = monotonicMicros()) {
    for (
      let dueAt = startedAt + (sent * 1e6) / ratePerSecond;
      dueAt <= now;
      dueAt = startedAt + (sent * 1e6) / ratePerSecond
    ) {
      // Connections are used in turn, because a server closes one that sends nothing for some seconds.
      const connection = idle.shift();
      if (connection === undefined) overdue.push(Math.floor(dueAt));
      else send(connection, Math.floor(dueAt));
      sent += 1;
    }
    await delay(1);
  }
  while (inFlight > 0) await delay(5);
}

const headEnd = Buffer.from("\r\n\r\n");

/**
 * Opens a connection that reads only the status and the length of an answer. node:http and undici use three times as much processor time
 * for a request, and the generator shares its cores with the measured system.
 */
function open(port: number, settle: (answer: Answer, sentAtMicros: number) => void): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    let held: Buffer | undefined;
    let sentAtMicros = 0;
    let done: (() => void) | undefined;
    const finish = (answer: Answer) => {
      held = undefined;
      const resolvePost = done;
      done = undefined;
      if (resolvePost === undefined) return;
      settle(answer, sentAtMicros);
      resolvePost();
    };
    const fail = (reason: string) => {
      finish({ isSuccess: false, text: reason });
      reject(new Error(reason));
    };
    socket.on("error", (error) => fail(error.message));
    socket.on("close", () => fail("the connection was closed"));
    socket.on("data", (chunk) => {
      held = held === undefined ? chunk : Buffer.concat([held, chunk]);
      const answer = parseAnswer(held);
      if (answer !== undefined) finish(answer);
    });
    socket.once("connect", () => {
      resolve({
        socket,
        post: (request, at) => {
          if (socket.destroyed)
            return delay(10).then(() => settle({ isSuccess: false, text: "the connection was closed" }, at));
          return new Promise((resolvePost) => {
            sentAtMicros = at;
            done = resolvePost;
            socket.write(request, "latin1");
          });
        },
      });
    });
  });
}

/** Parses the answer at the start of `bytes`. Returns undefined while it is incomplete. */
function parseAnswer(bytes: Buffer): Answer | undefined {
  const end = bytes.indexOf(headEnd);
  if (end < 0) return undefined;
  const head = bytes.toString("latin1", 0, end);
  const bodyStart = end + headEnd.length;
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  const isWhole =
    length === undefined
      ? bytes.toString("latin1", bodyStart).endsWith("0\r\n\r\n") || head.startsWith("HTTP/1.1 204")
      : bytes.length >= bodyStart + Number(length);
  if (!isWhole) return undefined;
  // Byte 9 is the first digit of the status in "HTTP/1.1 2xx".
  const isSuccess = head.charCodeAt(9) === 50;
  return { isSuccess, text: isSuccess ? "" : bytes.toString("latin1", 0, 500) };
}

import { connect, type Socket } from "node:net";
import { answerCommands } from "./child.ts";
import { Histogram, type LatencySummary } from "./histogram.ts";
import { delay, monotonicMicros } from "./monotonic.ts";
import { type PostKindName, postKind } from "./post-kinds.ts";

/** One run of the load generator. */
export type LoadOptions = {
  readonly port: number;
  /** Posts of this kind, each unique; or one fixed request, sent again and again. */
  readonly post: PostKindName | { readonly request: string };
  readonly connections: number;
  /** How long to post. */
  readonly seconds: number;
  /** Ends a closed loop after this many posts. Without it time alone ends the run. */
  readonly postsMax?: number;
  /** Posts a second, whatever the answers do (open loop). Without it every connection posts as soon as it is answered. */
  readonly ratePerSecond?: number;
};

/** How a run went; times are monotonic microseconds. */
export type LoadReport = {
  readonly startedAtMicros: number;
  readonly endedAtMicros: number;
  /** Requests answered 2xx. */
  readonly accepted: number;
  /** Requests answered otherwise, or never. */
  readonly refused: number;
  /** One answer that was not 2xx, for the error message. */
  readonly firstRefusal: string;
  /** From the post to its answer. */
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
    /** Whether another post may be made. */
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

/** One keep-alive connection with at most one request on its way. */
type Connection = { readonly socket: Socket; post(request: string, sentAtMicros: number): Promise<void> };

async function postUntil(deadline: number, connection: Connection, run: ReturnType<typeof createRun>): Promise<void> {
  for (let now = monotonicMicros(); now < deadline && run.takeTurn(); now = monotonicMicros()) {
    await connection.post(run.next(now), now);
  }
}

/**
 * Posts are stamped with the moment they were due, not when a connection was free: a stall of the server delays every
 * post behind it, and leaving that out would flatter the percentiles.
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
      // In turn, so that none stays silent: a server closes a connection that sends nothing for some seconds.
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
 * Opens a connection that reads no more of an answer than its status and its length. node:http and undici cost three
 * times as much a request, and the generator runs on the cores of what it measures.
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

/** The answer at the start of `bytes`; undefined while it is not whole. */
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
  // "HTTP/1.1 2xx"
  const isSuccess = head.charCodeAt(9) === 50;
  return { isSuccess, text: isSuccess ? "" : bytes.toString("latin1", 0, 500) };
}

import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { type Database, openDatabase } from "./connect.ts";
import { isUnavailable } from "./driver-error.ts";
import { statement } from "./statement.ts";
import { createTestDatabase } from "./testing.ts";

// What postgres.js does when it loses sessions. These hold only for the patched driver: patches/README.md.
const { db, url, drop } = await createTestDatabase({ isEmpty: true });
afterAll(drop);
await db.sql`create table written (n int4)`;
const echo = statement<{ n: number }>("echo_number", "select $1::int4 as n");

function open(options: { url: string; connectionsMax: number }): Database {
  const opened = openDatabase({ ...options, applicationName: "victim" });
  onTestFinished(() => opened.close());
  return opened;
}

/** Ends every session `open` has. */
function endSessions(): Promise<unknown> {
  return db.sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity
    where application_name = 'victim' and datname = current_database()`;
}

/** A way to the server that can be cut: each of its connections then ends with a reset. */
async function startCutter(): Promise<{ url: string; cut(): void }> {
  const { hostname, port: serverPort } = new URL(url);
  const sockets = new Set<Socket>();
  const server: Server = createServer((downstream) => {
    const upstream = connect(Number(serverPort), hostname);
    for (const socket of [downstream, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    }
    downstream.pipe(upstream).pipe(downstream);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as { port: number };
  const cutUrl = new URL(url);
  cutUrl.host = `127.0.0.1:${port}`;
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return { url: cutUrl.href, cut };
}

function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

test("a query sent right after a connection was reset is settled, and the connection is used again", async () => {
  const cutter = await startCutter();
  const single = open({ url: cutter.url, connectionsMax: 1 });
  await echo(single, [0]);
  for (let n = 1; n <= 5; n++) {
    const cutOff = errorOf(echo(single, [n]));
    cutter.cut();
    expect(isUnavailable(await cutOff)).toBe(true);
    const next = await errorOf(echo(single, [n]));
    expect(next === undefined || isUnavailable(next)).toBe(true);
    expect(await echo(single, [n])).toEqual([{ n }]);
  }
});

test("a query after a session that was ended is answered", async () => {
  const single = open({ url, connectionsMax: 1 });
  await echo(single, [1]);
  const sleeping = errorOf(single.sql`select pg_sleep(20)`);
  await endSessions();
  expect(isUnavailable(await sleeping)).toBe(true);
  const next = await errorOf(echo(single, [2]));
  expect(next === undefined || isUnavailable(next)).toBe(true);
  expect(await echo(single, [2])).toEqual([{ n: 2 }]);
});

test("a transaction that lost its session writes nothing more", async () => {
  const single = open({ url, connectionsMax: 1 });
  const lost = single.sql.begin(async (tx) => {
    await tx`insert into written values (1)`;
    await endSessions();
    // The pool has a new session by then, on the connection the transaction had.
    await errorOf(echo(single, [1]));
    await echo(single, [1]);
    await tx`insert into written values (2)`;
  });
  expect(isUnavailable(await errorOf(lost))).toBe(true);
  expect(await single.sql`select n from written`).toEqual([]);
});

test("queries a transaction has queued are settled when it loses its session", async () => {
  const single = open({ url, connectionsMax: 1 });
  const queued: Promise<unknown>[] = [];
  const lost = single.sql.begin(async (tx) => {
    const sleeping = tx`select pg_sleep(20)`;
    queued.push(errorOf(sleeping), errorOf(echo(tx, [1])), errorOf(echo(tx, [2])));
    await endSessions();
    await sleeping;
  });
  expect(isUnavailable(await errorOf(lost))).toBe(true);
  for (const error of await Promise.all(queued)) expect(isUnavailable(error)).toBe(true);
});

test("under load every query is settled with its own answer while sessions are ended", async () => {
  const pool = open({ url, connectionsMax: 4 });
  let isOver = false;
  const work = async (worker: number) => {
    for (let n = worker * 1_000_000; !isOver; n++) {
      const answer =
        n % 3 === 0
          ? pool.sql.begin(async (tx) => {
              await Promise.all([tx`select 1`, tx`select pg_sleep(0.001)`]);
              return await echo(tx, [n]);
            })
          : echo(pool, [n]);
      const result = await answer.catch((error: unknown) => (isUnavailable(error) ? "lost" : error));
      if (result !== "lost") expect(result).toEqual([{ n }]);
    }
  };
  const workers = Array.from({ length: 16 }, (_, worker) => work(worker));
  for (let round = 0; round < 4; round++) {
    await db.sql`select pg_sleep(0.05)`;
    await endSessions();
  }
  isOver = true;
  await Promise.all(workers);
});

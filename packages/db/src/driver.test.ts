import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { getCACertificates, setDefaultCACertificates, TLSSocket } from "node:tls";
import { createCertificate } from "@svc/testing/certificate";
import { createTestDatabase, databaseUrl } from "@svc/testing/database";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { type Database, openDatabase } from "./connect.ts";
import { isUnavailable } from "./driver.ts";
import { statement } from "./sql/statement.ts";

// Behaviour of postgres.js when it loses sessions. These tests pass only with the patched driver: patches/README.md.
const { db, tcpUrl: url, drop } = await createTestDatabase({ isEmpty: true });
afterAll(drop);
await db.sql`create table written (n int4)`;
const echo = statement<{ n: number }>("test_echo_number", "select $1::int4 as n");

function open(options: { url: string; connectionsMax: number }): Database {
  const opened = openDatabase({ ...options, applicationName: "victim" });
  onTestFinished(() => opened.close());
  return opened;
}

/** Ends all database sessions of the pools that `open` created. */
function endSessions(): Promise<unknown> {
  return db.sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity
    where application_name = 'victim' and datname = current_database()`;
}

/** Starts a proxy in front of the server. `cut()` breaks the proxy: it resets each of its connections. */
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
    // The pool has opened a new session in place of the one that the transaction used.
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

/** Returns the URL of the test's database, with other hosts and ports. */
function withHosts(...hosts: string[]): string {
  return url.replace(new URL(url).host, hosts.join(","));
}

/** Returns an address `host:port` where no server listens. */
async function deadHost(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return `127.0.0.1:${port}`;
}

test("of several hosts the one that answers is used, anywhere in the list", async () => {
  const [dead, alive] = [await deadHost(), new URL(url).host];
  for (const list of [withHosts(dead, alive), withHosts(alive, dead), withHosts(dead, dead, alive)]) {
    const pool = open({ url: list, connectionsMax: 3 });
    for (let round = 0; round < 2; round++) {
      const answers = await Promise.all([1, 2, 3].map((n) => echo(pool, [n])));
      expect(answers).toEqual([[{ n: 1 }], [{ n: 2 }], [{ n: 3 }]]);
      await pool.sql`select 1`;
      await endSessions();
      // Connections that are idle notice the end of their sessions at the next query.
      await Promise.all([1, 2, 3].map(() => errorOf(echo(pool, [0]))));
    }
  }
});

test("a query is refused when none of several hosts answers, and the next tries them again", async () => {
  const list = open({ url: withHosts(await deadHost(), await deadHost()), connectionsMax: 1 });
  for (let round = 0; round < 2; round++) expect(isUnavailable(await errorOf(echo(list, [1])))).toBe(true);
});

test("a host that should be writable and is not refuses the query as a standby does", async () => {
  await db.sql`create role reader login`;
  await db.sql`alter role reader set default_transaction_read_only = on`;
  const address = new URL(url);
  address.username = "reader";
  address.searchParams.set("target_session_attrs", "read-write");
  const alone = open({ url: address.href, connectionsMax: 1 });
  const error = await errorOf(echo(alone, [1]));
  await alone.close();
  await db.sql`drop role reader`;
  expect(isUnavailable(error)).toBe(true);
});

test("a database that takes no connections is unavailable until it does, and a statement's own 55000 is not", async () => {
  const single = open({ url, connectionsMax: 1 });
  await echo(single, [1]);
  const [server] = await db.sql`select current_database() as name`;
  // This session uses another database. PostgreSQL cannot close a database to new sessions while the statement's own session uses it.
  const elsewhere = open({ url: databaseUrl(url, "postgres"), connectionsMax: 1 });
  const name = elsewhere.sql(server?.["name"]);
  await elsewhere.sql`alter database ${name} with allow_connections false`;
  await endSessions();
  const refused = [];
  // Connections that are idle notice the end of their sessions at the next query.
  for (let n = 0; n < 3; n++) refused.push(await errorOf(echo(single, [n])));
  await elsewhere.sql`alter database ${name} with allow_connections true`;
  expect(refused.map(isUnavailable)).toEqual([true, true, true]);
  expect(refused.at(-1)).toMatchObject({ code: "55000" });
  expect(await echo(single, [4])).toEqual([{ n: 4 }]);
  await db.sql`create sequence unused`;
  const ofStatement = await errorOf(single.sql`select currval('unused')`);
  expect(ofStatement).toMatchObject({ code: "55000" });
  expect(isUnavailable(ofStatement)).toBe(false);
});

/** Starts a proxy in front of the server that speaks TLS with its clients. Returns its URL, and how many clients came over TLS. */
async function startTlsProxy(certificate: { cert: string; key: string }): Promise<{ url: URL; clients: () => number }> {
  const { hostname, port: serverPort } = new URL(url);
  let clients = 0;
  const server = createServer((downstream) => {
    // The first packet asks for TLS; `S` agrees.
    downstream
      .on("error", () => {})
      .once("data", () => {
        downstream.write("S");
        const encrypted = new TLSSocket(downstream, { isServer: true, ...certificate }).on("error", () => {});
        encrypted.once("secure", () => {
          clients++;
          const upstream = connect(Number(serverPort), hostname).on("error", () => {});
          encrypted.pipe(upstream).pipe(encrypted);
        });
      });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const proxied = new URL(url);
  proxied.host = `localhost:${(server.address() as { port: number }).port}`;
  return { url: proxied, clients: () => clients };
}

test("sslmode decides if the connection is encrypted, and if the server's certificate is checked", async () => {
  const certificate = createCertificate();
  const proxy = await startTlsProxy(certificate);
  const ask = (mode: string) => {
    const over = new URL(proxy.url);
    over.searchParams.set("sslmode", mode);
    return echo(open({ url: over.href, connectionsMax: 1 }), [1]);
  };
  expect(await ask("require")).toEqual([{ n: 1 }]);
  expect(proxy.clients()).toBe(1);
  await expect(ask("verify-full")).rejects.toMatchObject({ code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
  const trusted = getCACertificates();
  setDefaultCACertificates([...trusted, certificate.cert]);
  onTestFinished(() => setDefaultCACertificates(trusted));
  expect(await ask("verify-full")).toEqual([{ n: 1 }]);
});

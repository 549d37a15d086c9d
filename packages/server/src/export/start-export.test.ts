import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { createId } from "@svc/core";
import { addActivityHours } from "@svc/db/activity/write";
import { chainAuditEvents, putAuditChain } from "@svc/db/audit/chains";
import { insertAuditEvent } from "@svc/db/audit/list";
import { createTestClock, type TestClock } from "@svc/testing/clock";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { startTestReceiver } from "@svc/testing/receiver";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ExportTarget } from "../config/export-target.ts";
import { createLogger } from "../logger.ts";
import { startExport } from "./start-export.ts";
import { openTarget } from "./targets.ts";

const hourMs = 3_600_000;
const folder = mkdtempSync(join(tmpdir(), "svc-export-"));
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
  rmSync(folder, { recursive: true });
});

/** Exports to a target while `work` runs. `round`: makes the export look once, and waits until it has finished. */
async function exporting(
  target: ExportTarget,
  clock: TestClock,
  work: (round: (ms?: number) => Promise<void>) => Promise<void>,
) {
  const logger = await createLogger({ level: "silent", destination: { write: () => {} } });
  const loop = startExport(target, { db: database.db, clock, logger });
  const isWaiting = () => until(() => clock.waiting() === 1);
  await isWaiting();
  try {
    await work(async (ms = 20_000) => {
      clock.advance(ms);
      await isWaiting();
    });
  } finally {
    await loop.stop();
  }
}

/** Stores counts of a new project for the hour in which the clock is. Returns the project. */
async function use(clock: TestClock) {
  const projectId = createId("prj", clock.now());
  const at = clock.now() - (clock.now() % hourMs);
  const one = { projectId, subject: "", at, count: 3 };
  await addActivityHours(database.db, [
    { ...one, series: "events", outcome: "stored" },
    { ...one, series: "calls", outcome: "ok" },
    { ...one, series: "calls", outcome: "timeout", count: 1 },
    { ...one, series: "call_latency", outcome: "7" },
    { ...one, series: "calls", subject: "sales_crm.list_deals", outcome: "ok" },
  ]);
  return { projectId, from: new Date(at).toISOString(), until: new Date(at + hourMs).toISOString() };
}

const countsOfUse = { events: { stored: 3 }, calls: { ok: 3, timeout: 1 } };
const rowOf = ({ projectId, ...times }: Awaited<ReturnType<typeof use>>) => {
  return { kind: "usage", id: `${projectId}/${times.from}`, projectId, ...times, counts: countsOfUse };
};
const linesOf = (body: string) =>
  body
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));

test("a collector that fails gets the usage of the same hour again, and then not a second time", async () => {
  await using receiver = await startTestReceiver();
  receiver.script({ status: 503 }, { status: 200 });
  const clock = createTestClock(Date.UTC(2026, 0, 5, 9, 30));
  const target = { kind: "http", address: receiver.url, url: receiver.url, token: "token-of-the-collector" } as const;
  await exporting(target, clock, async (round) => {
    await round();
    const used = await use(clock);
    // The hour ends, and ten minutes later its counts are complete.
    clock.advance(hourMs / 2 + 599_000);
    await round();
    expect(receiver.requests).toHaveLength(1);
    await round();
    await round();
    expect(receiver.requests).toHaveLength(2);
    for (const { headers, body } of receiver.requests) {
      expect(headers).toMatchObject({
        authorization: "Bearer token-of-the-collector",
        "content-type": "application/x-ndjson",
      });
      expect(linesOf(body.toString())).toEqual([rowOf(used)]);
    }
  });
});

test("a file gets lines, and an incomplete line at its end stays, apart from the records", async () => {
  const path = join(folder, "records.jsonl");
  appendFileSync(path, '{"kind":"audit"}\n{"kind":"aud');
  const clock = createTestClock(Date.UTC(2026, 0, 6, 9, 30));
  await exporting({ kind: "file", address: `file://${path}`, path }, clock, async (round) => {
    await round();
    const first = await use(clock);
    await round(hourMs);
    const second = await use(clock);
    await round(hourMs);
    const [complete = "", broken, ...lines] = readFileSync(path, "utf8").split(/(?<=\n)/);
    expect([JSON.parse(complete), broken]).toEqual([{ kind: "audit" }, '{"kind":"aud\n']);
    expect(linesOf(lines.join(""))).toEqual([rowOf(first), rowOf(second)]);
  });
});

test("a syslog receiver gets messages of RFC 5424, each after its length", async () => {
  let received = "";
  const server = createServer((socket) => {
    socket.on("data", (chunk) => {
      received += chunk.toString("utf8");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const clock = createTestClock(Date.UTC(2026, 0, 7, 9, 30));
  const target = { kind: "syslog", address: "syslog://a", host: "127.0.0.1", port, isTls: false } as const;
  try {
    await exporting(target, clock, async (round) => {
      await round();
      const used = await use(clock);
      clock.advance(2 * hourMs);
      await round();
      const [, length, message = ""] = /^(\d+) (.*)$/s.exec(received) ?? [];
      expect(Buffer.byteLength(message)).toBe(Number(length));
      const [, json = ""] =
        /^<134>1 2026-01-07T09:00:00\.000Z [\x21-\x7e]+ svc - usage - (\{.*\})$/.exec(message) ?? [];
      expect(JSON.parse(json)).toEqual(rowOf(used));
    });
  } finally {
    server.close();
  }
});

/** Stores an audit log with `length` entries of a new project. Returns the project. */
async function audited(clock: TestClock, length: number) {
  const at = clock.now();
  const projectId = createId("prj", at);
  const [outcome, hash] = ["ok", Buffer.alloc(32)] as const;
  const ids = Array.from({ length }, () => createId("aud", at));
  for (const id of ids)
    await insertAuditEvent(database.db, {
      ...{ id, at, projectId, actor: "admin", outcome, actorId: null },
      ...{ action: "Test", subject: "", entityDigest: null },
    });
  const chained = ids.map((id, index) => ({ id, entityDigest: null, outcome, position: index + 1, mac: hash, hash }));
  await chainAuditEvents(database.db, chained);
  await putAuditChain(database.db, { projectId, key: hash, length, hash, mac: hash });
  return projectId;
}

/** Starts a collector. Each batch that it gets takes five seconds of the clock, so that a run sends only one. */
async function startSlowCollector(clock: TestClock) {
  const batches: { kind: string; projectId: string; position?: number }[][] = [];
  const server = createHttpServer(async (req, res) => {
    batches.push(linesOf(await text(req)));
    clock.advance(5_000);
    res.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const url = `http://127.0.0.1:${port}`;
  const target = { kind: "http", address: `${url}/${createId("prj", 0)}`, url, token: undefined } as const;
  return { target, batches, [Symbol.asyncDispose]: async () => void server.close() };
}

test("a pipe is no target for a file, because nothing may read from it", async () => {
  const path = join(folder, "pipe");
  await promisify(execFile)("mkfifo", [path]);
  const record = { kind: "audit", at: 0, json: "{}" } as const;
  const sent = openTarget({ kind: "file", address: `file://${path}`, path }).send([record]);
  await expect(sent).rejects.toThrow(`${path} is not a regular file`);
});

test("records that the target refuses do not hold back those of other projects", async () => {
  await using receiver = await startTestReceiver();
  const clock = createTestClock(Date.UTC(2026, 0, 8, 9, 30));
  const target = { kind: "http", address: `${receiver.url}/chains`, url: receiver.url, token: undefined } as const;
  await exporting(target, clock, async (round) => {
    await round();
    const used = await use(clock);
    const projects = [await audited(clock, 1), await audited(clock, 1)];
    clock.advance(hourMs + 600_000);
    receiver.script({ status: 400 }, { status: 200 });
    await round();
    const sent = receiver.requests.flatMap(({ body }) => linesOf(body.toString()));
    expect(sent.map(({ projectId }) => projectId).sort()).toEqual([...projects, used.projectId].sort());
    await round();
    expect(linesOf(receiver.requests.at(-1)?.body.toString() ?? "")).toEqual([sent[0]]);
  });
});

test("a busy project delays neither the audit log of a quiet one nor the usage", async () => {
  const clock = createTestClock(Date.UTC(2026, 0, 9, 9, 30));
  await using collector = await startSlowCollector(clock);
  // The logs of earlier tests count as sent.
  const stream = `audit ${createHash("sha256").update(collector.target.address).digest("hex")}`;
  await database.db.sql`insert into export_positions select ${stream}, project_id, length from audit_chains`;
  const batchesOf = () => collector.batches.map(([one]) => (one?.kind === "usage" ? "usage" : one?.projectId));
  await exporting(collector.target, clock, async (round) => {
    await round();
    await use(clock);
    clock.advance(2 * hourMs);
    const busy = await audited(clock, 1_200);
    const quiet = await audited(clock, 1);
    for (let runs = 0; runs < 5; runs++) await round();
    const [first, ...others] = batchesOf();
    expect(new Set([first, ...others])).toEqual(new Set([busy, quiet, "usage"]));
    // Audit log and usage alternate, and so do the projects while both have entries.
    expect(batchesOf().slice(0, 3).toSorted()).toEqual([busy, quiet, "usage"].toSorted());
    for (let runs = 0; runs < 3; runs++) await round();
    const sent = collector.batches.flat().filter(({ projectId, kind }) => kind === "audit" && projectId === busy);
    expect(sent.map(({ position }) => position)).toEqual(Array.from({ length: 1_200 }, (_, index) => index + 1));
  });
});

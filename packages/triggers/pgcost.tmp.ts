import { readdirSync, readFileSync } from "node:fs";
import { createId } from "@svc/core";
import { openDatabase, createProject, record, settle } from "@svc/db";
import { startTestPostgres } from "@svc/db/testing";
import { migrateDatabase } from "../db/src/migrate.ts";
function ppid(p: number) { const st = readFileSync(`/proc/${p}/stat`, "utf8"); return Number(st.slice(st.lastIndexOf(")") + 2).split(" ")[1]); }
function isMine(p: number) { for (let q = p; q > 1; q = ppid(q)) if (q === process.pid) return true; return false; }
function pgCpuMs() { let t = 0; for (const d of readdirSync("/proc")) { if (!/^\d+$/.test(d)) continue; try { const cmd = readFileSync(`/proc/${d}/cmdline`, "utf8"); if (!cmd.startsWith("postgres") && !cmd.includes("native/bin/postgres")) continue; const st = readFileSync(`/proc/${d}/stat`, "utf8"); const f = st.slice(st.lastIndexOf(")") + 2).split(" "); if (!isMine(Number(d))) continue; t += (Number(f[11]) + Number(f[12])) * 10; } catch {} } return t; }
const pg = await startTestPostgres();
await migrateDatabase(pg.url);
const db = openDatabase({ url: pg.url, connectionsMax: 1 });
for (const q of (process.env.ALTER ?? "").split(";").filter((x) => x.trim())) await db.sql.unsafe(q);
const project = await createProject(db, "default", Date.now());
const owner = createId("node", Date.now()); const sub = createId("sub", Date.now());
const B = Number(process.argv[2] ?? 64), R = Number(process.argv[3] ?? 300);
let n = 0; const wal = async () => Number((await db.sql`select pg_wal_lsn_diff(pg_current_wal_lsn(),'0/0')::float8 as x`)[0]!.x);
async function round(times: number) {
  let rec = 0, set = 0; let w1 = 0, w2 = 0, t1 = 0, t2 = 0;
  for (let r = 0; r < times; r++) {
    const now = Date.now();
    const events = Array.from({ length: B }, () => { n++; return { id: createId("evt", now), projectId: project.id, kind: "event" as const, toolkitSlug: "calendar", triggerSlug: "calendar.events_changed", entityId: "", payload: JSON.stringify({ calendar_id: "primary", channel_id: "c", message_number: n, resource_id: "r", resource_state: "exists", resource_uri: "https://x/calendars/primary/events" }), occurredAtMs: now, receivedAtMs: now, dedupeKey: `c:${n}`, deliveries: [{ id: createId("dlv", now), subscriptionId: sub, leased: true }] }; });
    let a = process.hrtime.bigint();
    await record(db, events, undefined, { owner, untilMs: now + 30000 });
    let b = process.hrtime.bigint(); t1 += Number(b - a);
    await settle(db, owner, events.map((e) => ({ id: e.deliveries[0]!.id, projectId: project.id, subscriptionId: sub, queuedAtMs: now, state: "delivered" as const, number: 1, dueAtMs: now, error: "", startedAtMs: now, durationMs: 3, requestUrl: "http://127.0.0.1:9999/hook", address: "127.0.0.1", statusCode: 200, responseHeaders: { date: "Sat, 21 Nov 2026 13:45:08 GMT", connection: "keep-alive", "keep-alive": "timeout=5", "content-length": "0" }, responseBody: "" })) as any);
    t2 += Number(process.hrtime.bigint() - b);
  }
  return { t1: Math.round(t1 / 1000 / times / B), t2: Math.round(t2 / 1000 / times / B) };
}
await round(50);
const c0 = pgCpuMs(), w0 = await wal();
const t = await round(R);
console.log(process.env.ALTER ?? "base", { ...t, pgUs: Math.round((pgCpuMs() - c0) * 1000 / R / B), walBytes: Math.round(((await wal()) - w0) / R / B) }, JSON.stringify(await db.sql`select relname, n_tup_upd u, n_tup_hot_upd h from pg_stat_user_tables where relname in ('deliveries')`));
await db.close(); await pg.stop(); process.exit(0);

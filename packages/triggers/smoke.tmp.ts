import { createServer } from "node:http";
import { catalogOf, sampleToolkits } from "@svc/catalog/testing";
import { createAddressGuard, createId, createSealer, parseVaultKeys, generateVaultKey, systemClock } from "@svc/core";
import { openDatabase, createProject, subscriptionsForProject } from "@svc/db";
import { startTestPostgres } from "@svc/db/testing";
import { createDispatcher, signingSecretContext } from "@svc/delivery";
import { migrateDatabase } from "../db/src/migrate.ts";
import { createIngest } from "./src/index.ts";

const pg = await startTestPostgres();
await migrateDatabase(pg.url);
const db = openDatabase({ url: pg.url });
const sealer = createSealer(parseVaultKeys(generateVaultKey()));
const guard = createAddressGuard({ allowedRanges: ["127.0.0.0/8"] });
const nodeId = createId("node", Date.now());
let delivered = 0;
const dispatcher = createDispatcher({ db, clock: systemClock, sealer, guard, nodeId, random: Math.random,
  observer: { attempted: (a) => { if (a.error) console.log(a); delivered++; }, leasesLost: (n) => console.log("lost", n), failed: (w, e) => console.log(w, e) },
  limits: { endpointConcurrency: 16, retryScheduleMs: [1000, 1000] } });
dispatcher.start();
const catalog = catalogOf({ toolkits: Object.values(sampleToolkits) });
const ingest = createIngest({ db, catalog, clock: systemClock, sealer, nodeId, dispatcher, secretOf: () => "s3cret" });
let got = 0;
const sink = createServer((req, res) => { req.resume(); req.on("end", () => { got++; res.end(); }); }).listen(0, "127.0.0.1");
await new Promise((r) => sink.once("listening", r));
const port = (sink.address() as any).port;
const project = await createProject(db, "default", Date.now());
const subId = createId("sub", Date.now());
await subscriptionsForProject(db, project.id).create({ id: subId, endpointUrl: `http://127.0.0.1:${port}/x`, toolkitSlug: "", triggerSlug: "", createdAt: Date.now(), signingSecret: sealer.seal(Buffer.from("whsec_" + Buffer.alloc(32, 1).toString("base64")), signingSecretContext(project.id, subId)) });
const N = Number(process.argv[2] ?? 20000);
const post = (i: number) => ({ toolkitSlug: "watcher", headers: { "x-watch-state": "exists", "x-watch-channel": "c1", "x-watch-number": String(i) }, query: new URLSearchParams({ token: "s3cret" }), body: Buffer.alloc(0) });

console.log(await ingest.accept(post(0) as any));

import { readdirSync, readFileSync } from "node:fs";
function pgCpuMs() { let t = 0; for (const d of readdirSync("/proc")) { if (!/^\d+$/.test(d)) continue; try { const cmd = readFileSync(`/proc/${d}/cmdline`, "utf8"); if (!cmd.startsWith("postgres") && !cmd.includes("native/bin/postgres")) continue; const st = readFileSync(`/proc/${d}/stat`, "utf8"); const f = st.slice(st.lastIndexOf(")") + 2).split(" "); if (!isMine(Number(d))) continue; t += (Number(f[11]) + Number(f[12])) * 10; } catch {} } return t; }
function ppid(p: number) { const st = readFileSync(`/proc/${p}/stat`, "utf8"); return Number(st.slice(st.lastIndexOf(")") + 2).split(" ")[1]); }
function isMine(p: number) { for (let q = p; q > 1; q = ppid(q)) if (q === process.pid) return true; return false; }
async function run(n: number, base: number) {
  const start = Date.now(); const d0 = delivered; const c0 = process.cpuUsage(); const p0 = pgCpuMs();
  let next = 0; let accepted = 0;
  await Promise.all(Array.from({ length: Number(process.argv[3] ?? 64) }, async () => { while (next < n) { const i = next++; const r = await ingest.accept(post(base + i) as any); if (r.outcome !== "accepted") console.log(r); accepted++; } }));
  const ackMs = Date.now() - start;
  while (delivered - d0 < n) await new Promise((r) => setTimeout(r, 5));
  while (dispatcher.stats().held > 0) await new Promise((r) => setTimeout(r, 5));
  const ms = Date.now() - start; const c = process.cpuUsage(c0);
  console.log({ n, ackRate: Math.round((n / ackMs) * 1000), deliveredRate: Math.round((n / ms) * 1000), got, pgUsPerEvent: Math.round((pgCpuMs() - p0) * 1000 / n), cpuUsPerEvent: Math.round((c.user + c.system) / n) });
}
await run(2000, 100);
await run(N, 100000);
await run(N, 1000000);
const rows = await db.sql`select state, attempts, count(*) from deliveries group by 1,2`; console.log(rows);
console.log(await db.sql`select count(*) from delivery_tasks`, await db.sql`select count(*) from delivery_attempts`, await db.sql`select n_tup_upd, n_tup_hot_upd, relname from pg_stat_user_tables where relname like 'deliver%'`);
console.log(await db.sql`select * from deliveries limit 1`, await db.sql`select * from delivery_attempts limit 1`);
await dispatcher.drain(5000); await db.close(); await pg.stop(); process.exit(0);

import { startServerProcess, bootstrapKey, vaultKey, call } from "/work/main/packages/testing/src/server-process.ts";
import { startTestPostgres } from "/work/main/packages/testing/src/database.ts";
import { readFile } from "node:fs/promises";
const pg = await startTestPostgres({durability:"none"});
const server = await startServerProcess({ SVC_DATABASE_URL: pg.url, SVC_VAULT_KEY: vaultKey(), SVC_SANDBOX: "force", ...(process.env.PROF ? { NODE_OPTIONS: "--cpu-prof --cpu-prof-dir=/tmp/p1/prof" } : {}) });
console.log(server.url);
await call(server, "ConnectionsService/InitiateConnection", { toolkitSlug: "messaging_bot", entityId: "ops", apiKey: "sandbox" });
const send = async (body, headers = {}) => { const t = performance.now(); const r = await fetch(server.url + "/svc.v1.ToolsService/CallTool", { method: "POST", headers: { authorization: `Bearer ${bootstrapKey}`, "content-type": "application/json", ...headers }, body }); const text = await r.text(); return [r.status, Math.round(performance.now() - t), text.slice(0, 150), text.length]; };
const bodies = {
  objects: JSON.stringify({ toolSlug: "messaging_bot.send_message", entityId: "ops", argumentsJson: '{"chat_id":"1","text":[' + "{},".repeat(Number(process.env.NV ?? 300000)) + "{}]}" }),
  unknown: JSON.stringify({ toolSlug: "messaging_bot.send_message", entityId: "ops", argumentsJson: "{" + Array.from({ length: Number(process.env.NK ?? 60000) }, (_, i) => `"k${i}":{}`).join() + "}" }),
  envelope: "[" + "[0,".repeat(90) + Array(340000).fill("{}").join().slice(0, 1040000),
  escaped: '{"argumentsJson":"' + "\\u0061".repeat(170000) + '"}',
};
import { gzipSync } from "node:zlib"; import http from "node:http"; import { fork } from "node:child_process";
const agent = new http.Agent({ keepAlive: true, maxSockets: 300 });
const zipped = (name) => { const b = process.env.GZ ? gzipSync(bodies[name]) : Buffer.from(bodies[name]); return () => new Promise((ok) => { const t = performance.now(); const r = http.request({ agent, host: "127.0.0.1", port: new URL(server.url).port, path: "/svc.v1.ToolsService/CallTool", method: "POST", timeout: 20000, headers: { authorization: `Bearer ${bootstrapKey}`, "content-type": "application/json", ...(process.env.GZ ? { "content-encoding": "gzip" } : {}) } }, (res) => { let n = 0; res.on("data", (c) => (n += c.length)); res.on("end", () => ok([res.statusCode, performance.now() - t])); }); r.on("timeout", () => r.destroy(new Error("timeout"))); r.on("error", (e) => ok([String(e), 0])); r.end(b); }); };
const rss = async () => Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${server.process.pid}/status`, "utf8"))[1]) / 1024);
import { createProjectKey } from "./attacks/projects.ts"; import net from "node:net";
const otherKey = await createProjectKey(server, "bystander");
if (process.argv[2] === "chunk") {
  const { startBystander } = await import("./attacks/bystander.ts"); const by = await startBystander(server, { key: otherKey });
  const N = Number(process.argv[3]); let b = ""; const path = process.argv[4] ?? "/svc.v1.ToolsService/CallTool"; const key = process.argv[5] === "key" ? bootstrapKey : "";
  const pipe = process.env.PIPE; const piece = pipe ? "GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(150000) : "1\r\n \r\n".repeat(1e6);
  const open = () => { const s = net.connect({ port: new URL(server.url).port, host: "127.0.0.1", localAddress: "127.0.0.2" }); s.on("error", (e) => (b += " " + e.code)); s.on("data", (d) => (b.length < 1e5 && (b += " " + String(d).slice(9, 12)))); s.on("close", () => { if (Date.now() < end) setTimeout(open, 20); }); if (!pipe) s.write("POST " + path + " HTTP/1.1\r\nHost: localhost\r\n" + (key ? "Authorization: Bearer " + key + "\r\n" : "") + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"); s.write(piece); };
  const end = Date.now() + 8000; for (let i = 0; i < N; i++) open(); await new Promise((r) => setTimeout(r, 8500)); const rep = await by.stop(); console.log("chunk", N, path, key ? "keyed" : "", JSON.stringify(rep).slice(0, 200), b.length, b.slice(0, 60), "rss", await rss()); await server.end("SIGTERM"); await pg.stop(); process.exit();
}
const names = process.argv[2] ? process.argv[2].split(",") : Object.keys(bodies);
const C = Number(process.argv[3] ?? 1), T = Number(process.argv[4] ?? 10);
for (const name of names) {
  console.log(name, JSON.stringify(await send(bodies[name])));
  let lat = [], stop = false; const { startBystander } = await import("./attacks/bystander.ts"); const by = await startBystander(server, { key: otherKey });
  const probe = (async () => { while (!stop) { const t = performance.now(); await fetch(server.url + "/svc.v1.CatalogService/GetTool", { method: "POST", headers: { authorization: `Bearer ${bootstrapKey}`, "content-type": "application/json" }, body: '{"slug":"messaging_bot.send_message"}' }).then((r) => r.text()); lat.push(performance.now() - t); await new Promise((r) => setTimeout(r, 20)); } })();
  const go = zipped(name); let n = 0, peak = 0; const end = Date.now() + T * 1000; const st = {};
  const watch = setInterval(async () => { peak = Math.max(peak, await rss()); }, 100);
  await Promise.all(Array.from({ length: C }, async () => { while (Date.now() < end) { const [s] = await go(); st[s] = (st[s] ?? 0) + 1; n++; } }));
  const rep = await by.stop(); await by[Symbol.asyncDispose](); console.log("bystander", Math.round(rep.p50Ms), Math.round(rep.p99Ms), Math.round(rep.maxMs), rep.calls, rep.failures.slice(0,2)); stop = true; await probe; clearInterval(watch);
  lat.sort((a, b) => a - b);
  console.log(name, "C", C, "n", n, st, "probe p50", Math.round(lat[lat.length >> 1]), "p99", Math.round(lat[Math.floor(lat.length * 0.99)]), "max", Math.round(lat.at(-1)), "calls", lat.length, "rss peak", peak, "now", await rss());
}
await server.end("SIGTERM"); await pg.stop(); process.exit();

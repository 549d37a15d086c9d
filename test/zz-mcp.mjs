import { startServerProcess, bootstrapKey, vaultKey, call } from "/work/main/packages/testing/src/server-process.ts";
import { startTestPostgres } from "/work/main/packages/testing/src/database.ts";
import { cpuMsOf } from "./attacks/cpu.ts";
const pg = await startTestPostgres({durability:"none"});
const server = await startServerProcess({ SVC_DATABASE_URL: pg.url, SVC_VAULT_KEY: vaultKey(), SVC_SANDBOX: "force", ...(process.env.PROF ? { NODE_OPTIONS: "--cpu-prof --cpu-prof-dir=/tmp/p1/prof" } : {}) });
await call(server, "ConnectionsService/InitiateConnection", { toolkitSlug: "sales_crm", entityId: "ops", apiKey: "sandbox" });
const named = (count) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, 1]));
const mcp = (args) => ["/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "call_tool", arguments: { slug: "sales_crm.list_deals", entity_id: "ops", ...args } } }];
const cases = { rpc: ["/svc.v1.ToolsService/CallTool", { toolSlug: "sales_crm.list_deals", entityId: "ops", argumentsJson: JSON.stringify(named(60000)) }], args: mcp({ arguments: named(60000) }), props: mcp(named(60000)) };
for (const name of (process.argv[2] ?? "rpc,args,props").split(",")) {
  const [path, body] = cases[name]; const text = JSON.stringify(body);
  for (let r = 0; r < 2; r++) {
  const before = await cpuMsOf(server.process.pid); const N = 20; let last; const t = performance.now();
  for (let i = 0; i < N; i++) { const a = await fetch(server.url + path, { method: "POST", headers: { authorization: `Bearer ${bootstrapKey}`, "content-type": "application/json", accept: "application/json, text/event-stream" }, body: text }); last = (await a.text()).slice(0, 100); }
  console.log(name, "cpu", ((await cpuMsOf(server.process.pid)) - before) / N, "wall", (performance.now() - t) / N, last); }
}
await server.end("SIGTERM"); await pg.stop(); process.exit();

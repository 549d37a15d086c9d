// Runs the steps of docs/guides/tools/inspect-tools-at-a-terminal.md with the MCP inspector against a service in sandbox mode: it lists
// tools, reads and writes. node scripts/inspect-mcp.mjs [address], with the key of a project in SVC_API_KEY.
import { spawnSync } from "node:child_process";

const [address = "http://127.0.0.1:8080/mcp"] = process.argv.slice(2);
const key = process.env.SVC_API_KEY;
if (!key) {
  process.stderr.write("SVC_API_KEY is not set: the key of a project whose entity ada has an account of sales_crm.\n");
  process.exit(1);
}

const steps = [
  ["list", ["--method", "tools/list"], ({ tools }) => tools.some(({ name }) => name === "read_tool")],
  ["read", callOf("read_tool", "sales_crm.list_deals", { limit: 5 }), isDone],
  ["write", callOf("call_tool", "sales_crm.create_deal", { title: "Big one" }), isDone],
];

function callOf(tool, slug, args) {
  const given = [`slug=${slug}`, "entity_id=ada", `arguments=${JSON.stringify(args)}`];
  return ["--method", "tools/call", "--tool-name", tool, "--tool-arg", ...given];
}

function isDone({ structuredContent }) {
  return structuredContent?.outcome === "ok";
}

let failed = 0;
for (const [name, args, isRight] of steps) {
  const inspector = ["-y", "@modelcontextprotocol/inspector@2.12.0", "--cli", address];
  const all = [...inspector, "--header", `Authorization: Bearer ${key}`, ...args];
  const { stdout, stderr, status } = spawnSync("npx", all, { encoding: "utf8" });
  const isOk = status === 0 && isRight(JSON.parse(stdout));
  if (!isOk) failed++;
  process.stdout.write(
    `${name}: ${isOk ? "done" : `failed (${status})\n${stdout.slice(0, 1000)}${stderr.slice(0, 1000)}`}\n`,
  );
}
process.exit(failed === 0 ? 0 : 1);

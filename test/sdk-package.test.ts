import { execFile } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const repository = join(import.meta.dirname, "..");
const run = promisify(execFile);
const secret = `whsec_${randomBytes(32).toString("base64")}`;
const event = {
  id: "evt_1",
  type: "event",
  toolkitSlug: "calendar",
  triggerSlug: "calendar.events_changed",
  entityId: "",
  occurredAt: "2026-01-02T03:04:05.000Z",
  receivedAt: "2026-01-02T03:04:05.000Z",
  payload: { message_number: 1 },
};

// The Node and npm that a user has: those on PATH that this repository did not install.
const plainPath = (process.env.PATH ?? "")
  .split(delimiter)
  .filter((folder) => !folder.includes("node_modules"))
  .join(delimiter);
const plainNode = plainPath
  .split(delimiter)
  .map((folder) => join(folder, "node"))
  .find((file) => existsSync(file));
const env = { ...process.env, PATH: plainPath };

/** True if this Node can load an ES module with `require`, which works from 20.19 on. */
const canRequireModules = (
  await run(plainNode ?? process.execPath, ["-p", "process.features.require_module"], { env })
).stdout.includes("true");

const script = `
const [baseUrl, secret, signature, body] = process.argv.slice(2);
const svc = createSvcClient({ baseUrl, apiKey: "svc_key" });
const { events } = await svc.triggers.listEvents({ toolkitSlug: "calendar" });
const headers = { "x-svc-signature": signature, "x-svc-delivery-id": "dlv_1" };
const delivery = await verifyDelivery(headers, body, secret);
const refused = await verifyDelivery(headers, body + " ", secret).catch((err) => err.reason);
const kind = ToolKind.TRIGGER;
process.stdout.write(JSON.stringify({ ids: events.map(({ id }) => id), delivery, refused, kind }));
`;

const typedScript = `
import { createSvcClient, type Event, svcErrorDetails, ToolKind, verifyDelivery } from "@svc/sdk";
import { type SvcAgentTool, svcTools } from "@svc/sdk/agents";
const svc = createSvcClient({ baseUrl: "http://localhost", apiKey: "key", timeoutMs: 1000 });
export async function first(): Promise<Event | undefined> {
  const { events } = await svc.triggers.listEvents({ toolkitSlug: "calendar", pageSize: 1 });
  return events[0];
}
export async function receive(req: Request): Promise<number> {
  const delivery = await verifyDelivery(req.headers, await req.text(), "whsec_");
  // @ts-expect-error a test delivery's payload is empty
  if (delivery.type === "test") return delivery.payload.message_number.length;
  return delivery.type === "event" && "message_number" in delivery.payload ? 200 : 204;
}
export const tools = svc.catalog.listTools({ kind: ToolKind.ACTION });
export const agentTools: Promise<readonly SvcAgentTool[]> = svcTools(svc, { entityId: "ada" });
export const reasons = (err: unknown): string[] => svcErrorDetails(err).map(({ reason }) => reason);
// @ts-expect-error there is no such field
svc.triggers.getEvent({ ids: [] });
`;

let project = "";

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "svc-sdk-"));
  await run(process.execPath, [join(repository, "packages/sdk/scripts/build.mjs")]);
  // npm gets a cache in the test's folder, because the one in the home folder may not be writable.
  const npmEnv = { ...env, npm_config_cache: join(project, "cache"), npm_config_update_notifier: "false" };
  const packed = ["pack", join(repository, "packages/sdk/dist"), "--pack-destination", project, "--json"];
  const { stdout } = await run("npm", packed, { env: npmEnv });
  const [tarball] = JSON.parse(stdout) as { filename: string }[];
  await writeFile(join(project, "package.json"), '{"name":"consumer","private":true,"type":"module"}');
  const install = ["install", `./${tarball?.filename}`, "--no-audit", "--no-fund"];
  await run("npm", install, { cwd: project, env: npmEnv });
}, 60_000);

afterAll(() => rm(project, { recursive: true, force: true }));

/** Runs a program that uses the SDK, on the machine's own Node, against a server that answers ListEvents in JSON. */
async function runConsumer(file: string, text: string): Promise<unknown> {
  await writeFile(join(project, file), text);
  const server = createServer((req, res) => {
    const isExpected =
      req.url === "/svc.v1.TriggersService/ListEvents" && req.headers.authorization === "Bearer svc_key";
    res.writeHead(isExpected ? 200 : 404, { "content-type": "application/json" });
    res.end(JSON.stringify({ events: [{ id: "evt_1", fieldOfALaterVersion: true }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const body = JSON.stringify(event);
  const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const args = [join(project, file), baseUrl, secret, signature, body];
  try {
    return JSON.parse((await run(plainNode ?? process.execPath, args, { env })).stdout);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const result = {
  ids: ["evt_1"],
  delivery: { ...event, deliveryId: "dlv_1" },
  refused: "signature_mismatch",
  kind: 2,
};

test("the packed client calls and verifies in a plain Node project", async () => {
  const text = `import { createSvcClient, ToolKind, verifyDelivery } from "@svc/sdk";\n${script}`;
  expect(await runConsumer("consumer.mjs", text)).toEqual(result);
});

test.runIf(canRequireModules)("the packed client can be required from CommonJS", async () => {
  const imports = 'const { createSvcClient, ToolKind, verifyDelivery } = require("@svc/sdk");';
  const text = `${imports}\n(async () => {${script}})();`;
  expect(await runConsumer("consumer.cjs", text)).toEqual(result);
});

test("the packed client's types check in a strict project, its dependencies' included", async () => {
  await writeFile(join(project, "consumer.ts"), typedScript);
  const compiler = join(repository, "node_modules/typescript/bin/tsc");
  const options = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom"];
  const checked = run(process.execPath, [compiler, ...options, "--types", "", "consumer.ts"], { cwd: project });
  expect(await checked.catch(({ stdout }: { stdout: string }) => ({ stdout }))).toMatchObject({ stdout: "" });
});

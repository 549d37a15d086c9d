import { once } from "node:events";
import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { createTestDatabase } from "./database.ts";
import { startServerProcess, vaultKey } from "./server-process.ts";
import { fewToolkits } from "./shipped-catalog.ts";

test("another server that answers on the port is not taken for the one that was started", {
  timeout: 240_000,
}, async () => {
  const another = createServer((_req, res) => void res.end('{"status":"ready"}')).listen(0, "127.0.0.1");
  await once(another, "listening");
  const { port } = another.address() as { port: number };
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const env = { SVC_DATABASE_URL: database.url, SVC_VAULT_KEY: vaultKey(), SVC_TOOLKITS: fewToolkits };
  await expect(startServerProcess({ ...env, SVC_PORT: String(port) })).rejects.toThrow(/ended with 1.*EADDRINUSE/s);
  another.close();
  const servers = await Promise.all([startServerProcess(env), startServerProcess(env)]);
  const [one, other] = servers;
  expect(one.port).not.toBe(other.port);
  for (const server of servers) expect(await server.end("SIGTERM")).toBe(0);
});

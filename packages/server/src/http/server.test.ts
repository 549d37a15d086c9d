import { once } from "node:events";
import { connect } from "node:net";
import { systemClock } from "@svc/core";
import { expect, onTestFinished, test } from "vitest";
import { createLogger } from "../logger.ts";
import { createHttpServer } from "./server.ts";

test("a connection beyond the bound is cut off, and those within it are served", async () => {
  const server = createHttpServer({
    webhooks: undefined,
    rpc: { handles: () => false, serve: () => {} },
    probes: new Map(),
    pages: new Map(),
    mcp: undefined,
    isDraining: () => false,
    clock: systemClock,
    logger: await createLogger({ level: "info", destination: { write: () => {} } }),
    connectionsMax: 1,
  });
  const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
  onTestFinished(() => server.close(0));
  const request = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";
  const first = connect(port, "127.0.0.1");
  onTestFinished(() => void first.destroy());
  await once(first, "connect");
  const second = connect(port, "127.0.0.1").on("error", () => {});
  await once(second.resume(), "close");
  first.write(request);
  expect(String((await once(first, "data"))[0])).toMatch(/^HTTP\/1\.1 404/);
});

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { createSchemas } from "./schemas.ts";

const path = "/schemas/program.v1.json";

const program = { title: "Program", type: "object" };

test("the schema of programs is served to anyone who asks", async () => {
  const handler = createSchemas({ program, standing: {} }).get(path);
  const server = createServer((req, res) => handler?.(req, res)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  try {
    const answer = await fetch(url);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("application/schema+json");
    expect(await answer.json()).toEqual(program);
    const head = await fetch(url, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    const posted = await fetch(url, { method: "POST" });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { EngineWork, EngineWorkName } from "./engine.ts";

/**
 * Starts a minimal HTTP server for an engine that is a library. It answers `POST /bench/<work>` once `run` has ended. Resolves with the
 * port.
 */
export function serveEngine(run: (name: EngineWorkName, work: EngineWork) => Promise<void>): Promise<number> {
  const server = createServer((req, res) => {
    const name = req.url?.endsWith("/together") ? "together" : "chain";
    readJson(req)
      .then((work) => run(name, work as EngineWork))
      .then(
        () => res.writeHead(200, { "content-type": "application/json" }).end("{}"),
        (error: unknown) => res.writeHead(500).end(String(error)),
      );
  });
  server.keepAliveTimeout = 600_000;
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

async function readJson(req: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString());
}

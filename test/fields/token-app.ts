import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A request for a token: its path, its form and its client. */
export type TokenRequest = { readonly path: string; readonly form: URLSearchParams; readonly client: string };

/** A local authorization server that gives everyone a token for an hour. */
export type TokenApp = { readonly url: string; readonly asked: TokenRequest[]; close(): Promise<void> };

/** Starts an authorization server. */
export async function startTokenApp(): Promise<TokenApp> {
  const asked: TokenRequest[] = [];
  const server = createServer(async (req, res) => {
    const form = new URLSearchParams(await text(req));
    const [, encoded = ""] = (req.headers.authorization ?? "").split(" ");
    asked.push({ path: req.url ?? "", form, client: Buffer.from(encoded, "base64").toString() });
    const token = {
      access_token: `at-${asked.length}`,
      token_type: "Bearer",
      expires_in: 3600,
      refresh_token: `rt-${asked.length}`,
    };
    res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(token));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

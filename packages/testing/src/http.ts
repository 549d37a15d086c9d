import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { faultInterceptor } from "@svc/server/testing";

/** A server on a free loopback port. It is closed at the end of the scope that uses it. */
export type HttpPlace = AsyncDisposable & { readonly url: string };

/** Serves Connect routes on a minimal server. It reports errors like the real server. */
export function serveRoutes(routes: (router: ConnectRouter) => void): Promise<HttpPlace> {
  return serveHttp(connectNodeAdapter({ routes, interceptors: [faultInterceptor] }));
}

/** Serves HTTP requests with a listener. */
export async function serveHttp(listener: RequestListener): Promise<HttpPlace> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

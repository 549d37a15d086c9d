import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { faultInterceptor } from "@svc/server/testing";

/** A test server on a free loopback port. It is closed at the end of the scope in which the test declares it with `await using`. */
export type HttpPlace = AsyncDisposable & { readonly url: string };

/**
 * Starts a test server for the given Connect routes (methods of the API) and nothing else. Callers get errors in the same form as from the
 * server of svc.
 */
export function serveRoutes(routes: (router: ConnectRouter) => void): Promise<HttpPlace> {
  return serveHttp(connectNodeAdapter({ routes, interceptors: [faultInterceptor] }));
}

/** Starts a test server that passes each HTTP request to `listener`. */
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

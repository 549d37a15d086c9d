import { isIPv6 } from "node:net";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/environment.ts";
import type { ListenAddress } from "../config/listen.ts";
import type { HttpServer } from "./http-server.ts";

/** Where a server listens. `adminUrl` is undefined while administration and metrics are served with everything else. */
export type ListenerUrls = { readonly url: string; readonly adminUrl: string | undefined };

/** Ports that several processes listen on at once; `admin` is undefined while there is no listener of its own for it. */
export type SharedPorts = { readonly main: number; readonly admin: number | undefined };

/** Everything that a server listens with. */
export type Listeners = {
  /**
   * Listens everywhere or nowhere, on the ports of the configuration alone or on `shared` ones beside other processes. Rejects with what the
   * main listener failed with, or with ConfigError for SVC_ADMIN_LISTEN.
   */
  listen(shared?: SharedPorts): Promise<ListenerUrls>;
  /** Closes all of them, as `HttpServer.close` does. */
  close(graceMs: number): Promise<void>;
};

/** Joins the main listener and that of administration, where there is one. */
export function joinListeners(
  { host, port, adminListen, tls }: Pick<Config, "host" | "port" | "adminListen" | "tls">,
  { main, admin }: { main: HttpServer; admin: HttpServer | undefined },
): Listeners {
  const scheme = tls === undefined ? "http" : "https";
  const urlOf = (name: string, bound: number) => `${scheme}://${isIPv6(name) ? `[${name}]` : name}:${bound}`;
  const placeOf = (address: ListenAddress, sharedPort: number | undefined) =>
    sharedPort === undefined ? address : { host: address.host, port: sharedPort, reusePort: true };
  const listenApart = async (shared: SharedPorts | undefined) => {
    if (admin === undefined || adminListen === undefined) return undefined;
    const bound = await admin.listen(placeOf(adminListen, shared?.admin)).catch((error: NodeJS.ErrnoException) => {
      throw adminListenFault(adminListen, error);
    });
    return urlOf(adminListen.host, bound.port);
  };
  return {
    async listen(shared) {
      // The main one comes last: who is answered there finds the other open.
      const adminUrl = await listenApart(shared);
      try {
        return { url: urlOf(host, (await main.listen(placeOf({ host, port }, shared?.main))).port), adminUrl };
      } catch (error) {
        if (adminUrl !== undefined) await admin?.close(0);
        throw error;
      }
    },
    async close(graceMs) {
      await Promise.all([main.close(graceMs), admin?.close(graceMs)]);
    },
  };
}

/** That SVC_ADMIN_LISTEN cannot be listened on. */
export function adminListenFault({ host, port }: ListenAddress, { code }: NodeJS.ErrnoException): ConfigError {
  const message = `cannot listen on ${host}, port ${port} (${code}); free the port, or set another`;
  return new ConfigError([{ variable: "SVC_ADMIN_LISTEN", message }]);
}

import { isIPv6 } from "node:net";
import { ConfigError } from "../config/environment.ts";
import type { ListenAddress } from "../config/listen.ts";
import type { Config } from "../config/settings.ts";
import type { HttpServer } from "./http-server.ts";

/**
 * Addresses at which a running server accepts requests. `url`: main address. `adminUrl`: address of administration and metrics; undefined
 * if they use the main address.
 */
export type ListenerUrls = { readonly url: string; readonly adminUrl: string | undefined };

/**
 * Ports that several processes share. `main`: port of the main listener. `admin`: port of the separate listener for administration;
 * undefined if there is none.
 */
export type SharedPorts = { readonly main: number; readonly admin: number | undefined };

/** All listeners of a server. */
export type Listeners = {
  /**
   * Opens all listeners, or none if one fails. `shared`: ports that several processes share; default: the configured ports. Rejects with
   * the error of the main listener, or with ConfigError if the address in SVC_ADMIN_LISTEN cannot be used.
   */
  listen(shared?: SharedPorts): Promise<ListenerUrls>;
  /** Closes all listeners, like `HttpServer.close`. */
  close(graceMs: number): Promise<void>;
};

/** Returns the main listener and the listener for administration, if there is one, as one object. */
export function joinListeners(
  config: Pick<Config, "host" | "port" | "adminListen" | "tls" | "processRole" | "isPortShared">,
  { main, admin }: { main: HttpServer; admin: HttpServer | undefined },
): Listeners {
  const { host, port, adminListen, tls, processRole, isPortShared: reusePort } = config;
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
  /** Returns the service's addresses for a process that does not listen itself. Other processes of the server listen at these addresses. */
  const closedUrls = (shared: SharedPorts | undefined): ListenerUrls => ({
    url: urlOf(host, shared?.main ?? port),
    adminUrl: adminListen && urlOf(adminListen.host, shared?.admin ?? adminListen.port),
  });
  return {
    async listen(shared) {
      if (processRole === "rows") return closedUrls(shared);
      // The main listener opens last, so that the listener for administration is already open when the first request is answered.
      const adminUrl = await listenApart(shared);
      try {
        return {
          url: urlOf(host, (await main.listen({ reusePort, ...placeOf({ host, port }, shared?.main) })).port),
          adminUrl,
        };
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

/** Returns the error for an address in SVC_ADMIN_LISTEN that cannot be used. */
export function adminListenFault({ host, port }: ListenAddress, { code }: NodeJS.ErrnoException): ConfigError {
  const message = `cannot listen on ${host}, port ${port} (${code}); free the port, or set another`;
  return new ConfigError([{ variable: "SVC_ADMIN_LISTEN", message }]);
}

import { isIPv6 } from "node:net";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/config-error.ts";
import type { HttpServer } from "./http-server.ts";

/** Where a server listens. `adminUrl` is undefined while administration and metrics are served with everything else. */
export type ListenerUrls = { readonly url: string; readonly adminUrl: string | undefined };

/** Everything that a server listens with. */
export type Listeners = {
  /** Listens everywhere or nowhere. Rejects with what the main listener failed with, or with ConfigError for SVC_ADMIN_LISTEN. */
  listen(): Promise<ListenerUrls>;
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
  const listenApart = async () => {
    if (admin === undefined || adminListen === undefined) return undefined;
    const bound = await admin.listen(adminListen).catch((error: NodeJS.ErrnoException) => {
      const place = `${adminListen.host}, port ${adminListen.port}`;
      throw new ConfigError([
        {
          variable: "SVC_ADMIN_LISTEN",
          message: `cannot listen on ${place} (${error.code}); free the port, or set another`,
        },
      ]);
    });
    return urlOf(adminListen.host, bound.port);
  };
  return {
    async listen() {
      // The main one comes last: who is answered there finds the other open.
      const adminUrl = await listenApart();
      try {
        return { url: urlOf(host, (await main.listen({ host, port })).port), adminUrl };
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

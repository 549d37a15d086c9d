import { type Config, isLoopbackHost } from "../config/config.ts";

/** What to say of a server that others reach over plain HTTP, as far as it can know; undefined when there is nothing to say. */
export function exposureText({ host, adminListen, tls, publicUrl, role }: Config): string | undefined {
  // A worker is sent no keys.
  if (tls !== undefined || role === "worker" || publicUrl?.startsWith("https:")) return undefined;
  const exposed = [host, ...(adminListen === undefined ? [] : [adminListen.host])].filter(
    (name) => !isLoopbackHost(name),
  );
  if (exposed.length === 0) return undefined;
  return `listening on ${exposed.join(" and ")} without TLS: keys and tokens can be read on their way. Set SVC_TLS_CERT and SVC_TLS_KEY, or SVC_PUBLIC_URL to the https address of the proxy that ends TLS in front, or listen on a loopback address`;
}

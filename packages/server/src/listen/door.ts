import type { IncomingMessage } from "node:http";
import { isIP, isIPv4 } from "node:net";
import type { Clock, Fault } from "@svc/core";
import { Health as HealthRpc } from "@svc/gen/health";
import { serverFaults } from "../errors.ts";
import type { AnswerHeaders } from "../http/answer.ts";
import { serverCardPath } from "../http/mcp-path.ts";
import { webhookPrefix } from "../http/webhooks.ts";
import type { Logger } from "../logger.ts";

/** Rules for checking a request before any handler runs. */
export type DoorOptions = {
  /** Public address of the service, from SVC_PUBLIC_URL. Undefined if the variable is not set. */
  publicUrl: string | undefined;
  /** Host names from SVC_HOSTS, normalized as JavaScript's `URL` class does it, for example in lower case. */
  hosts: readonly string[];
  /**
   * True if the server listens only on a loopback address. Then svc refuses requests for a foreign host name. A name is foreign if it is
   * neither a loopback name nor a name in `hosts` or `publicUrl`. If false, svc refuses foreign names only if `hosts` is not empty.
   */
  isLoopbackOnly: boolean;
  clock: Clock;
  logger: Logger;
};

/** Reason why a request is refused. The connection is closed as well if the request violates HTTP/1.1 (RFC 9112). */
export type DoorRefusal = { error: Fault; status?: number; headers?: AnswerHeaders };

/** Checks the line and headers of a request. Returns undefined if the request may continue to its handler, otherwise the refusal. */
export type Door = (req: IncomingMessage, path: string) => DoorRefusal | undefined;

/**
 * Creates the function that refuses wrong HTTP requests of a listener before anything else is done. It refuses HTTP/1.1 requests without
 * exactly one Host line, and HTTP versions except 1.0 and 1.1. It refuses requests that a browser sends for a page of another origin. This
 * includes pages whose host name resolves to this host (DNS rebinding). Webhook posts and health checks may use any host name.
 */
export function createDoor(options: DoorOptions): Door {
  const names = createNames(options);
  const note = createNote(options);
  return (req, path) => {
    const malformed = malformedHead(req);
    if (malformed !== undefined || comesByAnyName(path)) return malformed;
    const error = names.hostFault(req) ?? (comesFromAnyPage(path) ? undefined : names.originFault(req));
    if (error === undefined) return undefined;
    note(error, path);
    return { error };
  };
}

const closing = { connection: "close" };

function malformedHead(req: IncomingMessage): DoorRefusal | undefined {
  if (req.httpVersionMajor !== 1) {
    const message = `HTTP/${req.httpVersion} is not served`;
    return {
      error: serverFaults.REQUEST_MALFORMED({ message, help: "Send HTTP/1.1." }),
      status: 505,
      headers: closing,
    };
  }
  // RFC 9112, 3.2 requires exactly one Host line. Node uses the first line, but a router in front of it may have used another.
  const hosts = countHostLines(req);
  if (hosts === 1 || (hosts === 0 && req.httpVersionMinor === 0)) return undefined;
  const message = `the request has ${hosts === 0 ? "no" : "more than one"} Host header`;
  return { error: serverFaults.REQUEST_MALFORMED({ message, help: "Send one Host header." }), headers: closing };
}

function countHostLines({ rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") count++;
  }
  return count;
}

const healthPrefix = `/${HealthRpc.typeName}/`;

/**
 * True if requests to a path may use any host name: providers post webhooks to the address that is configured at them, and load balancers
 * check health by IP address. The answers reveal nothing to a web page.
 */
function comesByAnyName(path: string): boolean {
  return path.startsWith(webhookPrefix) || path === "/healthz" || path === "/readyz" || path.startsWith(healthPrefix);
}

const openPaths: ReadonlySet<string> = new Set(["/oauth/start", "/oauth/callback", "/openapi.json", serverCardPath]);
/**
 * Beginnings of the paths of the JSON Schemas, of the OAuth metadata, which clients in browsers read (RFC 8414, RFC 9728), and of the OAuth
 * callbacks for issuers.
 */
const openPrefixes = ["/schemas/", "/.well-known/oauth-", "/oauth/callback/"];

/**
 * True if pages of any origin may send requests to this path. These are the paths of public documents, and two OAuth paths that browsers
 * open.
 */
function comesFromAnyPage(path: string): boolean {
  return openPaths.has(path) || openPrefixes.some((prefix) => path.startsWith(prefix));
}

type Names = Record<"hostFault" | "originFault", (req: IncomingMessage) => Fault | undefined>;

// Maximum number of hosts that are remembered as the server's own hosts. A limit is needed, because the server's name may occur with any
// port.
const rememberedMax = 100;

function createNames({ publicUrl, hosts, isLoopbackOnly }: DoorOptions): Names {
  const own = publicUrl === undefined ? undefined : new URL(publicUrl);
  const named = new Set(hosts.map(withoutDot));
  const ownName = own === undefined ? undefined : withoutDot(own.hostname);
  const isNamed = (hostname: string) => isLoopbackName(hostname) || named.has(hostname) || hostname === ownName;
  const isAnyHost = !isLoopbackOnly && hosts.length === 0;
  const remembered = new Set<string>();
  const isOwnHost = (host: string, req: IncomingMessage) => {
    if (remembered.has(host)) return true;
    const hostname = hostnameOf(`http://${host}`);
    if (hostname === undefined) return false;
    // An IP address cannot be redirected by DNS: if the client connected to it, it belongs to this node.
    if (!isNamed(hostname)) return hostname === dialledAddress(req);
    if (remembered.size < rememberedMax) remembered.add(host);
    return true;
  };
  return {
    hostFault(req) {
      if (isAnyHost) return undefined;
      const foreign = hostsOf(req).find((host) => !isOwnHost(host, req));
      return foreign === undefined ? undefined : serverFaults.HOST_REFUSED(foreign);
    },
    originFault(req) {
      const { origin, host } = req.headers;
      if (origin === undefined) return undefined;
      const url = URL.parse(origin);
      const isPage = url !== null && /^https?:$/.test(url.protocol);
      if (!isPage) return serverFaults.ORIGIN_REFUSED(origin); // Opaque origins, which read `null`, are nobody's.
      const hostname = withoutDot(url.hostname);
      const isOwn = url.origin === own?.origin || isLoopbackName(hostname) || named.has(hostname);
      return isOwn || (isAddress(hostname) && url.host === host) ? undefined : serverFaults.ORIGIN_REFUSED(origin);
    },
  };
}

/**
 * Returns the hosts that a request names: the host of its Host header, and the host of an absolute target, which takes precedence (RFC
 * 9112, 3.2.2).
 */
function hostsOf({ headers: { host }, url = "/" }: IncomingMessage): string[] {
  const hosts = host === undefined ? [] : [host];
  const target = url.startsWith("/") ? null : URL.parse(url);
  return target === null || target.host === "" ? hosts : [...hosts, target.host];
}

function dialledAddress({ socket }: IncomingMessage): string {
  const address = (socket.localAddress ?? "").replace(/^::ffff:(?=[\d.]+$)/, "");
  return address.includes(":") ? `[${address}]` : address;
}

/**
 * Returns the host name of an address in the form of JavaScript's `URL` class: in lower case, and IP addresses in canonical form. Undefined
 * if the address is invalid.
 */
function hostnameOf(text: string): string | undefined {
  const hostname = URL.parse(text)?.hostname;
  return hostname === undefined ? undefined : withoutDot(hostname);
}

function withoutDot(hostname: string): string {
  return hostname.replace(/\.$/, "");
}

function isAddress(hostname: string): boolean {
  return isIP(hostname.replace(/^\[|\]$/g, "")) !== 0;
}

function isLoopbackName(hostname: string): boolean {
  if (hostname === "localhost" || hostname === "[::1]") return true;
  return isIPv4(hostname) && hostname.startsWith("127.");
}

const everyMs = 60_000;

/**
 * Returns a function that logs a refused host name. It writes at most one warning a minute, so that a wrong name is visible but does not
 * fill the log.
 */
function createNote({ clock, logger }: DoorOptions): (fault: Fault, path: string) => void {
  let notedAt = Number.NEGATIVE_INFINITY;
  return ({ message, details }, path) => {
    const nowMs = clock.now();
    if (nowMs - notedAt < everyMs) return;
    notedAt = nowMs;
    logger.warn({ reason: details[0]?.reason, path: path.slice(0, 200) }, `a request was refused: ${message}`);
  };
}

import type { IncomingMessage } from "node:http";
import { isIP, isIPv4 } from "node:net";
import type { Clock, Fault } from "@svc/core";
import { Health as HealthRpc } from "@svc/gen/health";
import { serverFaults } from "../errors.ts";
import type { AnswerHeaders } from "../http/answer.ts";
import { webhookPrefix } from "../http/webhooks.ts";
import type { Logger } from "../logger.ts";

/** What requests are judged by before anything else looks at them. */
export type DoorOptions = {
  /** SVC_PUBLIC_URL; undefined when it is unset. */
  publicUrl: string | undefined;
  /** SVC_HOSTS, as URL writes host names. */
  hosts: readonly string[];
  /** Whether the listener has a loopback address: then a foreign name is known to be one. Elsewhere it is once `hosts` says which are its own. */
  isLoopbackOnly: boolean;
  clock: Clock;
  logger: Logger;
};

/** Why a request goes no further; the connection of one that is not HTTP/1.1 as RFC 9112 has it ends. */
export type DoorRefusal = { error: Fault; status?: number; headers?: AnswerHeaders };

/** Judges the head of a request to `path`. Undefined when it may pass. */
export type Door = (req: IncomingMessage, path: string) => DoorRefusal | undefined;

/**
 * Makes the door of a listener. No Host line in HTTP/1.1, two of them, and other versions than HTTP/1.0 and 1.1 are refused everywhere. What a browser
 * sends for a page of another origin is, also where that page's name was made to lead here (DNS rebinding). Webhook posts and
 * health come by any name.
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
  // RFC 9112, 3.2. Node keeps the first: whoever routed the request here may have taken the other.
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

/** Providers post to the address they were given, balancers ask for health by address. Neither answer tells a page anything. */
function comesByAnyName(path: string): boolean {
  return path.startsWith(webhookPrefix) || path === "/healthz" || path === "/readyz" || path.startsWith(healthPrefix);
}

/** Pages of apps lead a person's browser to these two, whose requests are sealed; schemas are public, and say so to every page. */
function comesFromAnyPage(path: string): boolean {
  return path === "/oauth/start" || path === "/oauth/callback" || path.startsWith("/schemas/");
}

type Names = Record<"hostFault" | "originFault", (req: IncomingMessage) => Fault | undefined>;

// Bounds what is remembered: a name may come with any port.
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
    // An address is nobody's to rebind: the one that was dialled is this node's.
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

/** The hosts that a request names: its header's and that of the absolute form, which RFC 9112, 3.2.2 puts above it. */
function hostsOf({ headers: { host }, url = "/" }: IncomingMessage): string[] {
  const hosts = host === undefined ? [] : [host];
  const target = url.startsWith("/") ? null : URL.parse(url);
  return target === null || target.host === "" ? hosts : [...hosts, target.host];
}

function dialledAddress({ socket }: IncomingMessage): string {
  const address = (socket.localAddress ?? "").replace(/^::ffff:(?=[\d.]+$)/, "");
  return address.includes(":") ? `[${address}]` : address;
}

/** The name in an address as URL writes it: lower-case, IP addresses in their canonical form. */
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

/** One warning a minute, however many are refused: whoever set a wrong name finds it, and nobody fills the log. */
function createNote({ clock, logger }: DoorOptions): (fault: Fault, path: string) => void {
  let notedAt = Number.NEGATIVE_INFINITY;
  return ({ message, details }, path) => {
    const nowMs = clock.now();
    if (nowMs - notedAt < everyMs) return;
    notedAt = nowMs;
    logger.warn({ reason: details[0]?.reason, path: path.slice(0, 200) }, `a request was refused: ${message}`);
  };
}

import type { IncomingMessage } from "node:http";
import type { Fault } from "@svc/core";
import { serverFaults } from "../errors.ts";
import { consoleFaults } from "./errors.ts";

/** What a request shows of a session of the console. */
export type SessionProof = {
  /** The half that the browser keeps from pages. */
  readonly cookie: string | undefined;
  /** The half that the page keeps. */
  readonly half: string | undefined;
  /** Which of the session's seats makes the call: the id of its key, or `admin`. */
  readonly seat: string | undefined;
  /** Why the request is not the console's own; undefined where it is. */
  readonly originFault: Fault | undefined;
};

/** How the console knows itself and its browsers. */
export type ConsoleOrigin = {
  /** The name of the cookie, which holds its port: a browser sends it to every port of the host. */
  cookieName(): string;
  /** Whether the cookie travels over https alone. */
  isSecure(): boolean;
  /** Why a request comes from no page of this service itself; undefined when it does. Scheme, host and port count. */
  faultOf(req: IncomingMessage): Fault | undefined;
  /** What a request without a key shows of a session; undefined for one with an Authorization header, and where it shows nothing. */
  proofOf(req: IncomingMessage): SessionProof | undefined;
};

/** Makes it for a listener that is reached as `publicUrl` says, and speaks TLS itself or not. */
export function createConsoleOrigin({ publicUrl, isTls }: { publicUrl: () => string; isTls: boolean }): ConsoleOrigin {
  const isSecure = () => publicUrl().startsWith("https:");
  const cookieName = () => {
    const { port, protocol } = new URL(publicUrl());
    const number = port || (protocol === "https:" ? "443" : "80");
    return `${isSecure() ? "__Host-" : ""}svc_console_${number}`;
  };
  const faultOf = (req: IncomingMessage) => {
    const { origin, host = "", "sec-fetch-site": site } = req.headers;
    if (origin === undefined) return consoleFaults.ORIGIN_REFUSED("the request has no Origin header");
    const own = [new URL(publicUrl()).origin, URL.parse(`${isTls ? "https" : "http"}://${host}`)?.origin];
    if (!own.includes(origin)) return serverFaults.ORIGIN_REFUSED(origin);
    return site === undefined || site === "same-origin"
      ? undefined
      : consoleFaults.ORIGIN_REFUSED(`its Sec-Fetch-Site is ${site}`);
  };
  return {
    cookieName,
    isSecure,
    faultOf,
    proofOf(req) {
      const { headers } = req;
      if (headers.authorization !== undefined) return undefined;
      const cookie = headers.cookie === undefined ? undefined : cookieOf(headers.cookie, cookieName());
      const half = textOf(headers["svc-session"]);
      if (cookie === undefined && half === undefined) return undefined;
      return { cookie, half, seat: textOf(headers["svc-seat"]), originFault: faultOf(req) };
    },
  };
}

function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" && header !== "" ? header : undefined;
}

/**
 * The last of the cookies of that name: browsers send those of longer paths first, and another port of this host can set one there, which
 * would stand before the service's own and keep its browser out.
 */
function cookieOf(header: string, name: string): string | undefined {
  let last: string | undefined;
  for (const pair of header.split(";")) {
    const [key, value] = pair.trim().split("=", 2);
    if (key === name && value) last = value;
  }
  return last;
}

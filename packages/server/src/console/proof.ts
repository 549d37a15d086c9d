import type { IncomingMessage } from "node:http";
import type { Fault } from "@svc/core";
import { serverFaults } from "../errors.ts";
import { consoleFaults } from "./errors.ts";

/** A request's proof of a console session. */
export type SessionProof = {
  /** Half that the browser hides from pages. */
  readonly cookie: string | undefined;
  /** Half that the page keeps. */
  readonly half: string | undefined;
  /** Seat of the session that makes the call: the id of its key, or `admin`. */
  readonly seat: string | undefined;
  /** Why the request is not from the console; undefined if it is. */
  readonly originFault: Fault | undefined;
};

/** How the console identifies itself and its browsers. */
export type ConsoleOrigin = {
  /** Name of the cookie. It contains the port, because browsers send a cookie to every port of the host. */
  cookieName(): string;
  /** True if the cookie is sent over https only. */
  isSecure(): boolean;
  /** Returns why a request does not come from a page of this service; undefined if it does. Scheme, host and port are compared. */
  faultOf(req: IncomingMessage): Fault | undefined;
  /** Returns the session proof of a request without a key; undefined if it has an Authorization header or no proof. */
  proofOf(req: IncomingMessage): SessionProof | undefined;
};

/** Creates the origin of a listener that is reached at `publicUrl`, with or without its own TLS. */
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
 * Returns the last cookie of that name. Browsers send cookies with longer paths first, and another port of the host can set one that would
 * precede the service's own and lock its browser out.
 */
function cookieOf(header: string, name: string): string | undefined {
  let last: string | undefined;
  for (const pair of header.split(";")) {
    const [key, value] = pair.trim().split("=", 2);
    if (key === name && value) last = value;
  }
  return last;
}

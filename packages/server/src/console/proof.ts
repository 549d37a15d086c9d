import type { IncomingMessage } from "node:http";
import type { Fault } from "@svc/core";
import { serverFaults } from "../errors.ts";
import { consoleFaults } from "./errors.ts";

/**
 * Proof that a request belongs to a console session. The secret of a session has two halves: one is in a cookie, and the page sends the
 * other in a header.
 */
export type SessionProof = {
  /**
   * First of the two secrets that prove that a request belongs to a console session. It is in a cookie that scripts cannot read. Undefined
   * if the request has no such cookie.
   */
  readonly cookie: string | undefined;
  /**
   * The second of the two secrets that prove that a request belongs to a console session. The console's page stores it and sends it in a
   * header. Undefined if the request has no such header.
   */
  readonly half: string | undefined;
  /** Key of the session with which the browser makes the call: the id of the key, or `admin` for the administrator. */
  readonly seat: string | undefined;
  /** Reason why the request does not come from the console; undefined if it does. */
  readonly originFault: Fault | undefined;
};

/** How the console recognizes its own pages and their browsers. */
export type ConsoleOrigin = {
  /** Name of the cookie. It contains the port, because browsers send a cookie to every port of the host. */
  cookieName(): string;
  /** True if browsers send the cookie over https only. False if they also send it over http. */
  isSecure(): boolean;
  /** Returns why a request does not come from a page of this service; undefined if it does. Compares scheme, host and port. */
  faultOf(req: IncomingMessage): Fault | undefined;
  /**
   * Returns the session proof of a request without a key. Undefined if the request has an Authorization header, or has no part of a session
   * proof.
   */
  proofOf(req: IncomingMessage): SessionProof | undefined;
};

/**
 * Creates the origin checks for a listener. `publicUrl`: returns the address of the service in browsers. `isTls`: true if the listener
 * itself uses TLS.
 */
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
 * Returns the value of the last cookie with this name. Browsers send cookies with longer paths first, and a service on another port of the
 * host could set such a cookie. With the first cookie instead, this browser could not sign in any more.
 */
function cookieOf(header: string, name: string): string | undefined {
  let last: string | undefined;
  for (const pair of header.split(";")) {
    const [key, value] = pair.trim().split("=", 2);
    if (key === name && value) last = value;
  }
  return last;
}

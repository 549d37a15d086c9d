import type { IncomingMessage } from "node:http";
import { type Fault, generateToken } from "@svc/core";
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
  /**
   * Key of the session that the call uses: the id of the key, or `admin` for the administrator. Undefined if the request does not say it.
   */
  readonly seat: string | undefined;
  /** Reason why the request does not come from the console; undefined if it does. */
  readonly originFault: Fault | undefined;
  /** True if the session was opened by a portal link. Such a session has only the key of this link. */
  readonly isPortal: boolean;
};

/** Prefix of the secret that a portal page sends, if the portal may be shown in frames of other sites. */
const framedMark = "framed_";

/** How the console recognizes its own pages and their browsers. */
export type ConsoleOrigin = {
  /**
   * Returns the name of the cookie of console sessions. The name contains the port of the service, because browsers send a cookie to every
   * port of a host.
   */
  cookieName(): string;
  /**
   * Returns the name and the attributes of the cookie of a portal session. `half`: the part of the session's proof that the page sends in a
   * header. Its prefix says if the session may be used in a frame of another site.
   */
  portalCookie(half: string): { readonly name: string; readonly attributes: string };
  /**
   * Returns a new random value for the part of a portal session's proof that the page sends in a header. `isFramed`: true if a page of
   * another site may embed the portal.
   */
  newPortalHalf(isFramed: boolean): string;
  /**
   * True if browsers send the session cookies over https only, because the address of the service begins with `https:`. False if they also
   * send the cookies over http.
   */
  isSecure(): boolean;
  /** Returns why a request does not come from a page of this service; undefined if it does. Compares scheme, host and port. */
  faultOf(req: IncomingMessage): Fault | undefined;
  /**
   * Returns the session proof of a request without a key. Undefined if the request has an Authorization header, or has no part of a session
   * proof.
   */
  proofOf(req: IncomingMessage): SessionProof | undefined;
  /** Returns the value of a cookie of a request; undefined if the request does not have it. */
  readCookie(req: IncomingMessage, name: string): string | undefined;
};

/**
 * Creates the origin checks for a listener. `publicUrl`: returns the address of the service in browsers. `isTls`: true if the listener
 * itself uses TLS.
 */
export function createConsoleOrigin({ publicUrl, isTls }: { publicUrl: () => string; isTls: boolean }): ConsoleOrigin {
  const isSecure = () => publicUrl().startsWith("https:");
  const nameOf = (kind: string) => {
    const { port, protocol } = new URL(publicUrl());
    const number = port || (protocol === "https:" ? "443" : "80");
    return `${isSecure() ? "__Host-" : ""}svc_${kind}_${number}`;
  };
  const cookieName = () => nameOf("console");
  // Browsers keep a cookie of a frame apart from the cookie of the same page outside of a frame. The names differ, so that a browser that has
  // both never sends two cookies of one name.
  const portalCookie: ConsoleOrigin["portalCookie"] = (half) => {
    if (half.startsWith(framedMark))
      return { name: nameOf("portal_framed"), attributes: "HttpOnly; SameSite=None; Secure; Partitioned" };
    return { name: nameOf("portal"), attributes: `HttpOnly; SameSite=Strict${isSecure() ? "; Secure" : ""}` };
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
    portalCookie,
    // Browsers accept such a cookie over https only.
    newPortalHalf: (isFramed) => `${isFramed && isSecure() ? framedMark : ""}${generateToken()}`,
    isSecure,
    faultOf,
    readCookie: ({ headers: { cookie } }, name) => (cookie === undefined ? undefined : cookieOf(cookie, name)),
    proofOf(req) {
      const { headers } = req;
      if (headers.authorization !== undefined) return undefined;
      const [own, portal] = [textOf(headers["svc-session"]), textOf(headers["svc-portal-session"])];
      const isPortal = own === undefined && portal !== undefined;
      const [half, name] = isPortal ? [portal, portalCookie(portal).name] : [own, cookieName()];
      const cookie = headers.cookie === undefined ? undefined : cookieOf(headers.cookie, name);
      if (cookie === undefined && half === undefined) return undefined;
      return { cookie, half, seat: textOf(headers["svc-seat"]), originFault: faultOf(req), isPortal };
    },
  };
}

function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" && header !== "" ? header : undefined;
}

/**
 * Returns the value of the last cookie with this name. A service on another port of the same host could set a second cookie with this name
 * and a longer path. Browsers send that cookie first. If svc used the first cookie, this browser could not sign in any more.
 */
function cookieOf(header: string, name: string): string | undefined {
  let last: string | undefined;
  for (const pair of header.split(";")) {
    const [key, value] = pair.trim().split("=", 2);
    if (key === name && value) last = value;
  }
  return last;
}

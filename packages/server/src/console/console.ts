import type { IncomingMessage, ServerResponse } from "node:http";
import { setPageHeaders } from "../pages/page-headers.ts";
import { type AnswerOptions, createAnswer } from "./answer.ts";
import { createAssets } from "./assets.ts";
import { type ConnectOptions, createConnect } from "./connect.ts";
import { consolePath, pageInCell, portalPath } from "./headers.ts";
import { type PageCallOptions, servePageCall } from "./page-call.ts";
import { createPortalPages, createPortalSession } from "./portal.ts";
import type { BuiltConsole } from "./read-files.ts";
import { createSignIn, type SignInOptions } from "./sign-in.ts";

/** Dependencies of the console. */
export type ConsoleOptions = PageCallOptions &
  SignInOptions &
  AnswerOptions &
  ConnectOptions & {
    readonly built: BuiltConsole;
    readonly base: string;
    /** Name of the deployment's cell; undefined if the deployment is not a cell. */
    readonly cell: string | undefined;
    /** Path of the service in its public address: empty, or such as `/svc`. */
    readonly root: string;
  };

/** Serves the console and the portal. */
export type Console = {
  /** Sets the headers of every answer below `/console/` and `/portal/`, before the request is processed. */
  setHeaders(res: ServerResponse): void;
  /** Answers a request whose path `isConsolePath` accepts. */
  serve(path: string, req: IncomingMessage, res: ServerResponse): void;
  /** Redirects a browser from the service's address to the console. Returns false and does nothing if the caller is not a browser. */
  welcome(req: IncomingMessage, res: ServerResponse): boolean;
};

/** Creates the console and the portal for one listener of the server (an address on which it accepts requests). */
export function createConsole(options: ConsoleOptions): Console {
  const { built, base, cell, root } = options;
  const assets = createAssets(built);
  const session = servePageCall(createSignIn(options), options);
  const portalSession = servePageCall(createPortalSession(options), options);
  const portalPages = createPortalPages(options);
  // Handlers of POST requests, by path. A GET request to the same path returns a page.
  const posts = new Map([
    ["/console/answer", servePageCall({ POST: createAnswer(options) }, options)],
    ["/console/connect", servePageCall({ POST: createConnect(options) }, options)],
  ]);
  const redirect = (res: ServerResponse) => {
    res.writeHead(302, { location: base, "content-length": 0, vary: "accept" }).end();
  };
  // The cookie routes the later requests of this browser, whose paths name no cell.
  const enterCell = (page: string, { url = "" }: IncomingMessage, res: ServerResponse) => {
    const query = url.indexOf("?");
    const location = query < 0 ? page : `${page}${url.slice(query)}`;
    const cookie = `svc_cell=${cell}; Path=/; HttpOnly; SameSite=Lax${options.origin.isSecure() ? "; Secure" : ""}`;
    res.writeHead(302, { location, "set-cookie": cookie, "content-length": 0 }).end();
  };
  return {
    setHeaders: setPageHeaders,
    serve(path, req, res) {
      const page = pageInCell(path, cell);
      if (page !== undefined) return enterCell(`${root}${page}`, req, res);
      if (path === "/console/session") return session(req, res);
      if (path === "/portal/session") return portalSession(req, res);
      if (path.startsWith(portalPath)) return portalPages(path, req, res);
      const post = req.method === "POST" ? posts.get(path) : undefined;
      if (post !== undefined) return post(req, res);
      if (path.startsWith(consolePath)) return assets(path, req, res);
      redirect(res);
    },
    welcome(req, res) {
      const isBrowser = req.method === "GET" && /\btext\/html\b/.test(req.headers.accept ?? "");
      if (isBrowser) redirect(res);
      return isBrowser;
    },
  };
}

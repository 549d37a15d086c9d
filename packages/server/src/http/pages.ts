import type { IncomingMessage, ServerResponse } from "node:http";
import type { OauthAnswer, OauthPages } from "@svc/connections";
import { type Sandbox, sandboxAuthorizePath } from "@svc/sandbox";
import { methodNotAllowed } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { answerError } from "./answer.ts";
import { readBody } from "./body.ts";

/** Serves one path that a person's browser opens. */
export type PageHandler = (req: IncomingMessage, res: ServerResponse) => void;

/** The consent form is a few hundred bytes with a sealed request of about as many. */
const formBytesMax = 65_536;

/**
 * The pages on the way to a connected account: `/oauth/start` and `/oauth/callback`, and with a sandbox its consent page. They need no
 * key: what they carry is sealed.
 */
export function createPages(options: {
  pages: OauthPages;
  sandbox: Sandbox | undefined;
  publicUrl: () => string;
  logger: Logger;
}): ReadonlyMap<string, PageHandler> {
  const { pages, sandbox, publicUrl, logger } = options;
  const urlOf = (req: IncomingMessage) => new URL(req.url ?? "/", publicUrl());
  const serve = (methods: readonly string[], answer: (req: IncomingMessage) => Promise<OauthAnswer>): PageHandler => {
    return (req, res) => {
      const { method = "" } = req;
      if (!methods.includes(method)) {
        return answerError(res, methodNotAllowed(method, methods.join(" or ")), 405, { allow: methods.join(", ") });
      }
      answer(req).then(
        ({ status, headers, body }) => {
          if (res.destroyed) return;
          res.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) }).end(body);
        },
        (err: unknown) => {
          logger.error({ err }, "a page could not be answered");
          if (!res.headersSent) res.writeHead(503, { "content-type": "text/plain; charset=utf-8", "retry-after": "5" });
          res.end("The service cannot answer now. Try again in a moment.\n");
        },
      );
    };
  };
  const handlers: [string, PageHandler][] = [
    ["/oauth/start", serve(["GET"], (req) => pages.handleOauthStart(urlOf(req), req.headers))],
    ["/oauth/callback", serve(["GET"], (req) => pages.handleOauthCallback(urlOf(req), req.headers))],
  ];
  if (sandbox !== undefined) {
    handlers.push([sandboxAuthorizePath, serve(["GET", "POST"], (req) => answerConsent(req, sandbox, urlOf(req)))]);
  }
  return new Map(handlers);
}

async function answerConsent(req: IncomingMessage, { oauth }: Sandbox, url: URL): Promise<OauthAnswer> {
  const answer =
    req.method === "POST"
      ? oauth.decide(new URLSearchParams((await readBody(req, formBytesMax)).toString()))
      : oauth.authorizePage(url);
  const headers = {
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  };
  if ("redirect" in answer) return { status: 302, headers: { ...headers, location: answer.redirect }, body: "" };
  return {
    status: answer.status,
    headers: {
      ...headers,
      "content-type": "text/html; charset=utf-8",
      // form-action is left open: browsers hold the redirect that follows the form to it as well.
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    },
    body: answer.html,
  };
}

import type { IncomingMessage, ServerResponse } from "node:http";
import { isReadableForm, readForeignText } from "@svc/core";
import {
  clientDocument,
  clientDocumentsPath,
  type EnterConsent,
  inboxPrefix,
  type OauthAnswer,
  type OauthPages,
  type Sandbox,
  sandboxAuthorizePath,
} from "@svc/node";
import { auditAction } from "../audit/audit-action.ts";
import type { AuditLog } from "../audit/log.ts";
import { BodyError, readBody } from "../body/body.ts";
import { bodyFault, type Intake } from "../body/intake.ts";
import { serverFaults } from "../errors.ts";
import { answerError } from "../http/answer.ts";
import type { Logger } from "../logger.ts";
import { createInboxPage } from "./inbox.ts";

/** Serves a path that a person's browser opens. */
export type PageHandler = (req: IncomingMessage, res: ServerResponse) => void;

/** Maximum size in bytes of a form that a person sends from a page. The largest real form is far smaller. */
const formBytesMax = 16_384;

/**
 * Creates the pages for connecting an account: `/oauth/start`, `/oauth/callback` and, in the sandbox, the page on which a person gives
 * consent; and the sandbox inboxes. These pages need no key, because they work only with data that svc has encrypted. The documents below
 * `/oauth/clients/` are public: they describe this service to OAuth issuers.
 */
export function createPages(options: {
  pages: OauthPages;
  sandbox: Sandbox | undefined;
  publicUrl: () => string;
  intake: Intake;
  logger: Logger;
  audit: AuditLog;
}): ReadonlyMap<string, PageHandler> {
  const { pages, sandbox, publicUrl, intake, logger, audit } = options;
  const enter: EnterConsent = ({ projectId, accountId, entityId }, complete) => {
    const about = { projectId, subject: accountId, entityId, actor: { kind: "link" } } as const;
    const deed = { ...about, action: "ConsentPage.Connect" };
    return auditAction(audit, deed, complete, (failure) => {
      if (failure === undefined) return "ok";
      // The logged reason contains no secret of the OAuth exchange. The field lastError of the account shows the same text.
      logger.warn({ projectId, accountId, reason: failure }, "consent failed");
      return "failed_precondition";
    });
  };
  const urlOf = (req: IncomingMessage) => new URL(req.url ?? "/", publicUrl());
  const serve = (methods: readonly string[], answer: (req: IncomingMessage) => Promise<OauthAnswer>): PageHandler => {
    return (req, res) => {
      const { method = "" } = req;
      if (!methods.includes(method)) {
        return answerError(res, serverFaults.METHOD_NOT_ALLOWED(method, methods.join(" or ")), 405, {
          allow: methods.join(", "),
        });
      }
      answer(req).then(
        ({ status, headers, body }) => {
          if (res.destroyed) return;
          res.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) }).end(body);
        },
        (err: unknown) => {
          if (err instanceof BodyError) return refuseForm(res, err);
          logger.error({ err }, "a page could not be answered");
          if (!res.headersSent) res.writeHead(503, { "content-type": "text/plain; charset=utf-8", "retry-after": "5" });
          res.end("The service cannot answer now. Try again in a moment.\n");
        },
      );
    };
  };
  const handlers: [string, PageHandler][] = [
    ["/oauth/start", serve(["GET"], (req) => pages.handleOauthStart(urlOf(req), req.headers))],
    ["/oauth/callback", serve(["GET"], (req) => pages.handleOauthCallback(urlOf(req), req.headers, enter))],
    [clientDocumentsPath, serve(["GET"], async (req) => answerClientDocument(publicUrl(), urlOf(req)))],
  ];
  if (sandbox !== undefined) {
    handlers.push([
      sandboxAuthorizePath,
      serve(["GET", "POST"], (req) => answerConsent(req, { sandbox, intake, url: urlOf(req) })),
    ]);
    handlers.push([inboxPrefix, createInboxPage(sandbox)]);
  }
  return new Map(handlers);
}

/** Answers with the document that describes this service to an OAuth issuer as the client of a project, or with 404. */
function answerClientDocument(publicUrl: string, { pathname }: URL): OauthAnswer {
  const document = clientDocument(publicUrl, pathname.slice(pathname.lastIndexOf("/") + 1));
  const headers = { "content-type": "application/json", "cache-control": "public, max-age=3600" };
  return { status: document === undefined ? 404 : 200, headers, body: JSON.stringify(document ?? {}) };
}

type ConsentOptions = { sandbox: Sandbox; intake: Intake; url: URL };

async function answerConsent(req: IncomingMessage, { sandbox, intake, url }: ConsentOptions): Promise<OauthAnswer> {
  const { oauth } = sandbox;
  const answer = req.method === "POST" ? oauth.decide(await readForm(req, intake)) : oauth.authorizePage(url);
  const headers = {
    "cache-control": "no-store",
    // With `no-referrer`, the browser would send the form with the origin `null`.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
  };
  if ("redirect" in answer) return { status: 302, headers: { ...headers, location: answer.redirect }, body: "" };
  return {
    status: answer.status,
    headers: {
      ...headers,
      "content-type": "text/html; charset=utf-8",
      // The policy does not limit `form-action`, because browsers apply it also to the redirect after the form was sent.
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    },
    body: answer.html,
  };
}

function refuseForm(res: ServerResponse, error: BodyError): void {
  answerError(res, bodyFault(error, formBytesMax));
}

async function readForm(req: IncomingMessage, intake: Intake): Promise<URLSearchParams> {
  const charge = intake.charge(req, "keyless");
  const body = await readBody(req, formBytesMax, charge);
  charge.release();
  const read = readForeignText(body, req.headers["content-type"]);
  // The data of the form is encrypted by svc. A form that cannot be read cannot contain such data, so it counts as empty.
  return new URLSearchParams("text" in read && isReadableForm(read.text) ? read.text : "");
}

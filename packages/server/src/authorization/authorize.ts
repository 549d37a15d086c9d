import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type Clock,
  digestSecret,
  equalConstantTime,
  Fault,
  generateToken,
  hasRole,
  isWellFormedApiKey,
  type ProjectId,
  type ProjectPrincipal,
  type Sealer,
} from "@svc/core";
import type { Database } from "@svc/db/connect";
import { insertGrantCode } from "@svc/db/grants/codes";
import { findKeyById } from "@svc/db/keys/repo";
import { findProject } from "@svc/db/projects/repo";
import { auditAction } from "../audit/audit-action.ts";
import type { AuditLog } from "../audit/log.ts";
import { isValidKey, type KeyCache, projectPrincipalOf } from "../auth/key-cache.ts";
import type { KeyUse } from "../auth/key-use.ts";
import { withinLimit } from "../console/links.ts";
import type { ConsoleOrigin } from "../console/proof.ts";
import type { Sessions } from "../console/sessions.ts";
import type { SignInLimit } from "../console/sign-in-limit.ts";
import { serverFaults } from "../errors.ts";
import { splitTarget } from "../http/answer.ts";
import { httpStatusOf } from "../rpc/connect-error.ts";
import { type DecisionDetails, decisionPage, errorPage, identityPage, refusalPage } from "./consent-page.ts";
import {
  answerUrl,
  type ConsentRequest,
  createSeals,
  readConsentRequest,
  UntrustedClientError,
  type VouchedRequest,
} from "./consent-request.ts";
import { ClientDocumentError, type FindClient } from "./find-client.ts";
import { generateText } from "./grants.ts";
import { answerPage, pageHeaders } from "./html.ts";
import type { ServiceUrlsOf } from "./metadata.ts";
import { type Choice, type OfferSources, offerOf, readChoice } from "./scopes.ts";
import { type AuthorizationOptions, AuthorizationRefusal, readForm } from "./serve.ts";

/**
 * Dependencies of `identify`, which finds out as whom a person uses the consent page: with a console session, or with a key that the person
 * typed.
 */
type IdentifyOptions = {
  readonly clock: Clock;
  readonly keys: KeyCache;
  readonly use: KeyUse;
  readonly sessions: Sessions | undefined;
  readonly origin: ConsoleOrigin;
  readonly limit: SignInLimit;
  readonly addressOf: (req: IncomingMessage) => string;
};

/** Dependencies of the consent page. */
export type AuthorizeOptions = AuthorizationOptions &
  IdentifyOptions & {
    readonly db: Database;
    readonly sealer: Sealer;
    readonly findClient: FindClient;
    /** Returns the toolkits (apps) and entities (customers or users) of a project, from which the person can choose. */
    readonly sourcesOf: (projectId: ProjectId) => Promise<OfferSources>;
    readonly urlsOf: ServiceUrlsOf;
    readonly audit: AuditLog;
  };

/** Time from the opening of the consent page in which the person must decide, in milliseconds. */
const decisionMs = 600_000;
/** Lifetime of an authorization code, in milliseconds. */
const codeMs = 60_000;

type AuthorizeHandler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/**
 * Creates the handlers of the consent page, on which a person gives a client access. GET shows the client and changes nothing. The first
 * POST identifies the person; the second POST takes the person's decision. A POST is accepted only from this page, in the browser that
 * opened the page.
 */
export function createAuthorize(options: AuthorizeOptions): { GET: AuthorizeHandler; POST: AuthorizeHandler } {
  const { sealer, clock, origin, urlsOf, findClient } = options;
  const seals = createSeals(sealer, clock);
  const parts = { ...options, seals };
  return {
    GET: (req, res) =>
      withPages(res, async () => {
        const parameters = new URLSearchParams(splitTarget(req).query);
        const asked = await readConsentRequest(parameters, urlsOf(req), (id) => findClient(id, req));
        if ("refusal" in asked) return answerPage(res, refusalPage(asked));
        const browser = cookieOf(req, origin) ?? generateToken();
        res.setHeader("set-cookie", cookieText(browser, origin));
        const request: ConsentRequest = { ...asked, browser: digestOf(browser), expiresAt: clock.now() + decisionMs };
        answerPage(res, identityPage(request, seals.asked.seal(request)));
      }),
    POST: (req, res) =>
      withPages(res, async () => {
        const refusal = origin.faultOf(req);
        if (refusal !== undefined) throw refusal;
        const form = await readForm(req, options, ["access", "toolkit", "agent-tools"]);
        const vouched = seals.vouched.open(form.get("vouched") ?? "");
        const asked = vouched ?? seals.asked.open(form.get("asked") ?? "");
        const browser = cookieOf(req, origin);
        if (asked === undefined || browser === undefined || !equalConstantTime(digestOf(browser), asked.browser))
          throw new UntrustedClientError(
            "The page is from another browser, or was open for too long. Begin again in the program.",
          );
        if (form.get("decision") === "deny") return leave(res, asked, { error: "access_denied" });
        if (vouched === undefined) return vouch(asked, form, req, res, parts);
        return decide(vouched, form, res, parts);
      }),
  };
}

/**
 * Runs `answer` (which handles a request of a person's browser). If it fails, sends the error as a page for the person. The OAuth client
 * does not receive these errors.
 */
async function withPages(res: ServerResponse, answer: () => Promise<void>): Promise<void> {
  try {
    await answer();
  } catch (error) {
    if (error instanceof UntrustedClientError || error instanceof ClientDocumentError)
      answerPage(res, errorPage(400, error.message));
    else if (error instanceof AuthorizationRefusal) answerPage(res, errorPage(error.status, error.message));
    else if (error instanceof Fault)
      answerPage(res, errorPage(httpStatusOf(error.code), error.message, error.details[0]?.help));
    else throw error;
  }
}

type AuthorizeParts = AuthorizeOptions & { readonly seals: ReturnType<typeof createSeals> };

/**
 * Checks the key of the person who wants to give an MCP client access, and answers with the page on which the person decides. If the check
 * fails, answers with the sign-in page again, which shows the error.
 */
async function vouch(
  request: ConsentRequest,
  form: URLSearchParams,
  req: IncomingMessage,
  res: ServerResponse,
  parts: AuthorizeParts,
): Promise<void> {
  const { seals } = parts;
  let principal: ProjectPrincipal;
  try {
    principal = await identify(form, req, parts);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return answerPage(
      res,
      identityPage(request, seals.asked.seal(request), { fault: error, status: httpStatusOf(error.code) }),
    );
  }
  const { projectId, keyId } = principal;
  const vouched: VouchedRequest = { ...request, projectId, keyId };
  answerPage(res, decisionPage(request, seals.vouched.seal(vouched), await detailsOf(vouched, parts)));
}

/**
 * Returns the principal of the person who decides about the client. The person has a console session, or has typed a key. Rejects with
 * SESSION_INVALID, KEY_NEEDED, API_KEY_INVALID or SIGN_INS_EXCEEDED.
 */
async function identify(
  form: URLSearchParams,
  req: IncomingMessage,
  options: IdentifyOptions,
): Promise<ProjectPrincipal> {
  const { clock, keys, use, sessions, origin } = options;
  const [seat, half, text] = [form.get("seat"), form.get("half"), form.get("key")?.trim()];
  if (seat !== null && half !== null && sessions !== undefined) {
    const cookie = origin.proofOf(req)?.cookie;
    const principal = await sessions.authenticate({
      cookie,
      half,
      seat,
      originFault: origin.faultOf(req),
      isPortal: false,
    });
    if (principal.kind === "project") return requireMember(principal);
  }
  if (!text) throw serverFaults.KEY_NEEDED();
  return withinLimit(options, req, text, async () => {
    const key = await keys.find(digestSecret(text));
    if (key === undefined || key.purpose !== "" || !isValidKey(key, clock.now()))
      throw serverFaults.API_KEY_INVALID(text.startsWith("svc_") && !isWellFormedApiKey(text));
    use.note(key.id);
    return requireMember(projectPrincipalOf(key));
  });
}

/** Returns the caller. Throws ROLE_REQUIRED if its key only reads, because it cannot give more than it has. */
function requireMember(principal: ProjectPrincipal): ProjectPrincipal {
  if (hasRole(principal.role, "member")) return principal;
  throw serverFaults.ROLE_NOT_FOR_AGENTS(principal.role);
}

/**
 * Handles the form in which a person allows or denies the access of a client. Redirects the browser to the client, with a code if the
 * person allowed it. If the form is incomplete, answers with the same form again.
 */
async function decide(
  vouched: VouchedRequest,
  form: URLSearchParams,
  res: ServerResponse,
  parts: AuthorizeParts,
): Promise<void> {
  const details = await detailsOf(vouched, parts);
  const isAllowed = form.get("decision") === "allow";
  const binding = isAllowed
    ? readChoice(form, details.offer, vouched)
    : { fault: "Nothing was decided: press Allow or Deny." };
  if (!("fault" in binding)) {
    const { projectId, keyId, clientId } = vouched;
    // The audit log shows the key of the person as the actor, because the grant can do at most what this key can do.
    const about = { projectId, subject: clientId, entityId: binding.entityId, actor: { kind: "key", keyId } as const };
    const code = await auditAction(parts.audit, { ...about, action: "GrantPage.Allow" }, () =>
      makeCode(vouched, binding, parts),
    );
    return leave(res, vouched, { code });
  }
  const { fault } = binding;
  answerPage(res, decisionPage(vouched, parts.seals.vouched.seal(vouched), { ...details, form, fault }));
}

/**
 * Returns the contents of the OAuth page on which a person decides what access a client gets. Throws UntrustedClientError if the person's
 * key was revoked or has expired.
 */
async function detailsOf({ projectId, keyId }: VouchedRequest, options: AuthorizeOptions): Promise<DecisionDetails> {
  const { db, clock, sourcesOf } = options;
  const [project, key] = await Promise.all([findProject(db, projectId), findKeyById(db, keyId)]);
  if (key === undefined || !isValidKey(key, clock.now()))
    throw new UntrustedClientError("The key was revoked meanwhile. Begin again in the program, with another one.");
  return { projectName: project?.name ?? "", keyName: key.name, offer: offerOf(key, await sourcesOf(projectId)) };
}

async function makeCode(vouched: VouchedRequest, binding: Choice, { db, clock }: AuthorizeOptions): Promise<string> {
  const { projectId, keyId, clientId, clientName, redirectUri, challenge, resource } = vouched;
  const { entityId, accessClasses, toolkitSlugs, agentTools } = binding;
  const code = generateText("code");
  await insertGrantCode(db, {
    ...{ digest: digestSecret(code), projectId, voucherKeyId: keyId, clientId, clientName },
    ...{ redirectUri, challenge, resource, entityId },
    ...{ accessClasses: [...accessClasses], toolkitSlugs: [...toolkitSlugs], agentTools: [...agentTools] },
    ...{ expiresAt: clock.now() + codeMs, spentAt: null, grantId: null },
  });
  return code;
}

/**
 * Redirects the browser to the client's redirect address. Must be called only after the person has pressed a button, because anyone can
 * register a client with any redirect address.
 */
function leave(res: ServerResponse, request: ConsentRequest, parameters: Readonly<Record<string, string>>): void {
  res.writeHead(303, { ...pageHeaders, location: answerUrl(request, parameters), "content-length": 0 }).end();
}

function digestOf(browser: string): string {
  return digestSecret(browser).toString("base64url");
}

function cookieName(origin: ConsoleOrigin): string {
  return origin.cookieName().replace("svc_console_", "svc_grant_");
}

/**
 * Returns the text of the cookie that ties the consent page to its browser. SameSite=Strict is not possible, because other sites open the
 * page. The cookie alone gives no access.
 */
function cookieText(value: string, origin: ConsoleOrigin): string {
  const secure = origin.isSecure() ? "; Secure" : "";
  return `${cookieName(origin)}=${value}; Path=/; Max-Age=${decisionMs / 1_000}; HttpOnly; SameSite=Lax${secure}`;
}

function cookieOf(req: IncomingMessage, origin: ConsoleOrigin): string | undefined {
  const name = cookieName(origin);
  const pairs = (req.headers.cookie ?? "").split(";").map((pair) => pair.trim().split("=", 2));
  const value = pairs.find(([key]) => key === name)?.[1];
  return value !== undefined && /^[\w-]{43}$/.test(value) ? value : undefined;
}

import type { IncomingMessage, ServerResponse } from "node:http";
import {
  digestSecret,
  equalConstantTime,
  Fault,
  generateToken,
  type ProjectId,
  type ProjectPrincipal,
  type Sealer,
} from "@svc/core";
import type { Database } from "@svc/db/connect";
import { insertGrantCode } from "@svc/db/grants/codes";
import { findKeyById } from "@svc/db/keys/repo";
import { findProject } from "@svc/db/projects/repo";
import { asDeed } from "../audit/enter-deeds.ts";
import type { AuditLog, Deed } from "../audit/log.ts";
import { isValidKey } from "../auth/key-cache.ts";
import type { ConsoleOrigin } from "../console/proof.ts";
import { splitTarget } from "../http/answer.ts";
import { httpStatusOf } from "../rpc/connect-error.ts";
import { type Asked, answerUrl, ClientUntrusted, createSeals, readAsked, type Vouched } from "./asked.ts";
import { ClientDocumentError } from "./client.ts";
import type { FindClient } from "./clients.ts";
import { askPage, type Deciding, deadPage, decidePage, refusedPage } from "./consent-pages.ts";
import { generateText } from "./grants.ts";
import { answerPage, pageHeaders } from "./html.ts";
import { type IdentifyOptions, identify } from "./identify.ts";
import type { PlaceOf } from "./metadata.ts";
import { type Choice, type OfferSources, offerOf, readChoice } from "./scopes.ts";
import { type AuthorizationOptions, AuthorizationRefusal, readForm } from "./serve.ts";

/** What asking a person works with. */
export type AuthorizeOptions = AuthorizationOptions &
  IdentifyOptions & {
    readonly db: Database;
    readonly sealer: Sealer;
    readonly findClient: FindClient;
    /** What a project has to choose from. */
    readonly sourcesOf: (projectId: ProjectId) => Promise<OfferSources>;
    readonly placeOf: PlaceOf;
    readonly audit: AuditLog;
  };

/** How long a person has to decide, milliseconds. */
const decisionMs = 600_000;
/** How long a code waits to be changed into tokens, milliseconds. */
const codeMs = 60_000;

type Answer = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/**
 * Makes the page on which a person lets a client in. GET shows who asks and changes nothing. POST takes first who the person is, then what
 * they decide; both come from this page alone, in the browser that opened it.
 */
export function createAuthorize(options: AuthorizeOptions): { GET: Answer; POST: Answer } {
  const { sealer, clock, origin, placeOf, findClient } = options;
  const seals = createSeals(sealer, clock);
  const parts = { ...options, seals };
  return {
    GET: (req, res) =>
      withPages(res, async () => {
        const parameters = new URLSearchParams(splitTarget(req).query);
        const asked = await readAsked(parameters, placeOf(req), (id) => findClient(id, req));
        if ("refusal" in asked) return answerPage(res, refusedPage(asked));
        const browser = cookieOf(req, origin) ?? generateToken();
        res.setHeader("set-cookie", cookieText(browser, origin));
        const whole: Asked = { ...asked, browser: digestOf(browser), expiresAt: clock.now() + decisionMs };
        answerPage(res, askPage(whole, seals.asked.seal(whole)));
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
          throw new ClientUntrusted(
            "The page is from another browser, or was open for too long. Begin again in the program.",
          );
        if (form.get("decision") === "deny") return leave(res, asked, { error: "access_denied" });
        if (vouched === undefined) return vouch(asked, form, req, res, parts);
        return decide(vouched, form, res, parts);
      }),
  };
}

/** Whatever is wrong is told to the person, and to no client. */
async function withPages(res: ServerResponse, answer: () => Promise<void>): Promise<void> {
  try {
    await answer();
  } catch (error) {
    if (error instanceof ClientUntrusted || error instanceof ClientDocumentError)
      answerPage(res, deadPage(400, error.message));
    else if (error instanceof AuthorizationRefusal) answerPage(res, deadPage(error.status, error.message));
    else if (error instanceof Fault)
      answerPage(res, deadPage(httpStatusOf(error.code), error.message, error.details[0]?.help));
    else throw error;
  }
}

type Parts = AuthorizeOptions & { readonly seals: ReturnType<typeof createSeals> };

/** Takes who the person is, and shows what there is to decide; what opens nothing is told on the page that asked for it. */
async function vouch(
  asked: Asked,
  form: URLSearchParams,
  req: IncomingMessage,
  res: ServerResponse,
  parts: Parts,
): Promise<void> {
  const { seals } = parts;
  let principal: ProjectPrincipal;
  try {
    principal = await identify(form, req, parts);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return answerPage(res, askPage(asked, seals.asked.seal(asked), { fault: error, status: httpStatusOf(error.code) }));
  }
  const { projectId, keyId } = principal;
  const vouched: Vouched = { ...asked, projectId, keyId };
  answerPage(res, decidePage(asked, seals.vouched.seal(vouched), await decidingOf(vouched, parts)));
}

/** Takes what they decided. */
async function decide(vouched: Vouched, form: URLSearchParams, res: ServerResponse, parts: Parts): Promise<void> {
  const deciding = await decidingOf(vouched, parts);
  const isAllowed = form.get("decision") === "allow";
  const binding = isAllowed
    ? readChoice(form, deciding.offer, vouched)
    : { fault: "Nothing was decided: press Allow or Deny." };
  if (!("fault" in binding)) {
    const { projectId, clientId } = vouched;
    const about = { projectId, subject: clientId, entityId: binding.entityId, actor: actorOf(vouched) };
    const code = await asDeed(parts.audit, { ...about, action: "GrantPage.Allow" }, () =>
      makeCode(vouched, binding, parts),
    );
    return leave(res, vouched, { code });
  }
  const { fault } = binding;
  answerPage(res, decidePage(vouched, parts.seals.vouched.seal(vouched), { ...deciding, form, fault }));
}

/** What there is to decide. Throws ClientUntrusted where the key has ended meanwhile. */
async function decidingOf({ projectId, keyId }: Vouched, options: AuthorizeOptions): Promise<Deciding> {
  const { db, clock, sourcesOf } = options;
  const [project, key] = await Promise.all([findProject(db, projectId), findKeyById(db, keyId)]);
  if (key === undefined || !isValidKey(key, clock.now()))
    throw new ClientUntrusted("The key was revoked meanwhile. Begin again in the program, with another one.");
  return { projectName: project?.name ?? "", keyName: key.name, offer: offerOf(key, await sourcesOf(projectId)) };
}

/** Whose key it was shown, or whose session: what the grant may do at most is what the key may. */
function actorOf({ keyId }: Vouched): Deed["actor"] {
  return { kind: "key", keyId };
}

async function makeCode(vouched: Vouched, binding: Choice, { db, clock }: AuthorizeOptions): Promise<string> {
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

/** Leads the browser back to the client: only ever after a person has pressed a button. */
function leave(res: ServerResponse, asked: Asked, parameters: Readonly<Record<string, string>>): void {
  res.writeHead(303, { ...pageHeaders, location: answerUrl(asked, parameters), "content-length": 0 }).end();
}

function digestOf(browser: string): string {
  return digestSecret(browser).toString("base64url");
}

function cookieName(origin: ConsoleOrigin): string {
  return origin.cookieName().replace("svc_console_", "svc_grant_");
}

/** Not Strict: the page is opened from elsewhere, in a second tab as well, and would be sent no cookie of the first. It opens nothing alone. */
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

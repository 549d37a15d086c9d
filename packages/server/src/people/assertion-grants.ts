import type { IncomingMessage } from "node:http";
import { type Clock, createId, digestSecret, Fault, generateToken, hasRole, strictestRule } from "@svc/core";
import { type Database, type Executor, withTransaction } from "@svc/db/connect";
import { touchGrantClient } from "@svc/db/grants/codes";
import { type AssertedGrant, insertGrant, listAssertedGrants } from "@svc/db/grants/repo";
import { type Grant, insertGrantTokens } from "@svc/db/grants/tokens";
import { type ApiKey, findKeyById, lockApiKey } from "@svc/db/keys/repo";
import { findPersonBySubject, useAssertion } from "@svc/db/people/people";
import { type ListedSeat, listSeats } from "@svc/db/people/seats";
import { auditAction } from "../audit/audit-action.ts";
import type { AuditLog } from "../audit/log.ts";
import type { Client } from "../authorization/clients.ts";
import type { FindClient } from "../authorization/find-client.ts";
import { generateText } from "../authorization/grants.ts";
import { type AccessScope, accessScopes, firstScopes, scopeText } from "../authorization/scopes.ts";
import { AuthorizationRefusal } from "../authorization/serve.ts";
import type { ExchangeAssertion } from "../authorization/token.ts";
import type { People } from "./people.ts";

/**
 * Lifetime of an access token for an assertion, in milliseconds. No refresh token is given, so the provider decides again after this time.
 */
const tokenMs = 300_000;
const assertionType = "oauth-id-jag+jwt";

/** Dependencies of the exchange of assertions. */
type AssertionOptions = {
  readonly people: People;
  readonly db: Database;
  readonly clock: Clock;
  readonly audit: AuditLog;
  readonly findClient: FindClient;
};

/**
 * Creates the function that exchanges an identity assertion of the company's identity provider for an access token (Identity Assertion JWT
 * Authorization Grant). The provider decides which client may act for which person. The token is valid for five minutes.
 */
export function createAssertionGrants(options: AssertionOptions): ExchangeAssertion {
  const { db, clock, audit } = options;
  return async ({ form, clientId, resource, issuer }, req) => {
    const nowMs = clock.now();
    const { subject, scope } = await readAssertion(form, { clientId, resource, issuer }, options);
    const client = await clientOf(clientId, req, options);
    const { classes, project } = readScopes(scope, form.get("scope") ?? "");
    const { personId, keyId: voucherKeyId, projectId } = await seatOf(subject, project, options);
    const known = { projectId, voucherKeyId, clientId, clientOrigin: new URL(options.people.settings.issuer).origin };
    const access = generateText("access");
    const actor = { kind: "person", personId } as const;
    const about = { actor, action: "GrantAssertion.Exchange", projectId, subject: clientId, entityId: "" };
    const work = () =>
      withTransaction(db, async (tx) => {
        // The lock makes two assertions for the same person run one after the other. The second one finds the grant of the first.
        await lockApiKey(tx, voucherKeyId);
        const grant = await grantOf(tx, { ...known, resource }, { client, classes, nowMs });
        if (grant === undefined) return undefined;
        const expiresAt = nowMs + tokenMs;
        await insertGrantTokens(tx, [
          { grantId: grant.id, kind: "access", digest: digestSecret(access), expiresAt, spentAt: null },
        ]);
        await touchGrantClient(tx, clientId, nowMs);
        return findKeyById(tx, grant.keyId);
      });
    const granted = await auditAction(audit, about, work, (key) => (key === undefined ? "permission_denied" : "ok"));
    if (granted === undefined)
      throw new AuthorizationRefusal("invalid_scope", "a person has removed this access from the grants of the client");
    return { access_token: access, token_type: "Bearer", expires_in: tokenMs / 1_000, scope: scopeText(granted) };
  };
}

/**
 * Returns the subject and the scope of an assertion. Throws AuthorizationRefusal unless it is valid, for this service and client, and new.
 */
async function readAssertion(
  form: URLSearchParams,
  { clientId, resource, issuer }: { clientId: string; resource: string; issuer: string },
  { people, db }: AssertionOptions,
): Promise<{ subject: string; scope: string }> {
  const required = ["sub", "client_id", "jti", "exp", "iat"];
  const claims = await people.provider.tokens
    .verify(form.get("assertion") ?? "", { type: assertionType, audience: issuer, required })
    .catch((error: unknown) => {
      if (error instanceof Fault) throw refused(error.message);
      throw error;
    });
  if (claims["client_id"] !== clientId) throw refused("the assertion is for another client");
  if (claims["resource"] !== undefined && claims["resource"] !== resource)
    throw new AuthorizationRefusal("invalid_target", `the assertion is for another resource than ${resource}`);
  const { jti = "", exp = 0, sub = "" } = claims;
  if (!(await useAssertion(db, digestSecret(`assertion ${jti}`), exp * 1_000 + keptMs)))
    throw refused("the assertion was used before");
  return { subject: sub, scope: typeof claims["scope"] === "string" ? claims["scope"] : "" };
}

/** Milliseconds for which a used assertion is remembered after its expiry, because clocks differ. */
const keptMs = 600_000;

async function clientOf(clientId: string, req: IncomingMessage, { findClient }: AssertionOptions): Promise<Client> {
  const client = await findClient(clientId, req);
  if (client === undefined) throw refused("the client is unknown: register it, or use the address of its description");
  return client;
}

/**
 * Returns the access classes and the project that a client gets with the scope of an assertion and the scope of its form, which is not
 * signed. The form can ask for less than the assertion allows, and for a project if the assertion names none. An assertion without access
 * classes allows `firstScopes`. Throws AuthorizationRefusal if the form asks for more.
 */
function readScopes(signed: string, form: string): { classes: AccessScope[]; project: string | undefined } {
  const [allowed, asked] = [signed.split(" "), form.split(" ")];
  const classesIn = (scopes: readonly string[]) => accessScopes.filter((scope) => scopes.includes(scope));
  const projectIn = (scopes: readonly string[]) =>
    scopes.find((scope) => scope.startsWith(projectScope))?.slice(projectScope.length);
  const [most, fewer] = [classesIn(allowed), classesIn(asked)];
  if (most.length === 0) most.push(...firstScopes);
  const project = projectIn(allowed) ?? projectIn(asked);
  const isWithin = fewer.every((scope) => most.includes(scope)) && (projectIn(asked) ?? project) === project;
  if (!isWithin) throw new AuthorizationRefusal("invalid_scope", "the scope is more than the assertion allows");
  return { classes: fewer.length === 0 ? most : fewer, project };
}

/**
 * Returns the seat of a person that the grant uses: the only one that may call tools, or the one of the project that the scope names as
 * `project:prj_…`. Throws AuthorizationRefusal if there is none.
 */
async function seatOf(
  subject: string,
  named: string | undefined,
  { people: { settings }, db }: AssertionOptions,
): Promise<ListedSeat> {
  const person = await findPersonBySubject(db, { issuer: settings.issuer, subject });
  if (person === undefined) throw refused("the person has not signed in to the console of this service");
  const seats = (await listSeats(db, person.id)).filter(
    ({ isLive, role, projectId }) => isLive && hasRole(role, "member") && (named === undefined || projectId === named),
  );
  const [seat, other] = seats;
  if (seat === undefined) throw refused("the person has no role that may call tools");
  if (other === undefined) return seat;
  throw new AuthorizationRefusal(
    "invalid_scope",
    `the person has several projects: add the scope ${projectScope}prj_...`,
  );
}

const projectScope = "project:";

type Known = Parameters<typeof listAssertedGrants>[1];

/**
 * Returns the grant that assertions for these access classes have opened before, as a person may have narrowed it. If there is none, opens
 * one, with the limits that a person set on the client's other grants. Returns undefined if these limits leave nothing.
 */
async function grantOf(
  tx: Executor,
  known: Known,
  { client, classes, nowMs }: { client: Client; classes: AccessScope[]; nowMs: number },
): Promise<Pick<Grant, "id" | "keyId"> | undefined> {
  const given = await listAssertedGrants(tx, known);
  const same = given.find(({ assertedClasses }) => assertedClasses?.join() === classes.join());
  if (same !== undefined) return same;
  const limits = limitsFrom(given, classes);
  if (limits === undefined) return undefined;
  const key: ApiKey = {
    ...{ id: createId("key", nowMs), projectId: known.projectId, role: "member", name: client.name, hint: "" },
    ...{ entityId: "", agentTools: [], makerKeyId: null, purpose: "", ...limits },
    ...{ digest: digestSecret(generateToken()), createdAt: nowMs, expiresAt: null, revokedAt: null, lastUsedAt: null },
  };
  const opened = { keyId: key.id, clientName: client.name, assertedClasses: classes, createdAt: nowMs };
  const grant = { ...known, ...opened, id: createId("grt", nowMs) };
  await insertGrant(tx, grant, key);
  return grant;
}

/**
 * Returns the limits of a new grant for access classes: without the classes that a person removed from the client's other grants, with the
 * toolkits that all of these allow, and with the strictest of their confirmation rules. Undefined if no class or no toolkit is left.
 */
function limitsFrom(
  given: readonly AssertedGrant[],
  classes: readonly AccessScope[],
): Pick<ApiKey, "accessClasses" | "toolkitSlugs" | "confirm"> | undefined {
  const isRemoved = (one: AccessScope) =>
    given.some(({ assertedClasses, accessClasses }) => assertedClasses?.includes(one) && !accessClasses.includes(one));
  const accessClasses = classes.filter((one) => !isRemoved(one));
  const limited = given.map(({ toolkitSlugs }) => toolkitSlugs).filter((slugs) => slugs.length > 0);
  const [first = [], ...others] = limited;
  const toolkitSlugs = first.filter((slug) => others.every((slugs) => slugs.includes(slug)));
  if (accessClasses.length === 0 || (limited.length > 0 && toolkitSlugs.length === 0)) return undefined;
  return { accessClasses, toolkitSlugs, confirm: strictestRule(given.map(({ confirm }) => confirm)) };
}

function refused(why: string): AuthorizationRefusal {
  return new AuthorizationRefusal("invalid_grant", why.replaceAll(/["\\]|[^\x20-\x7e]/g, ""));
}

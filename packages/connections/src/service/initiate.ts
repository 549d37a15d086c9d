import { create } from "@bufbuild/protobuf";
import { type AuthScheme, catalogFaults, isPlayed, type Toolkit } from "@svc/catalog";
import {
  bindingFaults,
  call,
  createId,
  formatValue,
  isEntityGranted,
  isEntityId,
  isToolkitGranted,
  type LinkId,
  type ProjectPrincipal,
  text,
} from "@svc/core";
import type { ConnectedAccount } from "@svc/db/connections/account";
import { connectedAccountsForProject } from "@svc/db/connections/repo";
import { findProject } from "@svc/db/projects/repo";
import {
  type InitiateConnectionRequest,
  type InitiateConnectionResponse,
  InitiateConnectionResponseSchema,
} from "@svc/gen/connections";
import { checkVariables } from "../check-variables.ts";
import { toConnectedAccount } from "../convert.ts";
import { type Credential, sealCredential } from "../credential.ts";
import { definitionOf, originDigestOf } from "../definition.ts";
import { connectionFaults } from "../errors.ts";
import { callbackUrlOf } from "../oauth-flow.ts";
import { consentMs, consentTotalMs, createStateSealer } from "../oauth-state.ts";
import type { ConnectionsOptions } from "../options.ts";
import { probe } from "../probe.ts";
import { checkRedirectUrl } from "../redirect-url.ts";
import { activateOrRefuse } from "./activate-or-refuse.ts";
import { checkSecret } from "./read-credential.ts";

/**
 * Made-up credential, which svc stores if the caller sends none. Only the sandbox accepts calls without a credential, and its apps check
 * none.
 */
const madeUp = "sandbox";

type Given = Pick<InitiateConnectionRequest, "apiKey" | "basic">;

/**
 * Connects an account for a key, or through a connect link of that key. The checks have the order in which InitiateConnection documents its
 * refusals.
 */
export async function initiate(
  options: ConnectionsOptions,
  request: InitiateConnectionRequest,
  principal: ProjectPrincipal,
  linkId?: LinkId,
): Promise<InitiateConnectionResponse> {
  const { projectId } = principal;
  const entityId = checkBinding(principal, request);
  const view = await options.views.forProject(projectId);
  const toolkit = view.toolkits.get(request.toolkitSlug);
  if (toolkit === undefined) throw catalogFaults.TOOLKIT_NOT_FOUND("toolkitSlug", request.toolkitSlug, view);
  const { redirectUrl } = request;
  if (!isEntityId(entityId)) throw connectionFaults.ENTITY_ID_INVALID(entityId);
  const scheme = chooseScheme(toolkit, request.scheme);
  checkVariables(toolkit, request.accountVariables, options.guard);
  checkRole(toolkit, principal);
  if (scheme.type === "oauth2") await checkConnectable(options, toolkit, scheme);
  const isSandbox = isPlayed(toolkit, options.sandboxMode);
  const credential = readCredential(scheme.type, request, { isSandbox });
  checkRedirectUrl(redirectUrl, (await findProject(options.db, projectId))?.redirectUrls ?? []);
  const account = { projectId, toolkit, entityId, variables: request.accountVariables };
  if (credential === undefined) {
    const row = await keepPending(options, account);
    const authorizeUrl = startUrlOf(options, row, redirectUrl, linkId);
    return create(InitiateConnectionResponseSchema, { account: toMessage(options, row), authorizeUrl });
  }
  const tried = await tryCredential(options, { ...account, credential });
  const credentialTried = tried.isTaken && !isSandbox;
  const row = await activateOrRefuse(options, { ...account, credential: tried.credential, isTaken: credentialTried });
  return create(InitiateConnectionResponseSchema, { account: toMessage(options, row), credentialTried });
}

function toMessage({ clock }: ConnectionsOptions, row: ConnectedAccount) {
  return toConnectedAccount(row, clock.now());
}

/**
 * Returns the authentication scheme that the caller requested, or else the only scheme that the app's toolkit declares. Throws
 * SCHEME_REQUIRED, SCHEME_NOT_DECLARED and SCHEME_HELD_BY_PROJECT.
 */
export function chooseScheme(toolkit: Toolkit, asked: string): AuthScheme {
  const forEntities = toolkit.auth.filter(({ type }) => type !== "client_credentials");
  if (asked === "" && forEntities.length > 1) {
    throw connectionFaults.SCHEME_REQUIRED(
      toolkit.slug,
      forEntities.map(({ type }) => type),
    );
  }
  const scheme = asked === "" ? (forEntities[0] ?? toolkit.auth[0]) : toolkit.auth.find(({ type }) => type === asked);
  if (scheme === undefined) throw connectionFaults.SCHEME_NOT_DECLARED("scheme", asked, toolkit);
  if (scheme.type === "client_credentials") throw connectionFaults.SCHEME_HELD_BY_PROJECT(toolkit.slug);
  return scheme;
}

/**
 * Returns the entity (customer or user) for which a request connects an account. If the request names none, a scoped key uses its own
 * entity. Throws ENTITY_BOUND, TOOLKIT_NOT_FOUND.
 */
export function checkBinding(
  { binding }: Pick<ProjectPrincipal, "binding">,
  { entityId, toolkitSlug }: { readonly entityId: string; readonly toolkitSlug: string },
): string {
  if (binding === undefined) return entityId;
  if (!isToolkitGranted(binding, toolkitSlug)) throw catalogFaults.TOOLKIT_NOT_FOUND("toolkitSlug", toolkitSlug);
  if (entityId === "") return binding.entityId;
  if (!isEntityGranted(binding, entityId))
    throw bindingFaults.ENTITY_BOUND("entityId", `is ${formatValue(entityId)}`, binding);
  return entityId;
}

/** Throws ORIGIN_NEEDS_APPROVER if the connecting person can choose the app's address and the key is not an approver's. */
export function checkRole(toolkit: Toolkit, { role }: ProjectPrincipal): void {
  if (role === "approver" || !toolkit.account.some(({ decidesOrigin }) => decidesOrigin)) return;
  throw connectionFaults.ORIGIN_NEEDS_APPROVER(toolkit);
}

/**
 * Throws TOOLKIT_NOT_CONNECTABLE if accounts of the toolkit's app cannot be connected. In the sandbox, every toolkit counts as having an
 * OAuth client, even a private one.
 */
export async function checkConnectable(
  options: Pick<ConnectionsOptions, "isOauthRegistered" | "oauth" | "publicUrl">,
  toolkit: Toolkit,
  scheme: AuthScheme & { type: "oauth2" },
): Promise<void> {
  const { slug, ownerProjectId } = toolkit;
  if (!(await options.isOauthRegistered(toolkit))) {
    if (ownerProjectId !== "") throw connectionFaults.TOOLKIT_NOT_CONNECTABLE(slug, ...clientNeeded(options, scheme));
    const why = `no OAuth client is registered (toolkits.${slug}.oauth in the deployment file, with both variables it names set)`;
    throw connectionFaults.TOOLKIT_NOT_CONNECTABLE(slug, why);
  }
  const client = await options.oauth.clientOf(toolkit);
  const { authorizeUrl, tokenUrl } = client ?? scheme;
  const addresses = { auth_url: authorizeUrl, token_url: tokenUrl };
  const [unbound] = Object.entries(addresses).find(([, address]) => !URL.canParse(address)) ?? [];
  if (unbound !== undefined) {
    throw connectionFaults.TOOLKIT_NOT_CONNECTABLE(
      slug,
      `the deployment file does not bind toolkits.${slug}.${unbound}`,
    );
  }
  if (client === undefined) throw connectionFaults.TOOLKIT_NOT_CONNECTABLE(slug, "its OAuth client is not available");
}

/** Returns why a private toolkit without an OAuth client cannot be connected, and advice: which client to register where. */
function clientNeeded(
  { publicUrl }: Pick<ConnectionsOptions, "publicUrl">,
  { issuer, tokenUrl }: AuthScheme & { type: "oauth2" },
) {
  const redirectUrl = callbackUrlOf(publicUrl(), issuer ?? tokenUrl);
  const advice = text`Register a client at ${issuer ?? new URL(tokenUrl).origin} with the redirect address ${redirectUrl}, and store it with ${call("PutToolkitClient")}.`;
  return ["the project has no OAuth client for it", advice] as const;
}

type Subject = Pick<Parameters<typeof probe>[0], "projectId" | "toolkit" | "entityId" | "variables">;

/**
 * Tests a credential with a request to the app. Returns the credential, with `isTaken`: true if the app accepted it, false if svc could not
 * test it. Throws an error if the app refused the credential or the test failed.
 */
async function tryCredential(
  options: ConnectionsOptions,
  account: Subject & { credential: Credential },
): Promise<{ credential: Credential; isTaken: boolean }> {
  const { credential, toolkit } = account;
  const result = await probe(account, options);
  switch (result.kind) {
    case "skipped":
      return { credential, isTaken: false };
    case "taken": {
      const { reference } = result;
      const named = reference === undefined ? credential : { ...credential, verified_reference: reference };
      return { credential: named, isTaken: true };
    }
    case "unplaceable":
      throw connectionFaults.CREDENTIAL_INVALID(
        credential.scheme === "basic" ? "basic" : "apiKey",
        `cannot be sent: ${result.message}`,
      );
    case "refused":
      throw connectionFaults.CREDENTIAL_REFUSED(toolkit.slug, result.message);
    case "failed":
      throw connectionFaults.PROBE_FAILED(toolkit.slug, result.message);
  }
}

async function keepPending(
  { db, clock, sealer, sandboxMode }: ConnectionsOptions,
  account: Subject,
): Promise<ConnectedAccount> {
  const { projectId, toolkit, entityId, variables } = account;
  const definition = definitionOf(toolkit, sandboxMode);
  const nowMs = clock.now();
  const id = createId("acc", nowMs);
  const accounts = connectedAccountsForProject(db, projectId);
  const { generateRandomCodeVerifier } = await import("oauth4webapi");
  const credential: Credential = { scheme: "oauth2", code_verifier: generateRandomCodeVerifier() };
  const row = {
    ...definition,
    id,
    entityId,
    scheme: "oauth2",
    state: "pending" as const,
    variables: { ...variables },
    credential: sealCredential(sealer, { projectId, id }, credential),
    originDigest: originDigestOf(toolkit),
    grantedScopes: [],
    extraScopes: [...(await accounts.extraScopes(definition, entityId))],
    references: [],
    lastError: "",
    createdAt: nowMs,
    updatedAt: nowMs,
    expiresAt: null,
    refreshAt: null,
    refreshLeaseUntil: null,
  };
  const createdBeforeMs = nowMs - consentTotalMs;
  const lastError = "consent was not given in time";
  await accounts.abandonStale(definition, entityId, { createdBeforeMs, lastError, nowMs });
  return accounts.create(row);
}

function startUrlOf(
  { sealer, publicUrl }: ConnectionsOptions,
  { projectId, id, createdAt }: ConnectedAccount,
  redirectUrl: string,
  linkId: LinkId | undefined,
): string {
  const state = { projectId, accountId: id, redirectUrl, expiresAt: createdAt + consentMs, browser: "", linkId };
  return `${publicUrl().replace(/\/$/, "")}/oauth/start?state=${createStateSealer(sealer).seal("start", state)}`;
}

/**
 * Returns the credential that a request contains for a scheme. Returns undefined for oauth2, because its credential comes from the app
 * after the consent. Throws CREDENTIAL_MISSING, CREDENTIAL_UNEXPECTED and CREDENTIAL_INVALID.
 */
function readCredential(
  scheme: string,
  { apiKey, basic }: Given,
  { isSandbox }: { isSandbox: boolean },
): Credential | undefined {
  if (scheme === "api_key" && apiKey === "" && !isSandbox) throw connectionFaults.CREDENTIAL_MISSING("apiKey", scheme);
  if (scheme === "basic" && (basic?.username ?? "") === "" && !isSandbox)
    throw connectionFaults.CREDENTIAL_MISSING("basic", scheme);
  if (scheme !== "api_key" && apiKey !== "") throw connectionFaults.CREDENTIAL_UNEXPECTED("apiKey", scheme);
  if (scheme !== "basic" && basic !== undefined) throw connectionFaults.CREDENTIAL_UNEXPECTED("basic", scheme);
  checkSecret("apiKey", apiKey);
  checkSecret("basic.username", basic?.username ?? "");
  checkSecret("basic.password", basic?.password ?? "");
  switch (scheme) {
    case "api_key":
      return { scheme, key: apiKey || madeUp };
    case "basic": {
      const username = basic?.username || madeUp;
      return { scheme, username, password: basic?.password || (isSandbox ? madeUp : "") };
    }
    case "none":
      return { scheme };
    default:
      return undefined;
  }
}

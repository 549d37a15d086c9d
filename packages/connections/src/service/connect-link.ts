import { create, toJson } from "@bufbuild/protobuf";
import { catalogFaults } from "@svc/catalog";
import {
  coreFaults,
  isEntityId,
  isoTime,
  type JsonObject,
  linkExpiry,
  type ProjectPrincipal,
  parseId,
} from "@svc/core";
import { connectedAccountsForProject } from "@svc/db/connections/repo";
import {
  type ConsoleLink,
  makeConsoleLink,
  restoreConsoleLink,
  retargetConsoleLink,
  spendConsoleLink,
} from "@svc/db/console/links";
import { findProject } from "@svc/db/projects/repo";
import { ToolkitConnectSpecSchema } from "@svc/gen/catalog";
import {
  BasicCredentialSchema,
  type CreateConnectLinkRequest,
  InitiateConnectionRequestSchema,
} from "@svc/gen/connections";
import { connectionFaults } from "../errors.ts";
import type { ConnectionsOptions } from "../options.ts";
import { checkRedirectUrl } from "../redirect-url.ts";
import { checkBinding, checkConnectable, checkRole, chooseScheme, initiate } from "./initiate.ts";

/** Longest lifetime of a connect link, in milliseconds. */
const lifeMaxMs = 7 * 86_400_000;

/** The account variables and the credential that a person enters on the page of a connect link. */
export type CredentialInput = {
  readonly accountVariables: Readonly<Record<string, string>>;
  readonly apiKey: string;
  readonly basic: { readonly username: string; readonly password: string } | undefined;
};

/**
 * Functions that show and use connect links (links with which a person connects an account). The API call CreateConnectLink creates such
 * links.
 */
export type ConnectLinks = {
  /**
   * Returns the contents of the link's page, or `used` if its account is connected. Changes nothing. Rejects with TOOLKIT_NOT_FOUND if the
   * toolkit of the account's app is gone.
   */
  show(link: ConsoleLink): Promise<JsonObject | "used">;
  /**
   * Connects an account with the InitiateConnection call. Rejects with the errors of that call. The account is connected with the rights of
   * the key that created the connect link; `role` is this key's role.
   */
  connect(
    link: ConsoleLink,
    by: Pick<ProjectPrincipal, "role" | "binding">,
    given: CredentialInput,
  ): Promise<JsonObject | "used">;
};

/** The account that a connect link is for. The person who opens the link chooses the values of empty fields. */
export type ConnectLinkTarget = Pick<CreateConnectLinkRequest, "toolkitSlug" | "entityId" | "scheme" | "redirectUrl">;

/**
 * Creates a connect link, with which an entity (the customer or user) connects an account in the browser. If InitiateConnection would
 * refuse this request with any input, its error is thrown when the link is created. `expiresAt`: in epoch milliseconds.
 */
export async function makeConnectLink(
  options: ConnectionsOptions,
  principal: ProjectPrincipal,
  request: ConnectLinkTarget & Partial<Pick<CreateConnectLinkRequest, "expiresAt">>,
): Promise<{ readonly url: string; readonly expiresAt: number }> {
  const { db, clock, consoleUrl, views } = options;
  const { projectId, keyId } = principal;
  if (consoleUrl === undefined) throw coreFaults.CONSOLE_OFF();
  const nowMs = clock.now();
  const expiresAt = linkExpiry(request.expiresAt, nowMs, lifeMaxMs);
  const { toolkitSlug, redirectUrl } = request;
  const entityId = checkBinding(principal, request);
  const view = await views.forProject(projectId);
  const toolkit = view.toolkits.get(toolkitSlug);
  if (toolkit === undefined) throw catalogFaults.TOOLKIT_NOT_FOUND("toolkitSlug", toolkitSlug, view);
  if (!isEntityId(entityId)) throw connectionFaults.ENTITY_ID_INVALID(entityId);
  const scheme = chooseScheme(toolkit, request.scheme);
  checkRole(toolkit, principal);
  if (scheme.type === "oauth2") await checkConnectable(options, toolkit, scheme);
  checkRedirectUrl(redirectUrl, (await findProject(db, projectId))?.redirectUrls ?? []);
  const connect = { toolkitSlug, entityId, scheme: scheme.type, redirectUrl, accountId: "" };
  const { token } = await makeConsoleLink(db, {
    ...{ purpose: "connect", target: { connect }, projectId, keyId, expiresAt, nowMs },
  });
  return { url: `${consoleUrl()}connect#${token}`, expiresAt };
}

/** Creates the functions that show the page of a connect link and connect an account through it. */
export function createConnectLinks(options: ConnectionsOptions): ConnectLinks {
  const { db, clock } = options;
  return {
    async show(link) {
      const target = targetOf(link);
      return (await isUsed(options, link)) ? "used" : shownSpec(options, link, target);
    },
    async connect(link, by, given) {
      const { accountId: _before, ...target } = targetOf(link);
      if (await isUsed(options, link)) return "used";
      const { projectId, keyId } = link;
      await options.sealer.ready([projectId]);
      // True if this request connects the account at once. Then the link is used up here, and only one of several simultaneous requests can
      // connect. A consent (`oauth2`) uses up the link later, at its callback.
      const isAtOnce = target.scheme !== "oauth2";
      if (isAtOnce && !(await spendConsoleLink(db, link, clock.now()))) return "used";
      const principal: ProjectPrincipal = { kind: "project", projectId, keyId, ...by };
      const { accountVariables, apiKey, basic } = given;
      const request = create(InitiateConnectionRequestSchema, {
        ...{ ...target, accountVariables, apiKey },
        ...(basic && { basic: create(BasicCredentialSchema, basic) }),
      });
      const { account, authorizeUrl } = await initiate(options, request, principal, link.id).catch(
        async (error: unknown) => {
          if (isAtOnce) await restoreConsoleLink(db, link);
          throw error;
        },
      );
      // Stores the account's id in the link. If the account still waits for consent, its state is read when the link is opened again.
      await retargetConsoleLink(db, link.id, { connect: { ...target, accountId: account?.id ?? "" } });
      return { state: account?.state ?? "", authorizeUrl };
    },
  };
}

function targetOf({ target, id }: ConsoleLink) {
  if (target.connect === undefined) throw new Error(`the link ${id} connects nothing`);
  return target.connect;
}

async function isUsed({ db }: ConnectionsOptions, link: ConsoleLink): Promise<boolean> {
  const id = parseId("acc", targetOf(link).accountId);
  const account = id && (await connectedAccountsForProject(db, link.projectId).find(id));
  // True if the link's account has been active. False if it never was, because the person may then be asked for consent again.
  return account !== undefined && ["active", "expired", "superseded"].includes(account.state);
}

/**
 * Returns what a person must enter to connect an account, in the form of the answer of GetToolkitConnectSpec. Only the authentication
 * scheme of the connect link is included.
 */
async function shownSpec(
  { views }: ConnectionsOptions,
  { projectId, expiresAt }: ConsoleLink,
  { toolkitSlug, scheme }: ReturnType<typeof targetOf>,
): Promise<JsonObject> {
  const view = await views.forProject(projectId);
  const spec = view.messages.specs.get(toolkitSlug)?.spec;
  if (spec === undefined) throw catalogFaults.TOOLKIT_NOT_FOUND("toolkitSlug", toolkitSlug);
  const narrowed = { ...spec, authSchemes: spec.authSchemes.filter(({ type }) => type === scheme) };
  return {
    toolkitName: view.toolkits.get(toolkitSlug)?.name ?? toolkitSlug,
    spec: toJson(ToolkitConnectSpecSchema, narrowed, { alwaysEmitImplicit: true }) as JsonObject,
    expiresAt: isoTime(expiresAt),
  };
}

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

/** How long a link to a connection may live, milliseconds. */
const lifeMaxMs = 7 * 86_400_000;

/** What a person fills in. */
export type CredentialInput = {
  readonly accountVariables: Readonly<Record<string, string>>;
  readonly apiKey: string;
  readonly basic: { readonly username: string; readonly password: string } | undefined;
};

/** What opens links to connections, of which CreateConnectLink made the rows. */
export type ConnectLinks = {
  /** What the link's page shows; `used` once its account is connected. Changes nothing. Rejects with TOOLKIT_NOT_FOUND where the toolkit is gone. */
  show(link: ConsoleLink): Promise<JsonObject | "used">;
  /** Connects by the engine of InitiateConnection, with the refusals of that, as the key that vouches, whose role is `role`. */
  connect(
    link: ConsoleLink,
    by: Pick<ProjectPrincipal, "role" | "binding">,
    given: CredentialInput,
  ): Promise<JsonObject | "used">;
};

/** What a link to a connection is to connect. Empty: nothing in particular. */
export type AskedLink = Pick<CreateConnectLinkRequest, "toolkitSlug" | "entityId" | "scheme" | "redirectUrl">;

/** Makes a link: what InitiateConnection would refuse whatever the person fills in is refused here. `expiresAt`: epoch milliseconds. */
export async function makeConnectLink(
  options: ConnectionsOptions,
  principal: ProjectPrincipal,
  request: AskedLink & Partial<Pick<CreateConnectLinkRequest, "expiresAt">>,
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
  if (scheme.type === "oauth2") checkConnectable(options, toolkit, scheme);
  checkRedirectUrl(redirectUrl, (await findProject(db, projectId))?.redirectUrls ?? []);
  const connect = { toolkitSlug, entityId, scheme: scheme.type, redirectUrl, accountId: "" };
  const { token } = await makeConsoleLink(db, {
    ...{ purpose: "connect", target: { connect }, projectId, keyId, expiresAt, nowMs },
  });
  return { url: `${consoleUrl()}connect#${token}`, expiresAt };
}

/** Makes what opens them. */
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
      // Of any number that come at once, one connects. Consent is given elsewhere, which spends the link: see the consent's callback.
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
      // One that waits for consent is looked at when the link is opened again.
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
  // What was never active was not connected: consent may be asked for again.
  return account !== undefined && ["active", "expired", "superseded"].includes(account.state);
}

/** The form of GetToolkitConnectSpec, with the link's scheme alone. */
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

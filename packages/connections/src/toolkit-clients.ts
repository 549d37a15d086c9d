import type { Toolkit } from "@svc/catalog";
import { type Clock, createBatcher, type ProjectId, type Sealer } from "@svc/core";
import { type FoundToolkitClient, type ToolkitClient, toolkitClientsForProject } from "@svc/db/catalog/clients";
import type { Database } from "@svc/db/connect";
import { isUnavailable } from "@svc/db/driver";
import type { ToolkitOauthClient } from "./options.ts";

/** The OAuth clients that projects themselves have at the issuers of their private toolkits (apps that a project defined). */
export type ToolkitClients = {
  /**
   * Returns the project's own OAuth client of a private toolkit, with its secret. Returns undefined if there is none, or if it is for
   * another issuer or token endpoint than the toolkit names.
   */
  find(toolkit: Toolkit): Promise<ToolkitOauthClient | undefined>;
  /** True if `find` would return a client. Toolkits that are asked for at the same time are read with one statement. */
  has(toolkit: Toolkit): Promise<boolean>;
};

/** Database, encryption and time that the OAuth clients of private toolkits need. */
export type ToolkitClientsOptions = { readonly db: Database; readonly sealer: Sealer; readonly clock: Clock };

/** Creates the functions that find the OAuth clients of private toolkits in the database. */
export function createToolkitClients({ db, sealer, clock }: ToolkitClientsOptions): ToolkitClients {
  const rows = createBatcher<Toolkit, ToolkitClient | undefined>({
    run: (toolkits) => findRows(db, toolkits),
    sizeMax: 1_000,
    concurrency: 4,
    splits: (error) => !isUnavailable(error),
  });
  const fitting = async (toolkit: Toolkit) => {
    if (toolkit.ownerProjectId === "" || oauthOf(toolkit) === undefined) return undefined;
    const row = await rows.add(toolkit);
    return row !== undefined && isClientOf(row, toolkit, clock.now()) ? row : undefined;
  };
  return {
    has: async (toolkit) => (await fitting(toolkit)) !== undefined,
    async find(toolkit) {
      const [row, scheme] = [await fitting(toolkit), oauthOf(toolkit)];
      if (row === undefined || scheme === undefined) return undefined;
      const projectId = toolkit.ownerProjectId as ProjectId;
      await sealer.ready([projectId]);
      const { clientId, issuer, clientSecret, secretPlace } = row;
      const secret = clientSecret === null ? "" : sealer.open(clientSecret, contextOf(projectId, row)).toString("utf8");
      const { authorizeUrl, tokenUrl, resource } = scheme;
      return { clientId, clientSecret: secret, secretPlace, issuer, authorizeUrl, tokenUrl, resource };
    },
  };
}

async function findRows(db: Database, toolkits: readonly Toolkit[]): Promise<(ToolkitClient | undefined)[]> {
  const found = new Map<string, ToolkitClient>();
  for (const [projectId, ofProject] of Map.groupBy(toolkits, ({ ownerProjectId }) => ownerProjectId as ProjectId)) {
    const clients = toolkitClientsForProject(db, projectId);
    const [only] = ofProject;
    const one = only !== undefined && ofProject.length === 1 ? await clients.find(only.slug) : undefined;
    const rows = ofProject.length === 1 ? (one === undefined ? [] : [one]) : await clients.list();
    for (const row of rows) found.set(`${projectId}/${row.slug}`, row);
  }
  return toolkits.map(({ ownerProjectId, slug }) => found.get(`${ownerProjectId}/${slug}`));
}

/** Returns the authentication scheme `oauth2` of a toolkit; undefined if it has none. */
export function oauthOf({ auth }: Toolkit) {
  const scheme = auth.find(({ type }) => type === "oauth2");
  return scheme?.type === "oauth2" ? scheme : undefined;
}

/**
 * True if a stored client may be used for a toolkit: the toolkit names the issuer and the token endpoint for which the client was stored,
 * and the secret has not ended. So a changed definition cannot send the secret elsewhere.
 */
function isClientOf(client: ToolkitClient, toolkit: Toolkit, nowMs: number): boolean {
  const scheme = oauthOf(toolkit);
  if (scheme === undefined || (client.expiresAt !== null && client.expiresAt <= nowMs)) return false;
  return client.issuer === (scheme.issuer ?? scheme.tokenUrl) && client.tokenUrl === scheme.tokenUrl;
}

/** Encrypts the secret of a client. It can be decrypted only for the same project, client id and issuer. An empty secret becomes null. */
export function sealClientSecret(
  sealer: Sealer,
  projectId: ProjectId,
  client: Pick<FoundToolkitClient, "clientId" | "issuer"> & { readonly secret: string },
): Buffer | null {
  return client.secret === "" ? null : sealer.seal(Buffer.from(client.secret, "utf8"), contextOf(projectId, client));
}

function contextOf(
  projectId: ProjectId,
  { clientId, issuer }: Pick<FoundToolkitClient, "clientId" | "issuer">,
): string {
  return `${projectId}/toolkit_clients/${clientId}/${issuer}`;
}

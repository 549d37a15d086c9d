import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { catalogFaults, type Toolkit } from "@svc/catalog";
import { type ProjectId, quotaFaults, requireProject } from "@svc/core";
import { type FoundToolkitClient, type ToolkitClient, toolkitClientsForProject } from "@svc/db/catalog/clients";
import type { ConnectionsService, ToolkitClientSchema } from "@svc/gen/connections";
import { connectionFaults } from "../errors.ts";
import { callbackUrlOf } from "../oauth-flow.ts";
import type { ConnectionsOptions } from "../options.ts";
import { oauthOf, sealClientSecret } from "../toolkit-clients.ts";
import { checkSecret } from "./read-credential.ts";

type Methods = Pick<ServiceImpl<typeof ConnectionsService>, "putToolkitClient" | "deleteToolkitClient">;

/** Maximum characters of a client id. */
const clientIdMax = 2_000;

/** Returns the methods of ConnectionsService for the OAuth clients that a project has for its private toolkits. */
export function toolkitClientMethods(options: ConnectionsOptions): Methods {
  const { views, db, clock, sealer, publicUrl } = options;
  return {
    async putToolkitClient({ toolkitSlug: slug, clientId, clientSecret: secret, issuer: given, dryRun }, ctx) {
      const { projectId } = requireProject(ctx);
      checkSecret("clientId", clientId);
      checkSecret("clientSecret", secret);
      if (clientId.length > clientIdMax)
        throw connectionFaults.CREDENTIAL_INVALID("clientId", `is longer than ${clientIdMax} characters`);
      if (clientId === "" && !dryRun) throw connectionFaults.CREDENTIAL_MISSING("clientId", "oauth2");
      const toolkit = (await views.forProject(projectId)).toolkits.get(slug);
      const own = toolkit?.ownerProjectId === projectId ? toolkit : undefined;
      const { issuer, tokenUrl, secretPlace } = await findEndpoint(options, { projectId, slug, toolkit: own, given });
      const clientSecret = dryRun ? null : sealClientSecret(sealer, projectId, { clientId, issuer, secret });
      const updatedAt = clock.now();
      const kept = { issuer, tokenUrl, clientId, clientSecret, expiresAt: null, updatedAt };
      const row = { ...kept, slug, secretPlace: secret === "" ? null : secretPlace, registration: "manual" } as const;
      const clients = toolkitClientsForProject(db, projectId);
      const reached = dryRun ? undefined : await clients.put(row, { needsToolkit: own !== undefined });
      if (reached === "deleted") throw catalogFaults.PRIVATE_TOOLKIT_NOT_FOUND(slug, "toolkitSlug");
      if (reached !== undefined) throw quotaFaults.privateToolkits(reached.quotaReached);
      const client = { toolkitSlug: slug, issuer, clientId, hasSecret: secret !== "", registration: "manual" };
      return {
        client: { ...client, ...(!dryRun && { updatedAt: timestampFromMs(updatedAt) }) },
        redirectUrl: callbackUrlOf(publicUrl(), issuer),
      };
    },
    async deleteToolkitClient({ toolkitSlug, dryRun }, ctx) {
      const { projectId } = requireProject(ctx);
      const clients = toolkitClientsForProject(db, projectId);
      const client = await clients.find(toolkitSlug);
      const isFound = client !== undefined && (dryRun || (await clients.delete(toolkitSlug)));
      if (!isFound) throw connectionFaults.TOOLKIT_CLIENT_NOT_FOUND(toolkitSlug);
      return { client: clientMessage(client) };
    },
  };
}

/** Returns a stored client in the form of the API, without its secret. */
function clientMessage({
  slug,
  issuer,
  clientId,
  clientSecret,
  registration,
  updatedAt,
}: ToolkitClient): MessageInitShape<typeof ToolkitClientSchema> {
  const hasSecret = clientSecret !== null;
  return { toolkitSlug: slug, issuer, clientId, hasSecret, registration, updatedAt: timestampFromMs(updatedAt) };
}

/**
 * A toolkit that gets an OAuth client. `toolkit`: undefined if the project has not made it yet. `given`: the issuer that the caller named.
 */
type EndpointQuery = {
  readonly projectId: ProjectId;
  readonly slug: string;
  readonly toolkit: Toolkit | undefined;
  readonly given: string;
};

/** Returns the issuer of a client, and the token endpoint to which its secret may go. Throws the errors that PutToolkitClient documents. */
async function findEndpoint(
  { oauth }: Pick<ConnectionsOptions, "oauth">,
  { projectId, slug, toolkit, given }: EndpointQuery,
): Promise<Pick<FoundToolkitClient, "issuer" | "tokenUrl" | "secretPlace">> {
  const scheme = toolkit && oauthOf(toolkit);
  if (scheme !== undefined && (given === "" || given === scheme.issuer)) {
    const { issuer, tokenUrl } = scheme;
    const read = issuer === undefined ? undefined : await oauth.readIssuer(issuer, projectId);
    // Otherwise the secret, which the issuer gave for its own endpoint, would go to another one.
    if (read?.kind === "found" && read.tokenUrl !== tokenUrl) {
      const why = `toolkit ${slug} has the token endpoint ${tokenUrl}, and its issuer names ${read.tokenUrl}`;
      throw connectionFaults.ISSUER_UNUSABLE(why);
    }
    // If the issuer cannot be read now, the definition decides, and svc tries both places for the secret.
    return { issuer: issuer ?? tokenUrl, tokenUrl, secretPlace: read?.kind === "found" ? read.secretPlace : null };
  }
  const isSlug = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(slug) && slug.length <= 60;
  if (!isSlug || (toolkit === undefined && given === ""))
    throw catalogFaults.PRIVATE_TOOLKIT_NOT_FOUND(slug, "toolkitSlug");
  if (given === "" && toolkit !== undefined)
    throw connectionFaults.SCHEME_NOT_DECLARED("toolkitSlug", "oauth2", toolkit);
  const read = await oauth.readIssuer(given, projectId);
  if (read.kind === "unusable") throw connectionFaults.ISSUER_UNUSABLE(read.message);
  return { issuer: given, tokenUrl: read.tokenUrl, secretPlace: read.secretPlace };
}

import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  adminList,
  type Binding,
  byId,
  type ConfirmRule,
  createId,
  digestSecret,
  generateApiKey,
  isoTime,
  noConfirmRule,
  type ProjectId,
  requireId,
} from "@svc/core";
import { type ApiKey, createApiKey, listApiKeys, revokeApiKey } from "@svc/db/keys/repo";
import { findProject } from "@svc/db/projects/repo";
import type { AdminService } from "@svc/gen/admin";
import { type Role, RoleSchema } from "@svc/gen/options";
import { readKeyRole } from "../auth/role-message.ts";
import { readAgentTools, readBinding, requireToolkits } from "./binding.ts";
import type { AdminContext } from "./context.ts";
import { apiKeyMessage } from "./convert.ts";
import { adminFaults } from "./errors.ts";
import { readConfirmPolicy, requireName } from "./request.ts";

/** Returns the methods of AdminService for keys. */
export function keyMethods({
  db,
  clock,
  sealer,
  cell,
  views,
  onRevoked,
}: AdminContext): Pick<ServiceImpl<typeof AdminService>, "createApiKey" | "listApiKeys" | "revokeApiKey"> {
  const requireProject = async (projectId: ProjectId) => {
    if ((await findProject(db, projectId)) === undefined) throw adminFaults.PROJECT_NOT_FOUND(projectId);
  };
  return {
    async createApiKey(request) {
      const projectId = requireId("prj", "projectId", request.projectId);
      const nowMs = clock.now();
      const asked = {
        projectId,
        role: requireKeyRole(request.role),
        name: requireName(request.name),
        expiresAt: requireFuture(request.expiresAt, nowMs),
        ...readBinding(request),
        agentTools: readAgentTools(request.agentTools),
      };
      await requireProject(projectId);
      requireToolkits(await views.forProject(projectId), asked.toolkitSlugs);
      const confirm = await readConfirmPolicy(db, projectId, request.confirm);
      const { key, text } = generateKey({ ...asked, confirm, nowMs, cell });
      await createApiKey(db, key);
      return { apiKey: apiKeyMessage(key), key: text };
    },
    listApiKeys: adminList(sealer, {
      call: "ListApiKeys",
      order: byId("key"),
      filter: ({ projectId, ofPortalLinks }) => ({
        projectId: requireId("prj", "projectId", projectId),
        // Without this field, page tokens of earlier versions stay valid.
        ...(ofPortalLinks && { ofPortalLinks }),
      }),
      async rows({ filter: { projectId, ofPortalLinks = false }, page }) {
        await requireProject(projectId);
        return listApiKeys(db, projectId, { ...page, purpose: ofPortalLinks ? "portal" : "" });
      },
      answer: (rows) => ({ apiKeys: rows.map(apiKeyMessage) }),
    }),
    async revokeApiKey(request) {
      const id = requireId("key", "id", request.id);
      const revoked = await revokeApiKey(db, id, clock.now());
      if (revoked === undefined) throw adminFaults.API_KEY_NOT_FOUND(id);
      onRevoked(revoked.endedIds);
      return { apiKey: apiKeyMessage(revoked.key) };
    },
  };
}

/** Random characters of a key's text that lists show. They are enough to distinguish keys and too few to use a key. */
const hintCharacters = 4;

/**
 * Generates a key and its secret text. Only a digest of the text is stored. `expiresAt`: null for a key that does not expire. `cell`: name
 * of this deployment if it is one of several behind one address; the text then contains it, so that proxies can route by it.
 */
export function generateKey(
  options: Pick<ApiKey, "projectId" | "role" | "name" | "expiresAt"> &
    Partial<Binding & Pick<ApiKey, "agentTools" | "makerKeyId">> & {
      nowMs: number;
      cell?: string | undefined;
      text?: string;
      confirm?: ConfirmRule | undefined;
    },
): { key: ApiKey; text: string } {
  const { nowMs, cell, text = generateApiKey(cell), confirm = noConfirmRule, ...given } = options;
  const { entityId = "", accessClasses = [], toolkitSlugs = [], agentTools = [], makerKeyId = null } = given;
  const chosen = { ...given, entityId, accessClasses: [...accessClasses], toolkitSlugs: [...toolkitSlugs] };
  const prefix = /^svc_(?:[0-9a-z]{1,4}_)?/.exec(text)?.[0];
  const hint = prefix === undefined ? "" : text.slice(0, prefix.length + hintCharacters);
  const id = createId("key", nowMs);
  const unused = { createdAt: nowMs, revokedAt: null, lastUsedAt: null };
  const key = {
    ...chosen,
    ...unused,
    agentTools,
    makerKeyId,
    id,
    hint,
    confirm,
    digest: digestSecret(text),
    purpose: "" as const,
  };
  return { key, text };
}

/** Returns the role that a key or a person can have. Throws ROLE_INVALID for other values. */
export function requireKeyRole(role: Role): ApiKey["role"] {
  const known = readKeyRole(role);
  if (known !== undefined) return known;
  throw adminFaults.ROLE_INVALID(RoleSchema.value[role]?.name ?? String(role));
}

function requireFuture(expiresAt: Timestamp | undefined, nowMs: number): number | null {
  if (expiresAt === undefined) return null;
  const ms = Math.floor(timestampMs(expiresAt));
  if (ms <= nowMs) throw adminFaults.EXPIRES_AT_PAST(isoTime(ms));
  return ms;
}

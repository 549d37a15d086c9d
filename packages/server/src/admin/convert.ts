import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ApiKey } from "@svc/db/keys/repo";
import type { Project } from "@svc/db/projects/repo";
import {
  type ApiKey as ApiKeyMessage,
  ApiKeySchema,
  type Project as ProjectMessage,
  ProjectSchema,
} from "@svc/gen/admin";
import { roleMessage } from "../auth/role-message.ts";
import { quotasMessage } from "./quotas.ts";

/** Returns a project as the API message that the administrator gets. */
export function projectMessage(project: Project): ProjectMessage {
  const { id, name, createdAt, planApproval, redirectUrls, quotas, httpHosts, confirm } = project;
  return create(ProjectSchema, {
    id,
    name,
    createdAt: timestampFromMs(createdAt),
    policy: {
      planApproval,
      redirectUrls,
      quotas: quotasMessage(quotas),
      http: { hosts: httpHosts },
      confirm: { ...confirm },
    },
  });
}

/** Returns a key as the API message that the administrator gets: data about the key, without its secret text. */
export function apiKeyMessage(key: ApiKey): ApiKeyMessage {
  return create(ApiKeySchema, {
    id: key.id,
    projectId: key.projectId,
    role: roleMessage(key.role),
    name: key.name,
    hint: key.hint,
    entityId: key.entityId,
    accessClasses: key.accessClasses,
    toolkitSlugs: key.toolkitSlugs,
    agentTools: key.agentTools,
    confirm: { ...key.confirm },
    makerKeyId: key.makerKeyId ?? "",
    purpose: key.purpose,
    createdAt: timestampFromMs(key.createdAt),
    ...(key.expiresAt === null ? {} : { expiresAt: timestampFromMs(key.expiresAt) }),
    ...(key.revokedAt === null ? {} : { revokedAt: timestampFromMs(key.revokedAt) }),
    ...(key.lastUsedAt === null ? {} : { lastUsedAt: timestampFromMs(key.lastUsedAt) }),
  });
}

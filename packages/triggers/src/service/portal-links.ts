import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Duration, durationMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { byId, coreFaults, isEntityId, optionalId, projectList, requireProject } from "@svc/core";
import { type PortalLink, portalLinksForProject } from "@svc/db/console/portal";
import { PortalLinkSchema, type TriggersService } from "@svc/gen/triggers";
import { triggerFaults } from "../errors.ts";
import { eventsToolkitSlug } from "../own/toolkit.ts";
import type { TriggersContext } from "./context.ts";

type Methods = Pick<ServiceImpl<typeof TriggersService>, "createPortalLink" | "listPortalLinks" | "revokePortalLinks">;

const [minuteMs, dayMs] = [60_000, 86_400_000];
/** Lifetime of a portal link in milliseconds: the shortest and the longest that a caller may request, and the default. */
const lifeMs = { least: 5 * minuteMs, default: dayMs, most: 30 * dayMs };
/** Maximum number of portal links of an entity (customer or user) that have not ended. */
const linksMax = 1_000;

/** Returns the methods CreatePortalLink, ListPortalLinks and RevokePortalLinks. */
export function portalLinkMethods({ db, clock, sealer, portalUrl, onKeysEnded }: TriggersContext): Methods {
  return {
    async createPortalLink({ entityId, expiresIn, readOnly }, ctx) {
      const { projectId, keyId: makerKeyId } = requireProject(ctx);
      if (portalUrl === undefined) throw coreFaults.CONSOLE_OFF();
      requireEntityId(entityId);
      const createdAt = clock.now();
      const expiresAt = createdAt + readLife(expiresIn);
      const link = { entityId, isReadOnly: readOnly, createdAt, expiresAt, toolkitSlug: eventsToolkitSlug, makerKeyId };
      const made = await portalLinksForProject(db, projectId).create(link, linksMax);
      if (made === undefined) throw triggerFaults.PORTAL_LINKS_TOO_MANY(entityId, linksMax);
      const url = `${portalUrl()}${projectId}/#link=${made.token}`;
      return { url, linkId: made.id, expiresAt: timestampFromMs(expiresAt) };
    },

    listPortalLinks: projectList(sealer, {
      call: "ListPortalLinks",
      order: byId("lnk"),
      filter: ({ entityId }) => {
        if (entityId !== "") requireEntityId(entityId);
        return { entityId };
      },
      rows: ({ page: { after, limit }, filter: { entityId }, caller: { projectId } }) =>
        portalLinksForProject(db, projectId).list({ nowMs: clock.now(), after, limit, entityId }),
      answer: (rows) => ({ links: rows.map((row) => create(PortalLinkSchema, linkFields(row))) }),
    }),

    async revokePortalLinks({ entityId, linkId }, ctx) {
      const { projectId } = requireProject(ctx);
      const id = optionalId("lnk", "linkId", linkId);
      if ((id === undefined) === (entityId === "")) throw triggerFaults.PORTAL_LINK_UNNAMED();
      if (id === undefined) requireEntityId(entityId);
      const ended = await portalLinksForProject(db, projectId).revoke(
        id === undefined ? { entityId } : { id },
        clock.now(),
      );
      if (id !== undefined && ended.length === 0) throw triggerFaults.LINK_NOT_FOUND(linkId);
      onKeysEnded?.(ended);
      return { revoked: ended.length };
    },
  };
}

function requireEntityId(entityId: string): void {
  if (!isEntityId(entityId)) throw triggerFaults.PORTAL_ENTITY_INVALID(entityId);
}

function readLife(expiresIn: Duration | undefined): number {
  if (expiresIn === undefined) return lifeMs.default;
  const ms = durationMs(expiresIn);
  if (ms < lifeMs.least || ms > lifeMs.most) throw triggerFaults.PORTAL_EXPIRY_INVALID();
  return ms;
}

function linkFields(link: PortalLink): MessageInitShape<typeof PortalLinkSchema> {
  const { id, entityId, isReadOnly, createdAt, expiresAt, lastUsedAt } = link;
  return {
    ...{ id, entityId, readOnly: isReadOnly },
    ...{ createdAt: timestampFromMs(createdAt), expiresAt: timestampFromMs(expiresAt) },
    ...(lastUsedAt !== null && { lastUsedAt: timestampFromMs(lastUsedAt) }),
  };
}

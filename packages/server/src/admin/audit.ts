import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  adminList,
  byId,
  checkFilterText,
  idOfUuid,
  openPageToken,
  optionalId,
  type ProjectId,
  parseId,
  sealPageToken,
  timeRange,
  uuidOfId,
} from "@svc/core";
import { type AuditEvent, type AuditFilter, deploymentProject, listAuditEvents } from "@svc/db/audit/list";
import {
  type AdminService,
  type AuditEvent as AuditEventMessage,
  AuditEventSchema,
  AuditFaultSchema,
  AuditHeadSchema,
} from "@svc/gen/admin";
import { sentAction } from "../audit/place-events.ts";
import { type VerifyPosition, verifyPart, verifyStart } from "../audit/verify.ts";
import type { AdminContext } from "./context.ts";
import { adminFaults } from "./errors.ts";
import { adminScope } from "./request.ts";

/** Returns the methods of AdminService for the audit log. */
export function auditMethods({
  db,
  sealer,
}: AdminContext): Pick<ServiceImpl<typeof AdminService>, "listAuditEvents" | "verifyAuditLog"> {
  return {
    listAuditEvents: adminList(sealer, {
      call: "ListAuditEvents",
      order: byId("aud"),
      filter: ({ projectId, actor, action, since, until }) => ({
        projectId: optionalId("prj", "projectId", projectId),
        actor,
        action: checkFilterText("action", action) || undefined,
        ...timeRange(since, until),
      }),
      rows: ({ filter, page }) => listAuditEvents(db, { ...filter, actor: readActor(filter.actor) }, page),
      answer: (rows) => ({ events: rows.map(eventMessage) }),
    }),
    async verifyAuditLog({ pageToken }) {
      const scope = adminScope("VerifyAuditLog");
      const from = pageToken === "" ? verifyStart : positionOf(openPageToken(sealer, scope, pageToken));
      const { checked, faults, heads, next } = await verifyPart({ db, sealer }, from);
      return {
        checked,
        faults: faults.map((fault) => create(AuditFaultSchema, { ...fault, projectId: projectText(fault.projectId) })),
        heads: heads.map(({ projectId, length, hash }) =>
          create(AuditHeadSchema, { projectId: projectText(projectId), length, hash: hash.toString("hex") }),
        ),
        nextPageToken: next === undefined ? "" : sealPageToken(sealer, scope, JSON.stringify(next)),
      };
    },
  };
}

function positionOf(text: string): VerifyPosition {
  return JSON.parse(text);
}

function readActor(text: string): AuditFilter["actor"] {
  if (text === "") return undefined;
  if (text === "admin" || text === "link" || text === "service") return { actor: text, id: null };
  const [key, job, person] = [parseId("key", text), parseId("job", text), parseId("per", text)];
  if (person !== undefined) return { actor: "person", id: uuidOfId(person) };
  if (key !== undefined) return { actor: "key", id: uuidOfId(key) };
  if (job !== undefined) return { actor: "job", id: uuidOfId(job) };
  throw adminFaults.ACTOR_INVALID(text);
}

function eventMessage(event: AuditEvent): AuditEventMessage {
  const { id, at, projectId, action, subject, entityDigest, outcome, position } = event;
  return create(AuditEventSchema, {
    ...{ id, action, subject },
    at: timestampFromMs(at),
    projectId: projectText(projectId),
    actor: actorText(event),
    entityDigest: entityDigest?.toString("hex") ?? "",
    outcome: outcome ?? "",
    position: position ?? 0,
    // The audited action for a sent tool call has the same UUID as the call, so the call's id follows from the action's id. Other actions
    // have no call id.
    toolCallId: action === sentAction ? idOfUuid("call", uuidOfId(id)) : "",
  });
}

/** Returns the actor of an audited action as a text: an id of a key, job or person, or a word such as `admin`. */
export function actorText({ actor, actorId }: AuditEvent): string {
  if (actorId === null) return actor;
  if (actor === "person") return idOfUuid("per", actorId);
  return actor === "key" || actor === "job" ? idOfUuid(actor, actorId) : actor;
}

/** Returns the id of an entry's project. It is empty for an entry of the whole deployment. */
export function projectText(projectId: ProjectId): string {
  return projectId === deploymentProject ? "" : projectId;
}

import {
  type AuditId,
  type Clock,
  createId,
  type KeyId,
  type Principal,
  type ProjectId,
  type Sealer,
  uuidOfId,
} from "@svc/core";
import { deploymentProject, endAuditEvent, insertAuditEvent } from "@svc/db/audit/list";
import type { Database } from "@svc/db/connect";
import type { AuditActor } from "@svc/db/schema/words";

/** Actor of an action: a caller, a person who used a key or a link on a page, or the service itself. */
export type Actor =
  | Principal
  | { readonly kind: "key"; readonly keyId: KeyId }
  | { readonly kind: "link" }
  | { readonly kind: "service" };

/** An action to record, before it is executed. `projectId`: undefined if the action concerns the deployment. */
export type AuditedAction = {
  readonly actor: Actor;
  readonly action: string;
  readonly projectId: ProjectId | undefined;
  readonly subject: string;
  /** Entity or person that the action concerns; empty for none. */
  readonly entityId: string;
};

/** Outcome of an action, and data known only afterwards. */
export type ActionEnd = {
  readonly outcome: string;
  readonly subject?: string | undefined;
  readonly projectId?: ProjectId | undefined;
};

/** Writer of the audit log. */
export type AuditLog = {
  /** Records an action before its execution. If this rejects, the action must not run. */
  enter(deed: AuditedAction): Promise<AuditId>;
  /** Records the outcome. Never rejects. If an outcome cannot be recorded, the log shows it as `unknown`. */
  end(id: AuditId, end: ActionEnd): Promise<void>;
};

// Maximum characters of the subject of an action (the object that the action concerns, for example the slug of a toolkit). Ids, slugs and
// names are shorter. The limit is for request content that is not checked yet.
const subjectCharactersMax = 200;

/** Creates the audit log of a node. */
export function createAuditLog(options: {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly onError: (error: unknown) => void;
}): AuditLog {
  const { db, clock, sealer, onError } = options;
  return {
    async enter({ actor, action, projectId, subject, entityId }) {
      const at = clock.now();
      const id = createId("aud", at);
      // The digest of the entity needs a data key of the project. Another node may have created this key, so the key is loaded first.
      if (projectId !== undefined && entityId !== "") await sealer.ready([projectId]);
      const entityDigest = projectId === undefined || entityId === "" ? null : sealer.entityDigest(projectId, entityId);
      await insertAuditEvent(db, {
        ...{ id, at, action, entityDigest, ...actorOf(actor) },
        projectId: projectId ?? deploymentProject,
        subject: subjectText(subject),
      });
      return id;
    },
    end: (id, { subject, ...end }) =>
      endAuditEvent(db, id, { ...end, subject: subject && subjectText(subject) }).catch(onError),
  };
}

/** Returns the actor as stored in the database. */
function actorOf(actor: Actor): { actor: AuditActor; actorId: string | null } {
  if ("keyId" in actor) return { actor: "key", actorId: uuidOfId(actor.keyId) };
  return { actor: actor.kind, actorId: null };
}

function subjectText(text: string): string {
  return text.slice(0, subjectCharactersMax).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, "");
}

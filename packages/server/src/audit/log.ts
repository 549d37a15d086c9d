import {
  type AuditId,
  type Clock,
  createId,
  type KeyId,
  type PersonId,
  type Principal,
  type ProjectId,
  type Sealer,
  uuidOfId,
} from "@svc/core";
import { deploymentProject, endAuditEvent, insertAuditEvent } from "@svc/db/audit/list";
import type { Database } from "@svc/db/connect";
import type { AuditActor } from "@svc/db/schema/words";

/** The actor of an action: a caller of the API, a person who used a key or a link on a page, or the service itself. */
export type Actor =
  | Principal
  | { readonly kind: "key"; readonly keyId: KeyId }
  | { readonly kind: "person"; readonly personId: PersonId }
  | { readonly kind: "link" }
  | { readonly kind: "service" };

/** An action to record in the audit log, before it is executed. `projectId`: undefined if the action concerns the whole deployment. */
export type AuditedAction = {
  readonly actor: Actor;
  readonly action: string;
  readonly projectId: ProjectId | undefined;
  readonly subject: string;
  /** Id of the entity (customer or user) or of the person that the action concerns. Empty if it concerns none. */
  readonly entityId: string;
};

/** Outcome of an action, and data about it that is known only after it. */
export type ActionEnd = {
  readonly outcome: string;
  readonly subject?: string | undefined;
  readonly projectId?: ProjectId | undefined;
};

/** Writer of the audit log. */
export type AuditLog = {
  /** Records an action before its execution. If the promise rejects, the action must not be executed. */
  enter(deed: AuditedAction): Promise<AuditId>;
  /** Records the outcome of an action. Never rejects. If the outcome cannot be recorded, the log shows it as `unknown`. */
  end(id: AuditId, end: ActionEnd): Promise<void>;
};

// Maximum number of characters of an action's subject (the object of the action, for example the slug of a toolkit). Valid ids, slugs and
// names are shorter. The limit is for texts of a request that were not checked yet.
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
      // The entity is stored as a digest, which needs a data key of the project. The key is loaded first, because another node may have
      // created it.
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

/** Returns the one who took an action (the actor) as the two database columns that name the actor. */
function actorOf(actor: Actor): { actor: AuditActor; actorId: string | null } {
  if ("personId" in actor && actor.personId !== undefined)
    return { actor: "person", actorId: uuidOfId(actor.personId) };
  if ("keyId" in actor) return { actor: "key", actorId: uuidOfId(actor.keyId) };
  return { actor: actor.kind === "person" ? "service" : actor.kind, actorId: null };
}

function subjectText(text: string): string {
  return text.slice(0, subjectCharactersMax).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, "");
}

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

/** Who does something: a caller, a person who showed a key on a page or has a link, or the service itself. */
export type Actor =
  | Principal
  | { readonly kind: "key"; readonly keyId: KeyId }
  | { readonly kind: "link" }
  | { readonly kind: "service" };

/** Something that is about to be done. `projectId`: undefined for the deployment. */
export type AuditedAction = {
  readonly actor: Actor;
  readonly action: string;
  readonly projectId: ProjectId | undefined;
  readonly subject: string;
  /** The entity or the person that it is about; empty for none. */
  readonly entityId: string;
};

/** How something ended, and what is known of it only then. */
export type ActionEnd = {
  readonly outcome: string;
  readonly subject?: string | undefined;
  readonly projectId?: ProjectId | undefined;
};

/** The audit log as those write it who do something. */
export type AuditLog = {
  /** Enters a deed before it is done: it is not done where this rejects. */
  enter(deed: AuditedAction): Promise<AuditId>;
  /** Notes how it ended. Never rejects: what cannot be noted reads as `unknown`. */
  end(id: AuditId, end: ActionEnd): Promise<void>;
};

// Of ids, slugs and names, which are shorter: what a request holds before anything of it was checked.
const subjectCharactersMax = 200;

/** Makes the log of a node. */
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
      // Another node may have begun the key that the digest is made with.
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

/** As the store names who does something. */
function actorOf(actor: Actor): { actor: AuditActor; actorId: string | null } {
  if ("keyId" in actor) return { actor: "key", actorId: uuidOfId(actor.keyId) };
  return { actor: actor.kind, actorId: null };
}

function subjectText(text: string): string {
  return text.slice(0, subjectCharactersMax).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, "");
}

import type { ProjectId } from "@svc/core";
import { and, asc, count, eq, gt, sql } from "drizzle-orm";
import { type Executor, withTransaction } from "../connect.ts";
import { contacts, jobAsks } from "../schema/jobs.ts";
import { newestWith } from "../sql/newest-first.ts";
import { arrayLiteral } from "../sql/statement.ts";

/** A contact: a person of the project to whom jobs can send questions. */
export type Contact = Omit<typeof contacts.$inferSelect, "projectId">;

/** A contact (a person whom jobs can ask) to store. `keyId`: the API key that creates the contact, if a key does. */
export type NewContact = Omit<Contact, "keyId"> & { readonly keyId?: Contact["keyId"] };

/**
 * The contacts of one project: the people whom jobs can ask. At least one contact is always an approver (may approve plans). A change that
 * would remove the last approver is refused.
 */
export type ContactRepository = {
  find(principalId: string): Promise<Contact | undefined>;
  /** Returns the contacts with these ids that exist, in any order. */
  findMany(principalIds: readonly string[]): Promise<Contact[]>;
  /** Returns at most `limit` contacts in ascending order of principalId, beginning after the principalId `after`. */
  list(page: { after: string | undefined; limit: number }): Promise<Contact[]>;
  /** Returns the contacts who are approvers, oldest first. */
  listApprovers(): Promise<Contact[]>;
  /**
   * Creates or replaces a contact, and returns it. A replaced contact keeps its createdAt. `last_approver`: nothing changed, because the
   * project would have no approver. `too_many`: nothing changed, because the project would have more than `contactsMax` contacts.
   */
  put(contact: NewContact, contactsMax: number): Promise<Contact | "last_approver" | "too_many">;
  /**
   * Deletes a contact. `missing`: it does not exist. `last_approver`: it stays, because it is the only approver. `asked`: it stays, because
   * a pending ask was sent to it.
   */
  delete(principalId: string): Promise<"deleted" | "missing" | "last_approver" | "asked">;
};

const columns = {
  principalId: contacts.principalId,
  name: contacts.name,
  isApprover: contacts.isApprover,
  reach: contacts.reach,
  createdAt: contacts.createdAt,
  keyId: contacts.keyId,
};

/** Returns the repository of one project's contacts. */
export function contactsForProject(db: Executor, projectId: ProjectId): ContactRepository {
  const ofProject = eq(contacts.projectId, projectId);
  const own = (principalId: string) => and(ofProject, eq(contacts.principalId, principalId));
  return {
    async find(principalId) {
      const [row] = await db.orm.select(columns).from(contacts).where(own(principalId));
      return row;
    },
    findMany: async (principalIds) => {
      if (principalIds.length === 0) return [];
      return db.orm
        .select(columns)
        .from(contacts)
        .where(and(ofProject, sql`${contacts.principalId} = any(${arrayLiteral(principalIds)}::text[])`));
    },
    list: ({ after, limit }) =>
      db.orm
        .select(columns)
        .from(contacts)
        .where(and(ofProject, after === undefined ? undefined : gt(contacts.principalId, after)))
        .orderBy(asc(contacts.principalId))
        .limit(limit),
    listApprovers: () =>
      db.orm
        .select(columns)
        .from(contacts)
        .where(and(ofProject, eq(contacts.isApprover, true)))
        .orderBy(asc(contacts.createdAt), asc(contacts.principalId)),
    put: (contact, contactsMax) =>
      withTransaction(db, async (tx) => {
        if (!contact.isApprover && (await isLastApprover(tx, projectId, contact.principalId))) return "last_approver";
        const [known] = await tx.orm.select(columns).from(contacts).where(own(contact.principalId)).for("update");
        if (known === undefined) {
          const [found] = await tx.orm.select({ count: count() }).from(contacts).where(ofProject);
          if ((found?.count ?? 0) >= contactsMax) return "too_many";
        }
        const { principalId: _, createdAt: _created, ...change } = { keyId: null, ...contact };
        const [row] = await tx.orm
          .insert(contacts)
          .values({ ...contact, projectId })
          .onConflictDoUpdate({ target: [contacts.projectId, contacts.principalId], set: change })
          .returning(columns);
        if (row === undefined) throw new Error("an insert returned no row");
        return row;
      }),
    delete: (principalId) =>
      withTransaction(db, async (tx) => {
        if (await isLastApprover(tx, projectId, principalId)) return "last_approver";
        const [known] = await tx.orm.select(columns).from(contacts).where(own(principalId)).for("update");
        if (known === undefined) return "missing";
        if (await hasPendingAsk(tx, projectId, principalId)) return "asked";
        await tx.orm.delete(contacts).where(own(principalId));
        return "deleted";
      }),
  };
}

/**
 * Returns true if the contact is the only approver. Locks the approvers, so that the second of two concurrent removals sees the result of
 * the first.
 */
async function isLastApprover(tx: Executor, projectId: ProjectId, principalId: string): Promise<boolean> {
  const approvers = await tx.orm
    .select({ principalId: contacts.principalId })
    .from(contacts)
    .where(and(eq(contacts.projectId, projectId), eq(contacts.isApprover, true)))
    .orderBy(asc(contacts.principalId))
    .for("update");
  return approvers.length === 1 && approvers[0]?.principalId === principalId;
}

/**
 * Returns true if a pending ask (a question to a person) was sent to the contact. Uses the index of pending asks, because there are many
 * asks that have been answered.
 */
async function hasPendingAsk(tx: Executor, projectId: ProjectId, principalId: string): Promise<boolean> {
  const { where } = newestWith(jobAsks, projectId, { key: sql`(${jobAsks.state} || ' ')`, value: "pending " });
  const [ask] = await tx.orm
    .select({ id: jobAsks.id })
    .from(jobAsks)
    .where(and(where, sql`${principalId} = any(${jobAsks.deliveredPrincipals})`))
    .limit(1);
  return ask !== undefined;
}

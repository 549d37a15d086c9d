import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { CatalogViews } from "@svc/catalog";
import { byText, type Clock, projectList, requireProject, type Sealer } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { type Contact, contactsForProject } from "@svc/db/contacts/repo";
import { type Contact as ContactMessage, ContactSchema, type ContactsService } from "@svc/gen/contacts";
import { askFaults } from "../errors.ts";
import { checkContact } from "./check-contact.ts";

/** What ContactsService works with. */
export type ContactsContext = {
  readonly db: Executor;
  readonly clock: Clock;
  /** Seals page tokens. */
  readonly sealer: Sealer;
  readonly views: Pick<CatalogViews, "forProject">;
};

const contactsMax = 1_000;

/** Makes the implementation of ContactsService. */
export function createContactsService({
  db,
  clock,
  sealer,
  views,
}: ContactsContext): ServiceImpl<typeof ContactsService> {
  return {
    async putContact(req, ctx) {
      const { projectId, keyId, confirm } = requireProject(ctx);
      const view = await views.forProject(projectId);
      const contact = { ...checkContact({ view, confirm, nowMs: clock.now() }, req.contact), keyId };
      const stored = await contactsForProject(db, projectId).put(contact, contactsMax);
      if (stored === "last_approver") throw askFaults.LAST_APPROVER(contact.principalId);
      if (stored === "too_many") throw askFaults.CONTACTS_TOO_MANY(contactsMax);
      return { contact: contactMessage(stored) };
    },

    listContacts: projectList(sealer, {
      call: "ListContacts",
      order: byText((contact: Contact) => contact.principalId),
      rows: ({ page, caller: { projectId } }) => contactsForProject(db, projectId).list(page),
      answer: (rows) => ({ contacts: rows.map(contactMessage) }),
    }),

    async deleteContact(req, ctx) {
      const { projectId } = requireProject(ctx);
      // No contact has a name that the store cannot hold.
      const { principalId } = req;
      if (principalId.includes("\0")) throw askFaults.CONTACT_NOT_FOUND(principalId);
      const outcome = await contactsForProject(db, projectId).delete(principalId);
      if (outcome === "missing") throw askFaults.CONTACT_NOT_FOUND(principalId);
      if (outcome === "asked") throw askFaults.CONTACT_ASKED(principalId);
      if (outcome === "last_approver") throw askFaults.LAST_APPROVER(principalId);
      return {};
    },
  };
}

function contactMessage({ principalId, name, isApprover, reach, createdAt }: Contact): ContactMessage {
  return create(ContactSchema, {
    principalId,
    name,
    approver: isApprover,
    createdAt: timestampFromMs(createdAt),
    ...(reach !== null && {
      reach: { toolSlug: reach.toolSlug, entityId: reach.entityId, argsJson: JSON.stringify(reach.args) },
    }),
  });
}

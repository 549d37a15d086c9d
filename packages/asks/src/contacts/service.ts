import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { type CatalogView, type CatalogViews, classToConfirm, fitInput } from "@svc/catalog";
import {
  byText,
  type Clock,
  type ConfirmRule,
  confirmingRule,
  isObject,
  projectList,
  requireProject,
  type Sealer,
} from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { type Contact, contactsForProject, type NewContact } from "@svc/db/contacts/repo";
import { type Contact as ContactMessage, ContactSchema, type ContactsService } from "@svc/gen/contacts";
import { toolFaults } from "@svc/tools";
import { askFaults } from "../errors.ts";
import { isStorable, readJson, unstorable } from "../read-json.ts";
import { fillReachArguments, type ReachArguments, unknownPlaceholder } from "./reach-arguments.ts";

const charactersMax = 200;
const argsBytesMax = 16_384;

/** A contact (a person whom svc can ask) as the caller of the API method PutContact sent it, before any check. */
type GivenContact = {
  readonly principalId: string;
  readonly name: string;
  readonly approver: boolean;
  readonly reach?: GivenReach | undefined;
};

type GivenReach = { readonly toolSlug: string; readonly entityId: string; readonly argsJson: string };

/**
 * Data that a new or changed contact is checked against. `view`: the tools of the project. `confirm`: the calling key's confirmation rules;
 * undefined if there are none. A confirmation rule says which calls a person must confirm.
 */
type ContactCheck = {
  readonly view: CatalogView;
  readonly confirm: readonly ConfirmRule[] | undefined;
  readonly nowMs: number;
};

/** Returns the contact in the form in which it is stored. Throws the first error of PutContact that applies. */
function checkContact(
  { view, confirm, nowMs }: ContactCheck,
  given: GivenContact | undefined,
): Omit<NewContact, "keyId"> {
  const { principalId = "", name = "", approver = false, reach } = given ?? {};
  if (!isName(principalId)) throw askFaults.PRINCIPAL_ID_INVALID(principalId);
  if (!isName(name)) throw askFaults.CONTACT_NAME_INVALID(name);
  return {
    principalId,
    name,
    isApprover: approver,
    reach: reach === undefined ? null : checkReach({ view, confirm }, reach),
    createdAt: nowMs,
  };
}

function isName(text: string): boolean {
  return text !== "" && [...text].length <= charactersMax && text.isWellFormed() && !/\p{Cc}/u.test(text);
}

function checkReach(
  { view, confirm }: Omit<ContactCheck, "nowMs">,
  { toolSlug, entityId, argsJson }: GivenReach,
): NonNullable<Contact["reach"]> {
  const tool = view.tools.get(toolSlug);
  if (tool === undefined) throw toolFaults.TOOL_NOT_FOUND("contact.reach.toolSlug", toolSlug, undefined);
  if (tool.kind !== "action") throw askFaults.REACH_TOOL_UNSUITABLE(toolSlug, "is a trigger, which cannot be called");
  if (!tool.callable) throw askFaults.REACH_TOOL_UNSUITABLE(toolSlug, "cannot be called");
  if (tool.class === "destructive") throw askFaults.REACH_TOOL_UNSUITABLE(toolSlug, "is destructive");
  if (confirmingRule(confirm, classToConfirm(tool)) !== undefined) {
    throw askFaults.REACH_TOOL_UNSUITABLE(
      toolSlug,
      "writes, but the key that puts the contact needs a person to confirm each write",
    );
  }
  if (!isName(entityId)) throw askFaults.ENTITY_ID_INVALID(entityId);
  const args = readArguments(argsJson);
  const unknown = unknownPlaceholder(args);
  if (unknown !== undefined) throw askFaults.REACH_ARGS_INVALID(`names the placeholder {${unknown.slice(0, 80)}}`);
  const { faults } = fitInput(tool.inputSchema, tool.validateInput, fillReachArguments(args, sampleValues));
  const [fault] = faults;
  if (fault !== undefined) {
    throw askFaults.REACH_ARGS_INVALID(
      `breaks the tool's input schema: ${fault.pointer === "" ? "it" : fault.pointer} ${fault.message}`,
    );
  }
  return { toolSlug, entityId, args };
}

/**
 * Sample values of an ask (a job's question to a person). They fill the placeholders when svc checks the arguments of a contact's
 * notification call.
 */
const sampleValues = {
  question: "Continue?",
  jobId: "job_00000000000000000000000000",
  requestId: "ask_00000000000000000000000000",
  link: `https://svc.example.com/console/answer#${"0".repeat(43)}`,
};

function readArguments(argsJson: string): ReachArguments {
  if (Buffer.byteLength(argsJson) > argsBytesMax) throw askFaults.REACH_ARGS_INVALID(`exceeds ${argsBytesMax} bytes`);
  const args = readJson(argsJson)?.value;
  if (!isObject(args)) throw askFaults.REACH_ARGS_INVALID("is not a JSON object, or repeats a name");
  if (!isStorable(args)) throw askFaults.REACH_ARGS_INVALID(unstorable);
  return args as ReachArguments;
}

/** Dependencies of ContactsService, the API service for the people whom svc can ask. */
export type ContactsContext = {
  readonly db: Executor;
  readonly clock: Clock;
  /** Encrypts the page tokens of lists, so that callers cannot read or change them. */
  readonly sealer: Sealer;
  readonly views: Pick<CatalogViews, "forProject">;
};

const contactsMax = 1_000;

/** Creates the implementation of ContactsService, the API service for the people whom svc can ask. */
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
      // The database cannot store a name with U+0000, so no contact has such a name.
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

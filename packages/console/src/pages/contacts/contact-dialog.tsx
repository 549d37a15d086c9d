import { type Contact, ContactsService } from "@svc/gen/contacts";
import { WriteDialog } from "../../frame/write-dialog.tsx";

/** Makes a contact, or changes one. */
export function ContactDialog({
  contact,
  onClose,
  onDone,
}: {
  contact: Contact | undefined;
  onClose: () => void;
  onDone: () => void;
}) {
  const { principalId = "", name = "", approver = false, reach } = contact ?? {};
  const isReached = ({ toolSlug }: { toolSlug?: string | boolean }) => toolSlug !== "";
  return (
    <WriteDialog
      method={ContactsService.method.putContact}
      title={contact === undefined ? "New contact" : `Change ${principalId}`}
      fields={{
        principalId: { text: "Id", readOnly: contact !== undefined, hint: "What programs name, such as lead." },
        name: { text: "Name" },
        approver: { check: "Approver", hint: "Approvals may be decided in this name." },
        toolSlug: { text: "Reached by tool", mono: true, hint: "Left empty, the contact is told of no question." },
        entityId: { text: "As entity", when: isReached },
        argsJson: {
          area: "Arguments",
          mono: true,
          hint: "JSON; {question}, {jobId}, {requestId} and {link} are filled in.",
          when: isReached,
        },
      }}
      start={{
        ...{ principalId, name, approver, toolSlug: reach?.toolSlug ?? "" },
        ...{ entityId: reach?.entityId ?? "", argsJson: reach?.argsJson ?? "" },
      }}
      request={({ toolSlug, entityId, argsJson, ...rest }) => ({
        contact: { ...rest, ...(toolSlug !== "" && { reach: { toolSlug, entityId, argsJson } }) },
      })}
      why={(values) => (values.principalId === "" ? "Give it an id first" : undefined)}
      keep="Not now"
      act="Save"
      busy="Saving"
      onClose={onClose}
      done={onDone}
    />
  );
}

import { type Contact, ContactsService } from "@svc/gen/contacts";
import { useState } from "react";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { FaultNotice } from "../../ui/fault.tsx";
import { AreaField, CheckField, TextField } from "../../ui/field.tsx";

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
  const [principalId, setPrincipalId] = useState(contact?.principalId ?? "");
  const [name, setName] = useState(contact?.name ?? "");
  const [approver, setApprover] = useState(contact?.approver ?? false);
  const [toolSlug, setToolSlug] = useState(contact?.reach?.toolSlug ?? "");
  const [entityId, setEntityId] = useState(contact?.reach?.entityId ?? "");
  const [argsJson, setArgsJson] = useState(contact?.reach?.argsJson ?? "");
  const put = useWrite(ContactsService.method.putContact, { onSuccess: onDone });
  const reach = toolSlug === "" ? {} : { reach: { toolSlug, entityId, argsJson } };
  return (
    <Dialog
      open
      onClose={onClose}
      title={contact === undefined ? "New contact" : `Change ${contact.principalId}`}
      hideOnInteractOutside={false}
      actions={
        <>
          <Button onPress={onClose}>Not now</Button>
          <Button
            kind="primary"
            why={principalId === "" ? "Give it an id first" : undefined}
            busy={put.isSending ? "Saving" : undefined}
            onPress={() => put.send({ contact: { principalId, name, approver, ...reach } })}
          >
            Save
          </Button>
        </>
      }
    >
      <TextField
        label="Id"
        value={principalId}
        onChange={setPrincipalId}
        readOnly={contact !== undefined}
        hint="What programs name, such as lead."
      />
      <TextField label="Name" value={name} onChange={setName} />
      <CheckField
        label="Approver"
        checked={approver}
        onChange={setApprover}
        hint="Approvals may be decided in this name."
      />
      <TextField
        label="Reached by tool"
        mono
        value={toolSlug}
        onChange={setToolSlug}
        hint="Left empty, the contact is told of no question."
      />
      {toolSlug !== "" && (
        <>
          <TextField label="As entity" value={entityId} onChange={setEntityId} />
          <AreaField
            label="Arguments"
            mono
            value={argsJson}
            onChange={setArgsJson}
            hint="JSON; {question}, {jobId}, {requestId} and {link} are filled in."
          />
        </>
      )}
      <FaultNotice error={put.error} />
    </Dialog>
  );
}

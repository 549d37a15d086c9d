import { type Contact, ContactsService } from "@svc/gen/contacts";
import { useState } from "react";
import { useRows } from "../../calls/rows.ts";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { ListStates } from "../../ui/rows/list-states.tsx";
import { LoadMore } from "../../ui/rows/load-more.tsx";
import { ContactDialog } from "./contact-dialog.tsx";
import { ContactItem } from "./contact-item.tsx";

/** The contacts of the project. `why` is set for who may not change them. */
export function Contacts({ why }: { why: string | undefined }) {
  const list = useRows(ContactsService.method.listContacts, { pageSize: 100 }, ({ contacts }) => contacts);
  const [edited, setEdited] = useState<Contact | "new">();
  const remove = useWrite(ContactsService.method.deleteContact, { onSuccess: list.reload });
  return (
    <Stack>
      <Line>
        <Button icon="plus" why={why} onPress={() => setEdited("new")}>
          New contact
        </Button>
      </Line>
      <ListStates
        list={list}
        empty={
          <Empty icon="contact" title="No contacts yet">
            <p>A contact is somebody whom jobs may ask, and how they are reached. A program names them by their id.</p>
          </Empty>
        }
      >
        <ul>
          {list.rows.map((contact) => (
            <li key={contact.principalId}>
              <ContactItem
                contact={contact}
                why={why}
                onEdit={() => setEdited(contact)}
                onDelete={() => remove.sendAsync({ principalId: contact.principalId })}
              />
            </li>
          ))}
        </ul>
      </ListStates>
      <LoadMore list={list} />
      {edited !== undefined && (
        <ContactDialog
          contact={edited === "new" ? undefined : edited}
          onClose={() => setEdited(undefined)}
          onDone={() => {
            setEdited(undefined);
            list.reload();
          }}
        />
      )}
    </Stack>
  );
}

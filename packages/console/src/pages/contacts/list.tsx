import { type Contact, ContactsService } from "@svc/gen/contacts";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useRows } from "../../calls/rows.ts";
import { useWrite } from "../../calls/write.ts";
import { WriteDialog } from "../../frame/write-dialog.tsx";
import { seatFor, useSession } from "../../session/session.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { Tabs } from "../../ui/layout/tabs.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { ListStates, LoadMore } from "../../ui/rows/list-states.tsx";
import { AskEndpoints } from "./ask-endpoints.tsx";
import { ContactItem } from "./contact-item.tsx";

const route = getRouteApi("/p/$projectId/contacts");

/** Draws the contacts who are asked questions, and the endpoints that receive every question as well. */
export default function ContactsPage() {
  const { projectId } = route.useParams();
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  const seat = seatFor(useSession(), projectId);
  const why =
    seat?.role === "approver" ? undefined : "This needs a key with the role approver. Your key has the role member.";
  return (
    <Page title="People">
      <Tabs
        label="People"
        selected={tab ?? "contacts"}
        onSelect={(id) => void navigate({ search: { tab: id === "endpoints" ? id : undefined }, replace: true })}
        tabs={[
          { id: "contacts", words: "People", panel: <Contacts why={why} /> },
          { id: "endpoints", words: "Question endpoints", panel: <AskEndpoints why={why} /> },
        ]}
      />
    </Page>
  );
}

/** Draws the contacts of the project. `why`: the reason why the user's key may not change them. */
function Contacts({ why }: { why: string | undefined }) {
  const list = useRows(ContactsService.method.listContacts, { pageSize: 100 }, ({ contacts }) => contacts);
  const [edited, setEdited] = useState<Contact | "new">();
  const remove = useWrite(ContactsService.method.deleteContact, { onSuccess: list.reload });
  return (
    <Stack>
      <Line>
        <Button icon="plus" why={why} onPress={() => setEdited("new")}>
          New person
        </Button>
      </Line>
      <ListStates
        list={list}
        empty={
          <Empty icon="contact" title="No people yet">
            <p>Jobs can ask people. Add a person and how svc reaches them. Programs name a person by the id.</p>
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

/** Draws the dialog that creates a contact or changes an existing one. */
function ContactDialog({
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
      title={contact === undefined ? "New person" : `Change ${principalId}`}
      fields={{
        principalId: { text: "Id", readOnly: contact !== undefined, hint: "Programs use this id, such as lead." },
        name: { text: "Name" },
        approver: { check: "Approver", hint: "This person can answer approvals." },
        toolSlug: { text: "Reached by tool", mono: true, hint: "The tool that sends questions. Empty for none." },
        entityId: { text: "As user", when: isReached },
        argsJson: {
          area: "Arguments",
          mono: true,
          hint: "Arguments of the tool, as a JSON object. svc replaces {question}, {jobId}, {requestId} and {link}.",
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
      why={(values) => (values.principalId === "" ? "Enter an id first" : undefined)}
      keep="Cancel"
      act="Save"
      busy="Saving"
      onClose={onClose}
      done={onDone}
    />
  );
}

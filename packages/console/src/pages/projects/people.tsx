import { AdminService, type Person } from "@svc/gen/admin";
import { Role } from "@svc/gen/options";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useRows } from "../../calls/rows.ts";
import { useRefresh, useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { ConfirmButton } from "../../ui/buttons/confirm-button.tsx";
import { TextField } from "../../ui/fields/field.tsx";
import { OptionsField } from "../../ui/fields/options-field.tsx";
import { Item, Items } from "../../ui/layout/items.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { FormDialog } from "../../ui/overlay/form-dialog.tsx";
import { SecretMade } from "../../ui/overlay/secret-made.tsx";
import { ListStates, LoadMore } from "../../ui/rows/list-states.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { Time } from "../../ui/values/time.tsx";
import { keyRoles, roleWord } from "../../words/keys.ts";

/** Draws the people with a role in a project, who sign in with company accounts, and the button that invites another person. */
export function People({ projectId }: { projectId: string }) {
  const [isInviting, setInviting] = useState(false);
  const list = useRows(AdminService.method.listPeople, { pageSize: 200 }, ({ people }) =>
    people.filter(({ seats }) => seats.some((seat) => seat.projectId === projectId && seat.active)),
  );
  return (
    <Section
      title="Company accounts"
      actions={
        <Button icon="plus" onPress={() => setInviting(true)}>
          Invite a person
        </Button>
      }
    >
      <ListStates
        list={list}
        empty={
          <Empty icon="key" title="No company accounts yet">
            <p>Invite a person, or give a role to a group of the identity provider.</p>
          </Empty>
        }
      >
        <Stack>
          <Items label="Company accounts">
            {list.rows.map((person) => (
              <PersonItem key={person.id} person={person} projectId={projectId} />
            ))}
          </Items>
          <LoadMore list={list} />
        </Stack>
      </ListStates>
      {isInviting && <InviteDialog projectId={projectId} onClose={() => setInviting(false)} />}
    </Section>
  );
}

function PersonItem({ person, projectId }: { person: Person; projectId: string }) {
  const { id, mail, name, seats, signedInAt, confirmedAt } = person;
  const refresh = useRefresh(AdminService);
  const remove = useWrite(AdminService.method.removePerson, {
    onSuccess: () => {
      announce(`${mail} is removed.`);
      return refresh();
    },
  });
  const seat = seats.find((one) => one.projectId === projectId);
  return (
    <Item
      title={name === "" ? mail : `${name}, ${mail}`}
      actions={
        <ConfirmButton
          words="Remove"
          title={`Remove ${mail}?`}
          says="The sessions, keys and grants of the person end in all projects, and svc deletes the mail address and the name. An account that still has a role at the identity provider can sign in again."
          confirm="Remove the person"
          busy="Removing"
          act={() => remove.sendAsync({ id })}
        />
      }
    >
      <p>
        {roleWord(seat?.role ?? Role.UNSPECIFIED)}
        {seat?.givenRole === Role.UNSPECIFIED ? " by a group" : " by invitation"}, signed in <Time at={signedInAt} />,
        confirmed by the provider <Time at={confirmedAt} />
      </p>
      <Copyable text={id} what="id of the person" />
      <Link to="/admin/audit" search={{ who: id }}>
        What this person did
      </Link>
    </Item>
  );
}

/** Draws the dialog that creates an invitation and shows its link once. */
function InviteDialog({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const [mail, setMail] = useState("");
  const [role, setRole] = useState("member");
  const invite = useWrite(AdminService.method.createInvitation, { isSecret: true });
  if (invite.answer !== undefined) {
    return (
      <SecretMade
        title="The invitation is created"
        says="The link works once, for 7 days. Send it only to the person whom you invite."
        what="link"
        text={invite.answer.url}
        onClose={onClose}
      />
    );
  }
  return (
    <FormDialog
      title="Invite a person"
      act="Create the link"
      busy={invite.isSending ? "Creating" : undefined}
      error={invite.error}
      onSubmit={() => invite.send({ projectId, mail, role: Role[role.toUpperCase() as "MEMBER"] })}
      onClose={onClose}
    >
      <TextField
        label="Mail address"
        type="email"
        autoComplete="off"
        value={mail}
        onChange={setMail}
        hint="The only company account that can accept the invitation. Leave empty for any allowed account."
      />
      <OptionsField label="Role" value={role} options={keyRoles} onChange={setRole} />
    </FormDialog>
  );
}

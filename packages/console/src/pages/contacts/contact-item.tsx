import type { Contact } from "@svc/gen/contacts";
import { Button } from "../../ui/buttons/button.tsx";
import { ConfirmButton } from "../../ui/buttons/confirm-button.tsx";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { prettyJson } from "../../words/pretty-json.ts";
import type { Word } from "../../words/word.ts";
import { ReachTest } from "./reach-test.tsx";

const approver: Word = { word: "approver", tone: "info", icon: "lock", says: "Approvals may be decided in this name." };

/** One contact: how it is reached, and what may be done with it. */
export function ContactItem({
  contact,
  why,
  onEdit,
  onDelete,
}: {
  contact: Contact;
  why: string | undefined;
  onEdit: () => void;
  onDelete: () => Promise<unknown>;
}) {
  const { principalId, name, reach, createdAt } = contact;
  return (
    <Disclosure
      summary={
        <>
          <b>{principalId}</b>
          <span>{name}</span>
          {contact.approver && <State word={approver} />}
          <span>{reach === undefined ? "not told of questions" : `told by ${reach.toolSlug}`}</span>
        </>
      }
    >
      <Stack>
        <Facts
          facts={[
            [
              "Reached by",
              reach === undefined
                ? "no tool: ask endpoints and the inbox remain"
                : `${reach.toolSlug} as ${reach.entityId}`,
            ],
            ["With", reach === undefined ? undefined : <code key="args">{prettyJson(reach.argsJson)}</code>],
            ["Since", <Time key="since" at={createdAt} />],
          ]}
        />
        {reach !== undefined && <ReachTest reach={reach} />}
        <Line>
          <Button why={why} onPress={onEdit}>
            Change
          </Button>
          <ConfirmButton
            words="Delete"
            why={why}
            title={`Delete the contact ${principalId}?`}
            says="A question that goes on to it is addressed to its id, which nothing reaches any more."
            confirm="Delete the contact"
            busy="Deleting"
            act={onDelete}
          />
        </Line>
      </Stack>
    </Disclosure>
  );
}

import type { Contact, Reach } from "@svc/gen/contacts";
import { ToolsService } from "@svc/gen/tools";
import { useState } from "react";
import { useWrite } from "../../calls/write.ts";
import { randomKey } from "../../random.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { ConfirmButton } from "../../ui/buttons/confirm-button.tsx";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { prettyJson } from "../../words/pretty-json.ts";
import type { Word } from "../../words/word.ts";
import { sampleArguments } from "./sample-question.ts";

const approver: Word = { word: "approver", tone: "info", icon: "lock", says: "This person can answer approvals." };

/** Draws one contact: its contact channels, and the buttons that change it. */
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
          <b>{name || principalId}</b>
          {name !== "" && name !== principalId && <code>{principalId}</code>}
          {contact.approver && <State word={approver} />}
          <span>{reach === undefined ? "gets no messages" : `gets messages by ${reach.toolSlug}`}</span>
        </>
      }
    >
      <Stack>
        <Facts
          facts={[
            [
              "Reached by",
              reach === undefined
                ? "no tool: only question endpoints and this console"
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
            title={`Delete the person ${principalId}?`}
            says="Nobody then gets the questions to this person."
            confirm="Delete the person"
            busy="Deleting"
            act={onDelete}
          />
        </Line>
      </Stack>
    </Disclosure>
  );
}

/** Draws the test of a contact channel. The first press shows the request; only a second press sends it. */
function ReachTest({ reach }: { reach: Reach }) {
  const [idempotencyKey] = useState(randomKey);
  const call = { toolSlug: reach.toolSlug, entityId: reach.entityId, argumentsJson: sampleArguments(reach.argsJson) };
  const look = useWrite(ToolsService.method.callTool);
  const send = useWrite(ToolsService.method.callTool);
  const answer = send.answer ?? look.answer;
  return (
    <Stack>
      <Line>
        <Button
          icon="search"
          onPress={() => look.send({ ...call, dryRun: true })}
          busy={look.isSending ? "Looking" : undefined}
        >
          Show the test message
        </Button>
        {look.answer !== undefined && (
          <Button
            icon="send"
            onPress={() => send.send({ ...call, idempotencyKey })}
            busy={send.isSending ? "Sending" : undefined}
          >
            Send it
          </Button>
        )}
      </Line>
      <FaultNotice error={send.error ?? look.error} />
      {answer !== undefined && (
        <Notice
          tone={send.answer !== undefined && answer.outcome === "ok" ? "ok" : "plain"}
          title={send.answer !== undefined ? `Sent: ${answer.outcome}` : "This would be sent"}
        >
          {answer.message !== "" && <p>{answer.message}</p>}
        </Notice>
      )}
      {look.answer !== undefined && (
        <CodeBlock text={prettyJson(look.answer.resultJson || call.argumentsJson)} what="request" />
      )}
    </Stack>
  );
}

import { createConnectQueryKey, useTransport } from "@connectrpc/connect-query";
import { type ConnectedAccount, ConnectionsService } from "@svc/gen/connections";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useApproverWhy } from "../../calls/identity.ts";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { AreaField } from "../../ui/fields/field.tsx";
import { FormFrame } from "../../ui/fields/form-frame.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";

/**
 * Draws the references of an account: the ids that the app uses for it. An event that names one of these ids belongs to the account. The
 * form has one reference per line.
 */
export function AccountReferences({ projectId, account }: { projectId: string; account: ConnectedAccount }) {
  const [text, setText] = useState<string>();
  const queries = useQueryClient();
  const transport = useTransport();
  const { getConnection, setAccountReferences } = ConnectionsService.method;
  const set = useWrite(setAccountReferences, {
    onSuccess: async () => {
      await queries.invalidateQueries({
        queryKey: createConnectQueryKey({
          schema: getConnection,
          transport,
          input: { id: account.id },
          cardinality: "finite",
        }),
      });
      setText(undefined);
      announce("The references are saved.");
    },
  });
  const why = useApproverWhy(projectId);
  const isOver = account.state === "superseded" || account.state === "revoked";
  const actions = text === undefined && (
    <Button onPress={() => setText(account.references.join("\n"))} why={isOver ? "The account is deleted." : why}>
      Change
    </Button>
  );
  return (
    <Section title="References" actions={actions}>
      {text === undefined ? (
        <References references={account.references} />
      ) : (
        <FormFrame onSubmit={() => set.send({ id: account.id, references: linesOf(text) })}>
          <AreaField
            label="References, one a line"
            value={text}
            onChange={setText}
            mono
            hint="The ids by which the app names this account in its webhooks, such as a team id or a user number."
          />
          <FaultNotice error={set.error} />
          <Line>
            <Button kind="primary" type="submit" busy={set.isSending ? "Setting" : undefined}>
              Save the references
            </Button>
            <Button onPress={() => setText(undefined)}>Cancel</Button>
          </Line>
        </FormFrame>
      )}
    </Section>
  );
}

function References({ references }: { references: readonly string[] }) {
  if (references.length === 0) return <p>None. No event of the app is linked to this account.</p>;
  return (
    <ul>
      {references.map((reference) => (
        <li key={reference}>
          <code>{reference}</code>
        </li>
      ))}
    </ul>
  );
}

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

import { useQuery } from "@connectrpc/connect-query";
import { type Secret, SecretsService } from "@svc/gen/secrets";
import { useState } from "react";
import { useApproverWhy } from "../../calls/identity.ts";
import { useRefresh, useWrite } from "../../calls/write.ts";
import { WriteDialog } from "../../frame/write-dialog.tsx";
import { Button } from "../../ui/buttons/button.tsx";
import { ConfirmButton } from "../../ui/buttons/confirm-button.tsx";
import { Item, Items } from "../../ui/layout/items.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { Empty, Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Time } from "../../ui/values/time.tsx";

/** Draws the names of the project's secrets. Their values are never shown. */
export function Secrets({ projectId }: { projectId: string }) {
  const why = useApproverWhy(projectId);
  const [put, setPut] = useState<string>();
  const list = useQuery(SecretsService.method.listSecrets, {});
  const secrets = list.data?.secrets ?? [];
  return (
    <Section
      title="Secrets"
      actions={
        <Button icon="plus" why={why} onPress={() => setPut("")}>
          Add a secret
        </Button>
      }
    >
      <FaultNotice error={list.error} onRetry={() => void list.refetch()} />
      {list.isPending && <Skeleton rows={3} />}
      {list.isSuccess && secrets.length === 0 && <NoSecrets />}
      {secrets.length > 0 && (
        <Items label="Secrets">
          {secrets.map((secret) => (
            <SecretItem key={secret.name} secret={secret} why={why} onChange={() => setPut(secret.name)} />
          ))}
        </Items>
      )}
      {put !== undefined && <SecretDialog name={put} onClose={() => setPut(undefined)} />}
    </Section>
  );
}

function SecretItem({
  secret: { name, updatedAt },
  why,
  onChange,
}: {
  secret: Secret;
  why: string | undefined;
  onChange: () => void;
}) {
  const refresh = useRefresh(SecretsService);
  const remove = useWrite(SecretsService.method.deleteSecret, {
    onSuccess: () => {
      announce(`The secret ${name} is deleted.`);
      return refresh();
    },
  });
  return (
    <Item
      title={<code>{name}</code>}
      actions={
        <>
          <Button why={why} onPress={onChange}>
            New value
          </Button>
          <ConfirmButton
            words="Delete"
            why={why}
            title={`Delete the secret ${name}?`}
            says="Jobs and programs that use the secret then fail."
            confirm="Delete the secret"
            busy="Deleting"
            act={() => remove.sendAsync({ name })}
          />
        </>
      }
    >
      value set <Time at={updatedAt} />
    </Item>
  );
}

function NoSecrets() {
  return (
    <Empty icon="key" title="No secrets yet">
      <p>
        Programs use a secret without seeing its value: {'{"$secret": "billing_token"}'} in the headers, the query and
        the body of an http step, and at any argument that a tool marks sensitive.
      </p>
    </Empty>
  );
}

/**
 * Draws the dialog that sets a secret. If `name` is empty, it creates a new secret; otherwise it sets a new value of the secret with this
 * name.
 */
function SecretDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const refresh = useRefresh(SecretsService);
  return (
    <WriteDialog
      method={SecretsService.method.putSecret}
      title={name === "" ? "Add a secret" : `A new value for ${name}`}
      fields={{
        name: {
          text: "Name",
          mono: true,
          required: true,
          autoComplete: "off",
          hint: "A lower-case letter, then lower-case letters, digits, - and _, such as billing_token.",
          when: () => name === "",
        },
        value: {
          text: "Value",
          type: "password",
          mono: true,
          required: true,
          autoComplete: "off",
          hint: "8 to 8,192 characters. svc sends the value as you enter it. It encrypts the value, and never shows it again.",
        },
      }}
      start={{ name }}
      request={(values) => values}
      act={name === "" ? "Add the secret" : "Save the new value"}
      busy="Putting"
      onClose={onClose}
      done={(_, values) => {
        announce(`The secret ${values.name} is saved.`);
        onClose();
        return refresh();
      }}
    />
  );
}

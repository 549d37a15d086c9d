import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { ApiKey } from "@svc/gen/admin";
import { GrantsService } from "@svc/gen/grants";
import { useState } from "react";
import { useApproverWhy } from "../../calls/identity.ts";
import { useRows } from "../../calls/rows.ts";
import { useRefresh, useWrite } from "../../calls/write.ts";
import { useNow } from "../../clock.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { ConfirmButton } from "../../ui/buttons/confirm-button.tsx";
import { TextField } from "../../ui/fields/field.tsx";
import { bindingOf, ConfirmFields, noScope, ScopeFields } from "../../ui/fields/scope-fields.tsx";
import { SelectField } from "../../ui/fields/select-field.tsx";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Item, Items } from "../../ui/layout/items.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { FormDialog } from "../../ui/overlay/form-dialog.tsx";
import { KeyMade } from "../../ui/overlay/secret-made.tsx";
import { ListStates, LoadMore } from "../../ui/rows/list-states.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { boundText, confirmText, isKeyValid, keyStateWord } from "../../words/keys.ts";

const hourMs = 3_600_000;
const lives = [
  { value: "1", words: "in an hour" },
  { value: "8", words: "in 8 hours" },
  { value: "24", words: "in 24 hours" },
];

/** Draws the dialog that creates a short-lived key for an agent and shows the key's text once. */
function AgentKeyDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [isTried, setTried] = useState(false);
  const [hours, setHours] = useState("1");
  const [scope, setScope] = useState(noScope);
  const [confirm, setConfirm] = useState({ person: "never", contact: "" });
  const refresh = useRefresh(GrantsService);
  // The answer contains the key's text. It is not kept in the cache of calls: closing the dialog removes it.
  const create = useWrite(GrantsService.method.createAgentKey, { isSecret: true, onSuccess: () => void refresh() });
  if (create.answer !== undefined) return <KeyMade text={create.answer.key} onClose={onClose} />;
  const send = () => {
    setTried(true);
    if (name.trim() === "") return;
    create.send({
      ...{ name, lifetime: durationFromMs(Number(hours) * hourMs), ...bindingOf(scope) },
      ...(confirm.person !== "never" && { confirm }),
    });
  };
  return (
    <FormDialog
      title="Create a key for an agent"
      act="Create the key"
      busy={create.isSending ? "Making" : undefined}
      error={create.error}
      onSubmit={send}
      onClose={onClose}
    >
      <TextField
        label="Name"
        isRequired
        fault={isTried && name.trim() === "" ? "Enter a purpose." : undefined}
        autoComplete="off"
        value={name}
        onChange={setName}
        hint="The purpose of the key, 1 to 100 characters."
      />
      <SelectField label="It expires" value={hours} options={lives} onChange={setHours} />
      <ScopeFields
        scope={scope}
        onChange={setScope}
        entityHint="Your own id of the one user that the agent works for. Enter a user, or apps, or both."
        toolkitsHint="Slugs separated by commas, such as calendar,notes_wiki. Leave empty for all that your key can use."
      />
      <ConfirmFields {...confirm} onChange={(to) => setConfirm({ ...confirm, ...to })} />
    </FormDialog>
  );
}

/** Draws the agent keys that this project's signed-in key has created. Only an approver's key can create them. */
export function AgentKeys({ projectId }: { projectId: string }) {
  const why = useApproverWhy(projectId);
  const [isMaking, setMaking] = useState(false);
  return (
    <Section
      title="Keys for agents"
      actions={
        <Button icon="plus" why={why} onPress={() => setMaking(true)}>
          Create a key
        </Button>
      }
    >
      {why === undefined ? <MadeKeys /> : <NoKeys />}
      {isMaking && <AgentKeyDialog onClose={() => setMaking(false)} />}
    </Section>
  );
}

function MadeKeys() {
  const now = useNow(60_000);
  const list = useRows(GrantsService.method.listAgentKeys, { pageSize: 200 }, ({ apiKeys }) => apiKeys);
  const [valid, ended] = [
    list.rows.filter((key) => isKeyValid(key, now)),
    list.rows.filter((key) => !isKeyValid(key, now)),
  ];
  const items = (label: string, rows: typeof valid) => (
    <Items label={label}>
      {rows.map((key) => (
        <KeyItem key={key.id} apiKey={key} now={now} />
      ))}
    </Items>
  );
  return (
    <ListStates list={list} skeletonRows={4} empty={<NoKeys />}>
      <Stack>
        {valid.length > 0 ? items("Keys for agents", valid) : <p>No valid key. All keys have ended.</p>}
        {ended.length > 0 && (
          <Disclosure summary={ended.length === 1 ? "One key has ended" : `${ended.length} keys have ended`}>
            {items("Keys that have ended", ended)}
          </Disclosure>
        )}
        <LoadMore list={list} />
      </Stack>
    </ListStates>
  );
}

function KeyItem({ apiKey, now }: { apiKey: ApiKey; now: number }) {
  const { id, name, hint, createdAt, expiresAt, revokedAt, lastUsedAt } = apiKey;
  const refresh = useRefresh(GrantsService);
  const revoke = useWrite(GrantsService.method.revokeAgentKey, {
    onSuccess: () => {
      announce(`The key ${name} is revoked.`);
      return refresh();
    },
  });
  const confirms = confirmText(apiKey.confirm);
  return (
    <Item
      title={
        <>
          {name} <State word={keyStateWord(apiKey, now)} />
        </>
      }
      actions={
        isKeyValid(apiKey, now) && (
          <ConfirmButton
            words="Revoke"
            title={`Revoke the key ${name}?`}
            says="The key and its permissions stop working within seconds. What the agent has done is not undone."
            confirm="Revoke the key"
            busy="Revoking"
            act={() => revoke.sendAsync({ id })}
          />
        )
      }
    >
      <p>
        {hint}…, made <Time at={createdAt} />, last used <Time at={lastUsedAt} />, expires <Time at={expiresAt} />
        {revokedAt !== undefined && (
          <>
            , revoked <Time at={revokedAt} />
          </>
        )}
      </p>
      <p>Limited to {boundText(apiKey)}</p>
      {confirms !== undefined && <p>{confirms}</p>}
      <Copyable text={id} what="key id" />
    </Item>
  );
}

function NoKeys() {
  return (
    <Empty icon="key" title="No keys for agents">
      <p>
        For agents that cannot sign in on a page. The key is for one user or some apps, works at most 24 hours, and ends
        with the key that created it.
      </p>
    </Empty>
  );
}

import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { AdminService, type ApiKey } from "@svc/gen/admin";
import { Role } from "@svc/gen/options";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useRows } from "../../calls/rows.ts";
import { useRefresh, useWrite } from "../../calls/write.ts";
import { useNow } from "../../clock.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { ConfirmButton } from "../../ui/buttons/confirm-button.tsx";
import { TextField } from "../../ui/fields/field.tsx";
import { OptionsField, TicksField } from "../../ui/fields/options-field.tsx";
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
import {
  agentToolChoices,
  agentToolsText,
  boundText,
  confirmText,
  keyRoles,
  keyStateWord,
  roleWord,
} from "../../words/keys.ts";

const dayMs = 24 * 60 * 60 * 1_000;
const lives = [
  { value: "", words: "never" },
  { value: "30", words: "in 30 days" },
  { value: "90", words: "in 90 days" },
  { value: "365", words: "in a year" },
];

/** Draws the dialog that creates a key and shows the key's text once. The text is never shown again. */
function CreateKeyDialog({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const [name, setName] = useState("");
  const [isTried, setTried] = useState(false);
  const [role, setRole] = useState("member");
  const [days, setDays] = useState("");
  const now = useNow(60_000);
  const [scope, setScope] = useState(noScope);
  const [agentTools, setAgentTools] = useState<string[]>([]);
  const [confirm, setConfirm] = useState({ person: "never", contact: "" });
  const refresh = useRefresh(AdminService);
  // The answer contains the key's text. It is not kept in the cache of calls: closing the dialog removes it.
  const create = useWrite(AdminService.method.createApiKey, { isSecret: true, onSuccess: () => void refresh() });
  if (create.answer !== undefined) return <KeyMade text={create.answer.key} onClose={onClose} />;
  const send = () => {
    setTried(true);
    if (name.trim() === "") return;
    create.send({
      ...{ projectId, name, role: Role[role.toUpperCase() as "MEMBER"] },
      ...bindingOf(scope),
      ...{ agentTools, ...(confirm.person !== "never" && { confirm }) },
      ...(days !== "" && { expiresAt: timestampFromMs(now + Number(days) * dayMs) }),
    });
  };
  return (
    <FormDialog
      title="Create a key"
      act="Create the key"
      busy={create.isSending ? "Creating" : undefined}
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
      <OptionsField label="Role" value={role} options={keyRoles} onChange={setRole} />
      <SelectField label="It expires" value={days} options={lives} onChange={setDays} />
      <Disclosure summary="Limit this key: one user, some tools, an agent">
        <Stack>
          <ScopeFields
            scope={scope}
            onChange={setScope}
            entityHint="Your own id of the one user whose data the key can use. Leave empty for the whole project."
            toolkitsHint="Slugs separated by commas, such as calendar,notes_wiki. Leave empty for all apps."
          />
          <TicksField
            label="Other abilities of the agent"
            options={agentToolChoices}
            chosen={agentTools}
            onChange={setAgentTools}
          />
          <ConfirmFields {...confirm} onChange={(to) => setConfirm({ ...confirm, ...to })} />
        </Stack>
      </Disclosure>
    </FormDialog>
  );
}

/** Draws the keys of a project, including revoked and expired ones. The text of a key is shown once, when it is created. */
export function Keys({ projectId }: { projectId: string }) {
  const [isCreating, setCreating] = useState(false);
  const list = useRows(AdminService.method.listApiKeys, { projectId, pageSize: 200 }, ({ apiKeys }) => apiKeys);
  return (
    <Section
      title="Keys"
      actions={
        <Button icon="plus" onPress={() => setCreating(true)}>
          Create a key
        </Button>
      }
    >
      <ListStates
        list={list}
        empty={
          <Empty icon="key" title="No keys yet">
            <p>Create a key to use the project.</p>
          </Empty>
        }
      >
        <Stack>
          <Items label="Keys">
            {list.rows.map((key) => (
              <KeyItem key={key.id} apiKey={key} />
            ))}
          </Items>
          <LoadMore list={list} />
        </Stack>
      </ListStates>
      {isCreating && <CreateKeyDialog projectId={projectId} onClose={() => setCreating(false)} />}
    </Section>
  );
}

function KeyItem({ apiKey }: { apiKey: ApiKey }) {
  const { id, name, role, hint, createdAt, expiresAt, revokedAt, lastUsedAt, makerKeyId } = apiKey;
  const refresh = useRefresh(AdminService);
  const revoke = useWrite(AdminService.method.revokeApiKey, {
    onSuccess: () => {
      announce(`The key ${name} is revoked.`);
      return refresh();
    },
  });
  const bound = boundText(apiKey);
  const beside = agentToolsText(apiKey);
  const confirms = confirmText(apiKey.confirm);
  const state = keyStateWord(apiKey, useNow(60_000));
  return (
    <Item
      title={
        <>
          {name} <State word={state} />
        </>
      }
      actions={
        <ConfirmButton
          words="Revoke"
          why={revokedAt === undefined ? undefined : "Already revoked"}
          title={`Revoke the key ${name}?`}
          says="The key stops working within seconds. Its sessions in the console, its links and the agent keys that it created end too."
          confirm="Revoke the key"
          busy="Revoking"
          act={() => revoke.sendAsync({ id })}
        />
      }
    >
      <p>
        {roleWord(role)}, {hint === "" ? "set by the deployment" : `${hint}…`}, created <Time at={createdAt} />, last
        used <Time at={lastUsedAt} />
        {revokedAt !== undefined && (
          <>
            , revoked <Time at={revokedAt} />
          </>
        )}
        {expiresAt !== undefined && (
          <>
            , expires <Time at={expiresAt} />
          </>
        )}
      </p>
      {bound !== undefined && <p>Limited to {bound}</p>}
      {makerKeyId !== "" && (
        <p>
          Made for an agent by <Copyable text={makerKeyId} what="id of the key that made it" />
        </p>
      )}
      {beside !== undefined && <p>{beside}</p>}
      {confirms !== undefined && <p>{confirms}</p>}
      <Copyable text={id} what="key id" />
      <Link to="/admin/audit" search={{ who: id }}>
        What it did
      </Link>
    </Item>
  );
}

import { AdminService, type ApiKey } from "@svc/gen/admin";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useRows } from "../../calls/rows.ts";
import { useRefresh, useWrite } from "../../calls/write.ts";
import { useNow } from "../../clock.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { ConfirmButton } from "../../ui/buttons/confirm-button.tsx";
import { Item, Items } from "../../ui/layout/items.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { ListStates, LoadMore } from "../../ui/rows/list-states.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { agentToolsText, boundText, confirmText, keyStateWord, roleWord } from "../../words/keys.ts";
import { CreateKeyDialog } from "./create-key-dialog.tsx";

/** The keys of a project, revoked and expired ones too. A key's text is shown once, when it is made. */
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
            <p>Without a key nobody can use the project.</p>
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
          why={revokedAt === undefined ? undefined : "It is revoked already"}
          title={`Revoke the key ${name}?`}
          says="Every node refuses it within seconds, for good. What ends with it: its seats in the console, the links that it vouches for, and the keys that it made for agents."
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
      {bound !== undefined && <p>Bound to {bound}</p>}
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

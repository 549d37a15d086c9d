import { type Grant, GrantsService } from "@svc/gen/grants";
import { useState } from "react";
import { useApproverWhy } from "../../calls/identity.ts";
import { useRefresh, useWrite } from "../../calls/write.ts";
import { WriteDialog } from "../../frame/write-dialog.tsx";
import { seatFor, useSession } from "../../session/session.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { ConfirmButton } from "../../ui/buttons/confirm-button.tsx";
import { TextField } from "../../ui/fields/field.tsx";
import { TicksField } from "../../ui/fields/options-field.tsx";
import { ConfirmFields } from "../../ui/fields/scope-fields.tsx";
import { Item } from "../../ui/layout/items.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { State } from "../../ui/values/state.tsx";
import { Time } from "../../ui/values/time.tsx";
import { classWord } from "../../words/calls.ts";
import {
  agentName,
  agentToolChoices,
  agentToolsText,
  asStrict,
  confirmText,
  grantStateWord,
  grantText,
} from "../../words/keys.ts";
import { keptOf, narrowing, whyNotNarrowed } from "./narrow.ts";

/**
 * Draws a grant (permissions of an agent): the agent, its permissions, its last use, and the buttons that revoke all permissions or a part
 * of them.
 */
export function GrantItem({ grant, projectId }: { grant: Grant; projectId: string }) {
  const { clientOrigin, keyId, createdAt, usedAt, endedAt } = grant;
  const beside = agentToolsText(grant);
  const confirms = confirmText(grant.confirm);
  return (
    <Item
      title={
        <>
          {agentName(grant)} <State word={grantStateWord(grant)} />
        </>
      }
      actions={grant.active && <GrantButtons grant={grant} projectId={projectId} />}
    >
      <p>May use {grantText(grant)}.</p>
      {beside !== undefined && <p>{beside}</p>}
      {confirms !== undefined && <p>{confirms}</p>}
      <p>
        Connected <Time at={createdAt} /> at {clientOrigin},{" "}
        {usedAt === undefined ? (
          "not used yet"
        ) : (
          <>
            last used <Time at={usedAt} />
          </>
        )}
        {endedAt !== undefined && (
          <>
            , ended <Time at={endedAt} />
          </>
        )}
      </p>
      <p>
        Calls are made as <Copyable text={keyId} what="key id" />
      </p>
    </Item>
  );
}

function GrantButtons({ grant, projectId }: { grant: Grant; projectId: string }) {
  const [isNarrowing, setNarrowing] = useState(false);
  const why = useWhyNotMine(grant, projectId);
  const refresh = useRefresh(GrantsService);
  const revoke = useWrite(GrantsService.method.revokeGrant, {
    onSuccess: () => {
      announce(`${agentName(grant)} is disconnected.`);
      return refresh();
    },
  });
  return (
    <>
      <Button why={why} onPress={() => setNarrowing(true)}>
        Limit
      </Button>
      <ConfirmButton
        words="Revoke"
        why={why}
        title={`Disconnect ${agentName(grant)}?`}
        says="Its tokens stop working within seconds. What the agent has done is not undone. To connect again, it has to ask a person."
        confirm="Disconnect"
        busy="Revoking"
        act={() => revoke.sendAsync({ id: grant.id })}
      />
      {isNarrowing && <NarrowDialog grant={grant} onClose={() => setNarrowing(false)} />}
    </>
  );
}

/**
 * Returns the reason why the user's key may not revoke a grant (permission of an agent). Only the key that gave the grant and an approver's
 * key may revoke it.
 */
function useWhyNotMine({ voucherKeyId }: Grant, projectId: string): string | undefined {
  const session = useSession();
  const why = useApproverWhy(projectId);
  if (why === undefined || seatFor(session, projectId)?.keyId === voucherKeyId) return undefined;
  return "This needs the key that connected the agent, or a key with the role approver.";
}

/**
 * Draws the dialog that removes a part of an agent's permissions. It cannot add permissions: for more, the agent must ask a person again.
 */
function NarrowDialog({ grant, onClose }: { grant: Grant; onClose: () => void }) {
  const [kept, setKept] = useState(() => keptOf(grant));
  const refresh = useRefresh(GrantsService);
  return (
    <WriteDialog
      method={GrantsService.method.updateGrant}
      title={`Limit ${agentName(grant)}`}
      fields={{}}
      isTyped
      request={() => ({ id: grant.id, ...narrowing(grant, kept) })}
      why={() => whyNotNarrowed(grant, kept)}
      act="Save the limits"
      busy="Narrowing"
      onClose={onClose}
      done={() => {
        announce(`${agentName(grant)} is limited.`);
        onClose();
        return refresh();
      }}
    >
      <p>The agent loses these permissions at once. To get them back, it has to ask a person.</p>
      <TicksField
        label="Tools it can still use"
        options={grant.accessClasses.map((value) => ({ value, words: value, says: classWord(value).says }))}
        chosen={kept.accessClasses}
        onChange={(accessClasses) => setKept({ ...kept, accessClasses })}
      />
      {grant.toolkitSlugs.length > 0 ? (
        <TicksField
          label="Apps it can still use"
          options={grant.toolkitSlugs.map((value) => ({ value, words: value }))}
          chosen={kept.toolkitSlugs}
          onChange={(toolkitSlugs) => setKept({ ...kept, toolkitSlugs })}
        />
      ) : (
        <TextField
          label="Apps it can still use"
          autoComplete="off"
          mono
          value={kept.typed}
          onChange={(typed) => setKept({ ...kept, typed })}
          hint="Slugs separated by commas, such as calendar,notes_wiki. Leave empty to keep all."
        />
      )}
      {grant.agentTools.length > 0 && (
        <TicksField
          label="Other abilities it keeps"
          options={agentToolChoices.filter(({ value }) => grant.agentTools.includes(value))}
          chosen={kept.agentTools}
          onChange={(agentTools) => setKept({ ...kept, agentTools })}
        />
      )}
      <ConfirmFields
        {...kept.confirm}
        options={asStrict(grant.confirm?.person ?? "never")}
        onChange={(to) => setKept({ ...kept, confirm: { ...kept.confirm, ...to } })}
      />
    </WriteDialog>
  );
}

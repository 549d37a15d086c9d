import { type Grant, GrantsService } from "@svc/gen/grants";
import { useState } from "react";
import { useRefresh } from "../../calls/refresh.ts";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { ConfirmFields } from "../../ui/fields/confirm-fields.tsx";
import { TextField } from "../../ui/fields/field.tsx";
import { FormFrame } from "../../ui/fields/form-frame.tsx";
import { TicksField } from "../../ui/fields/ticks-field.tsx";
import { announce } from "../../ui/notice/announce.ts";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { agentToolChoices, asStrict } from "../../words/agent-tools.ts";
import { classWord } from "../../words/calls.ts";
import { agentName } from "../../words/grants.ts";
import { keptOf, narrowing, whyNotNarrowed } from "./narrow.ts";

/** Takes away a part of what an agent may do. It is never given more: for that the agent asks a person again. */
export function NarrowDialog({ grant, onClose }: { grant: Grant; onClose: () => void }) {
  const [kept, setKept] = useState(() => keptOf(grant));
  const refresh = useRefresh(GrantsService);
  const update = useWrite(GrantsService.method.updateGrant, {
    onSuccess: () => {
      announce(`The grant of ${agentName(grant)} is narrowed.`);
      onClose();
      return refresh();
    },
  });
  return (
    <Dialog open onClose={onClose} title={`Narrow the grant of ${agentName(grant)}`} hideOnInteractOutside={false}>
      <FormFrame onSubmit={() => update.send({ id: grant.id, ...narrowing(grant, kept) })}>
        <p>What is taken away is gone at once, for good: the agent has to ask a person to get it back.</p>
        <TicksField
          label="Tools it keeps"
          options={grant.accessClasses.map((value) => ({ value, words: value, says: classWord(value).says }))}
          chosen={kept.accessClasses}
          onChange={(accessClasses) => setKept({ ...kept, accessClasses })}
        />
        {grant.toolkitSlugs.length > 0 ? (
          <TicksField
            label="Toolkits it keeps"
            options={grant.toolkitSlugs.map((value) => ({ value, words: value }))}
            chosen={kept.toolkitSlugs}
            onChange={(toolkitSlugs) => setKept({ ...kept, toolkitSlugs })}
          />
        ) : (
          <TextField
            label="Toolkits it keeps"
            autoComplete="off"
            mono
            value={kept.typed}
            onChange={(typed) => setKept({ ...kept, typed })}
            hint="Slugs with commas between, such as calendar,notes_wiki. Empty: all, as now."
          />
        )}
        {grant.agentTools.length > 0 && (
          <TicksField
            label="Beside the tools of apps it keeps"
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
        <FaultNotice error={update.error} />
        <Button
          kind="primary"
          type="submit"
          why={whyNotNarrowed(grant, kept)}
          busy={update.isSending ? "Narrowing" : undefined}
        >
          Narrow the grant
        </Button>
      </FormFrame>
    </Dialog>
  );
}

import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { GrantsService } from "@svc/gen/grants";
import { useState } from "react";
import { useRefresh } from "../../calls/refresh.ts";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { ConfirmFields } from "../../ui/fields/confirm-fields.tsx";
import { TextField } from "../../ui/fields/field.tsx";
import { FormFrame } from "../../ui/fields/form-frame.tsx";
import { bindingOf, noScope, ScopeFields } from "../../ui/fields/scope-fields.tsx";
import { SelectField } from "../../ui/fields/select-field.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { KeyMade } from "../../ui/overlay/key-made.tsx";

const hourMs = 3_600_000;
const lives = [
  { value: "1", words: "in an hour" },
  { value: "8", words: "in 8 hours" },
  { value: "24", words: "in 24 hours" },
];

/** Makes a short-lived key for an agent and shows its text, which nothing shows again. */
export function AgentKeyDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [isTried, setTried] = useState(false);
  const [hours, setHours] = useState("1");
  const [scope, setScope] = useState(noScope);
  const [confirm, setConfirm] = useState({ person: "never", contact: "" });
  const refresh = useRefresh(GrantsService);
  // Not kept in the cache of calls: it goes with the dialog.
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
    <Dialog open onClose={onClose} title="Make a key for an agent" hideOnInteractOutside={false}>
      <FormFrame onSubmit={send}>
        <TextField
          label="Name"
          isRequired
          fault={isTried && name.trim() === "" ? "Say what it is for." : undefined}
          autoComplete="off"
          value={name}
          onChange={setName}
          hint="What it is for, 1 to 100 characters."
        />
        <SelectField label="It expires" value={hours} options={lives} onChange={setHours} />
        <ScopeFields
          scope={scope}
          onChange={setScope}
          entityHint="Your own id of the one user that the agent works for. Name it, or toolkits."
          toolkitsHint="Slugs with commas between, such as calendar,notes_wiki. Empty: those that your key may use."
        />
        <ConfirmFields {...confirm} onChange={(to) => setConfirm({ ...confirm, ...to })} />
        <FaultNotice error={create.error} />
        <Line>
          <Button kind="primary" type="submit" busy={create.isSending ? "Making" : undefined}>
            Make the key
          </Button>
          <Button onPress={onClose}>Cancel</Button>
        </Line>
      </FormFrame>
    </Dialog>
  );
}

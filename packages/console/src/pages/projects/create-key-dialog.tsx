import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { AdminService } from "@svc/gen/admin";
import { Role } from "@svc/gen/options";
import { useState } from "react";
import { useRefresh, useWrite } from "../../calls/write.ts";
import { useNow } from "../../clock.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { TextField } from "../../ui/fields/field.tsx";
import { FormFrame } from "../../ui/fields/form-frame.tsx";
import { OptionsField, TicksField } from "../../ui/fields/options-field.tsx";
import { bindingOf, ConfirmFields, noScope, ScopeFields } from "../../ui/fields/scope-fields.tsx";
import { SelectField } from "../../ui/fields/select-field.tsx";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { KeyMade } from "../../ui/overlay/key-made.tsx";
import { agentToolChoices } from "../../words/keys.ts";

const roles = [
  { value: "member", words: "Member", says: "Uses the project: reads, calls, submits jobs, answers." },
  { value: "approver", words: "Approver", says: "Approves plans, and changes what the project is held to, too." },
];

const dayMs = 24 * 60 * 60 * 1_000;
const lives = [
  { value: "", words: "never" },
  { value: "30", words: "in 30 days" },
  { value: "90", words: "in 90 days" },
  { value: "365", words: "in a year" },
];

/** Creates a key and shows its text, which nothing shows again. */
export function CreateKeyDialog({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const [name, setName] = useState("");
  const [isTried, setTried] = useState(false);
  const [role, setRole] = useState("member");
  const [days, setDays] = useState("");
  const now = useNow(60_000);
  const [scope, setScope] = useState(noScope);
  const [agentTools, setAgentTools] = useState<string[]>([]);
  const [confirm, setConfirm] = useState({ person: "never", contact: "" });
  const refresh = useRefresh(AdminService);
  // Not kept in the cache of calls: it goes with the dialog.
  const create = useWrite(AdminService.method.createApiKey, { isSecret: true, onSuccess: () => void refresh() });
  if (create.answer !== undefined) return <KeyMade text={create.answer.key} onClose={onClose} />;
  const send = () => {
    setTried(true);
    if (name.trim() === "") return;
    create.send({
      ...{ projectId, name, role: role === "approver" ? Role.APPROVER : Role.MEMBER },
      ...bindingOf(scope),
      ...{ agentTools, ...(confirm.person !== "never" && { confirm }) },
      ...(days !== "" && { expiresAt: timestampFromMs(now + Number(days) * dayMs) }),
    });
  };
  return (
    <Dialog open onClose={onClose} title="Create a key" hideOnInteractOutside={false}>
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
        <OptionsField label="Role" value={role} options={roles} onChange={setRole} />
        <SelectField label="It expires" value={days} options={lives} onChange={setDays} />
        <Disclosure summary="Narrow it: one user, some tools, what an agent may do with it">
          <Stack>
            <ScopeFields
              scope={scope}
              onChange={setScope}
              entityHint="Your own id of the one user whose accounts and rows it reaches. Empty: it reaches the whole project."
              toolkitsHint="Slugs with commas between, such as calendar,notes_wiki. Empty: of all."
            />
            <TicksField
              label="Beside the tools of apps its agent may use"
              options={agentToolChoices}
              chosen={agentTools}
              onChange={setAgentTools}
            />
            <ConfirmFields {...confirm} onChange={(to) => setConfirm({ ...confirm, ...to })} />
          </Stack>
        </Disclosure>
        <FaultNotice error={create.error} />
        <Line>
          <Button kind="primary" type="submit" busy={create.isSending ? "Creating" : undefined}>
            Create the key
          </Button>
          <Button onPress={onClose}>Cancel</Button>
        </Line>
      </FormFrame>
    </Dialog>
  );
}

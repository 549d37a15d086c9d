import { AdminService, type Project } from "@svc/gen/admin";
import { useState } from "react";
import { useRefresh, useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { AreaField, TextField } from "../../ui/fields/field.tsx";
import { FormFrame } from "../../ui/fields/form-frame.tsx";
import { OptionsField } from "../../ui/fields/options-field.tsx";
import { ConfirmFields } from "../../ui/fields/scope-fields.tsx";
import { Columns } from "../../ui/layout/page.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { planApprovals, policyRequest, quotaNames, quotaWords, type TypedPolicy, typedPolicy } from "./policy.ts";

/** Draws the form of a project's permissions and limits. All values are sent together. */
export function PolicyForm({ project: { id, policy } }: { project: Project }) {
  const [typed, setTyped] = useState(() => typedPolicy(policy));
  const [fault, setFault] = useState<Error>();
  const refresh = useRefresh(AdminService);
  const set = useWrite(AdminService.method.setProjectPolicy, {
    onSuccess: () => {
      announce("The policy is saved.");
      return refresh();
    },
  });
  const send = () => {
    try {
      setFault(undefined);
      set.send(policyRequest(id, typed));
    } catch (error) {
      setFault(error as Error);
    }
  };
  const change = (to: Partial<TypedPolicy>) => setTyped({ ...typed, ...to });
  return (
    <FormFrame onSubmit={send}>
      <Columns>
        <Allowed typed={typed} onChange={change} />
        <Quotas typed={typed} onChange={change} />
      </Columns>
      {fault !== undefined && <p role="alert">{fault.message}</p>}
      <FaultNotice error={set.error} />
      <div>
        <Button kind="primary" type="submit" busy={set.isSending ? "Setting" : undefined}>
          Save the policy
        </Button>
      </div>
    </FormFrame>
  );
}

type Part = { typed: TypedPolicy; onChange: (to: Partial<TypedPolicy>) => void };

function Allowed({ typed, onChange }: Part) {
  return (
    <Section title="Permissions">
      <Stack>
        <OptionsField
          label="Approve programs"
          value={typed.planApproval}
          options={planApprovals}
          onChange={(planApproval) => onChange({ planApproval })}
        />
        <ConfirmFields
          person={typed.confirmPerson}
          contact={typed.confirmContact}
          onChange={({ person = typed.confirmPerson, contact = typed.confirmContact }) =>
            onChange({ confirmPerson: person, confirmContact: contact })
          }
        />
        <AreaField
          label="Redirect URLs"
          mono
          value={typed.redirectUrls}
          onChange={(redirectUrls) => onChange({ redirectUrls })}
          hint="Addresses to which svc may send people after they connected an account. One https URL per line. Addresses on the own machine are always allowed."
        />
        <AreaField
          label="Hosts of http steps"
          mono
          value={typed.hosts}
          onChange={(hosts) => onChange({ hosts })}
          hint="Hosts to which programs may send requests, such as api.example.com or api.example.com:8443. One per line. Leave it empty to allow none."
        />
      </Stack>
    </Section>
  );
}

function Quotas({ typed, onChange }: Part) {
  return (
    <Section title="Quotas">
      <p>Leave a field empty for the default, or enter -1 for no limit. The tab Usage shows how much is used.</p>
      <Stack>
        {quotaNames.map((name) => (
          <TextField
            key={name}
            label={quotaWords[name]}
            inputMode="numeric"
            placeholder="default"
            autoComplete="off"
            value={typed.quotas[name]}
            onChange={(text) => onChange({ quotas: { ...typed.quotas, [name]: text } })}
          />
        ))}
      </Stack>
    </Section>
  );
}

import { useQuery } from "@connectrpc/connect-query";
import { CatalogService } from "@svc/gen/catalog";
import { ConnectionsService } from "@svc/gen/connections";
import { useState } from "react";
import { useApproverWhy } from "../../calls/identity.ts";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { TextField } from "../../ui/fields/field.tsx";
import { FormFrame } from "../../ui/fields/form-frame.tsx";
import { SelectField } from "../../ui/fields/select-field.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { useToolkits } from "../tools/catalog.ts";
import type { AccountsSearch } from "./filters.ts";
import { VariableFields } from "./variable-fields.tsx";

const scheme = "client_credentials";

/**
 * Draws the dialog that sets the project's own credential for a toolkit (one app's tools and webhooks). A new credential replaces the
 * earlier one.
 */
export function CredentialDialog({
  projectId,
  search,
  onChange,
  onClose,
}: {
  projectId: string;
  search: AccountsSearch;
  onChange: (to: AccountsSearch) => void;
  onClose: () => void;
}) {
  const toolkits = useToolkits(projectId).filter(({ authSchemes }) => authSchemes.includes(scheme));
  const slug = search.connect ?? "";
  return (
    <Dialog open onClose={onClose} title="Credential of the project" hideOnInteractOutside={false}>
      <p>Some apps are called for the whole project, with a client id and a secret, and not for a user.</p>
      {toolkits.length === 0 ? (
        <p>No app here needs that.</p>
      ) : (
        <SelectField
          label="App"
          value={slug}
          isRequired
          options={[{ value: "", words: "choose" }, ...toolkits.map((kit) => ({ value: kit.slug, words: kit.name }))]}
          onChange={(connect) => onChange({ connect: connect || undefined })}
        />
      )}
      {toolkits.some((kit) => kit.slug === slug) && (
        <CredentialForm key={slug} projectId={projectId} toolkitSlug={slug} onClose={onClose} />
      )}
    </Dialog>
  );
}

function CredentialForm({
  projectId,
  toolkitSlug,
  onClose,
}: {
  projectId: string;
  toolkitSlug: string;
  onClose: () => void;
}) {
  const [input, setInput] = useState({ clientId: "", clientSecret: "" });
  const [accountVariables, setVariables] = useState<Readonly<Record<string, string>>>({});
  const { data } = useQuery(CatalogService.method.getToolkitConnectSpec, { slug: toolkitSlug, projectId });
  const set = useWrite(ConnectionsService.method.setProjectCredential, {
    onSuccess: () => {
      announce(`The project's credential for ${toolkitSlug} is saved.`);
      onClose();
    },
  });
  return (
    <FormFrame onSubmit={() => set.send({ toolkitSlug, ...input, accountVariables })}>
      <TextField
        label="Client id"
        value={input.clientId}
        onChange={(clientId) => setInput({ ...input, clientId })}
        isRequired
        autoComplete="off"
      />
      <TextField
        label="Client secret"
        type="password"
        value={input.clientSecret}
        onChange={(clientSecret) => setInput({ ...input, clientSecret })}
        hint="svc encrypts it, and never shows it again."
        isRequired
        autoComplete="off"
      />
      <VariableFields
        variables={data?.spec?.accountVariables ?? []}
        values={accountVariables}
        onChange={setVariables}
      />
      <FaultNotice error={set.error} />
      <div>
        <Button
          kind="primary"
          type="submit"
          why={useApproverWhy(projectId)}
          busy={set.isSending ? "Setting" : undefined}
        >
          Save the credential
        </Button>
      </div>
    </FormFrame>
  );
}

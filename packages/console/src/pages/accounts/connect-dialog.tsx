import { useQuery } from "@connectrpc/connect-query";
import type { ConnectedAccount } from "@svc/gen/connections";
import { ConnectionsService, type InitiateConnectionResponse } from "@svc/gen/connections";
import { useState } from "react";
import { Button } from "../../ui/buttons/button.tsx";
import { SelectField } from "../../ui/fields/select-field.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { useToolkits } from "../tools/catalog.ts";
import { ConnectForm } from "./connect-form.tsx";
import { Connecting } from "./connecting.tsx";
import type { AccountsSearch } from "./filters.ts";

/** Connects an account, of a toolkit that is chosen first; or one anew, of which the old account says how. */
export function ConnectDialog({
  projectId,
  search,
  onChange,
  onClose,
  onOpen,
}: {
  projectId: string;
  search: AccountsSearch;
  onChange: (to: AccountsSearch) => void;
  onClose: () => void;
  onOpen: (accountId: string) => void;
}) {
  const [begun, setBegun] = useState<InitiateConnectionResponse>();
  const { like = "" } = search;
  const old = useQuery(ConnectionsService.method.getConnection, { id: like }, { enabled: like !== "" });
  const before = old.data?.account;
  const toolkitSlug = before?.toolkitSlug ?? search.connect ?? "";
  const title = like === "" ? "Connect an account" : "Connect an account anew";
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      hideOnInteractOutside={false}
      actions={begun === undefined && <Button onPress={onClose}>Close</Button>}
    >
      <Stack>
        <FaultNotice error={old.error} />
        {like !== "" && old.isPending && <Skeleton rows={2} />}
        {begun?.account !== undefined ? (
          <Connecting
            account={begun.account}
            authorizeUrl={begun.authorizeUrl}
            onClose={onClose}
            onOpen={() => onOpen(begun.account?.id ?? "")}
          />
        ) : (
          <>
            {like === "" && (
              <ToolkitField projectId={projectId} value={toolkitSlug} onChange={(connect) => onChange({ connect })} />
            )}
            {toolkitSlug !== "" && (
              <ConnectForm
                key={`${toolkitSlug} ${like}`}
                projectId={projectId}
                toolkitSlug={toolkitSlug}
                initial={initialOf(before, search)}
                onBegun={setBegun}
              />
            )}
          </>
        )}
      </Stack>
    </Dialog>
  );
}

function initialOf(before: ConnectedAccount | undefined, search: AccountsSearch) {
  return {
    entityId: before?.entityId ?? search.for ?? "",
    scheme: before?.scheme ?? "",
    accountVariables: before?.accountVariables ?? {},
  };
}

function ToolkitField({
  projectId,
  value,
  onChange,
}: {
  projectId: string;
  value: string;
  onChange: (slug: string | undefined) => void;
}) {
  const toolkits = useToolkits(projectId);
  const connectable = toolkits.filter((toolkit) => toolkit.connectable || toolkit.slug === value);
  return (
    <SelectField
      label="Toolkit"
      value={value}
      isRequired
      options={[
        { value: "", words: "choose one" },
        ...connectable.map(({ slug, name }) => ({ value: slug, words: `${name} (${slug})` })),
      ]}
      onChange={(slug) => onChange(slug || undefined)}
    />
  );
}

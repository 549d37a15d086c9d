import type { MessageInitShape } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { CatalogService, type ToolkitAuthSchemeSpec, type ToolkitConnectSpec } from "@svc/gen/catalog";
import {
  ConnectionsService,
  type CreateConnectLinkResponse,
  type InitiateConnectionRequestSchema,
  type InitiateConnectionResponse,
} from "@svc/gen/connections";
import { useState } from "react";
import { useApproverWhy } from "../../calls/identity.ts";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { TextField } from "../../ui/fields/field.tsx";
import { FormFrame } from "../../ui/fields/form-frame.tsx";
import { SelectField } from "../../ui/fields/select-field.tsx";
import { Line } from "../../ui/layout/stack.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { CodeBlock } from "../../ui/values/copy.tsx";
import { Time } from "../../ui/values/time.tsx";
import { schemeWords } from "../../words/accounts.ts";
import { scopeWords } from "../../words/text.ts";
import { useIsPlayed } from "../tools/catalog.ts";
import { VariableFields } from "./variable-fields.tsx";

/** Input of the form that connects an account. */
type ConnectInput = {
  readonly entityId: string;
  /** The authentication scheme. Empty means the first scheme that the app's toolkit declares. */
  readonly scheme: string;
  readonly accountVariables: Readonly<Record<string, string>>;
  readonly apiKey: string;
  readonly username: string;
  readonly password: string;
};

type Initial = Pick<ConnectInput, "entityId" | "scheme" | "accountVariables">;

/** Draws the fields that are needed to connect an account. They come from the definition of the app's toolkit. */
export function ConnectForm({
  projectId,
  toolkitSlug,
  initial,
  onBegun,
}: {
  projectId: string;
  toolkitSlug: string;
  initial: Initial;
  onBegun: (begun: InitiateConnectionResponse) => void;
}) {
  const found = useQuery(CatalogService.method.getToolkitConnectSpec, { slug: toolkitSlug, projectId });
  const spec = found.data?.spec;
  if (found.error !== null) return <FaultNotice error={found.error} onRetry={() => void found.refetch()} />;
  if (spec === undefined) return <Skeleton rows={3} />;
  if (spec.authSchemes.length === 0) {
    return (
      <Notice
        tone="info"
        title="This app has one credential for the whole project, so users do not connect accounts."
      />
    );
  }
  return <SpecForm projectId={projectId} spec={spec} initial={initial} onBegun={onBegun} />;
}

function SpecForm({
  projectId,
  spec,
  initial,
  onBegun,
}: {
  projectId: string;
  spec: ToolkitConnectSpec;
  initial: Initial;
  onBegun: (begun: InitiateConnectionResponse) => void;
}) {
  const [input, setInput] = useState<ConnectInput>({ ...initial, apiKey: "", username: "", password: "" });
  const change = (to: Partial<ConnectInput>) => setInput((old) => ({ ...old, ...to }));
  const connect = useWrite(ConnectionsService.method.initiateConnection, { onSuccess: onBegun });
  const [link, setLink] = useState<CreateConnectLinkResponse>();
  const linking = useWrite(ConnectionsService.method.createConnectLink, { onSuccess: setLink });
  const approverWhy = useApproverWhy(projectId);
  const decides = spec.accountVariables.some(({ decidesOrigin }) => decidesOrigin);
  const scheme = schemeOf(input, spec);
  const why =
    decides && approverWhy !== undefined
      ? `A value here decides the server that svc connects to. ${approverWhy}`
      : undefined;
  const { toolkitSlug } = spec;
  const isSandbox = useIsPlayed(projectId, toolkitSlug);
  if (link !== undefined) return <LinkMade link={link} />;
  return (
    <FormFrame onSubmit={() => connect.send(connectRequest(input, spec))}>
      <TextField
        label="User"
        value={input.entityId}
        onChange={(entityId) => change({ entityId })}
        hint="Your own id of the user or customer who owns the account, such as ada."
        isRequired
        autoComplete="off"
      />
      {spec.authSchemes.length > 1 && (
        <SelectField
          label="By"
          value={scheme}
          options={spec.authSchemes.map(({ type }) => ({ value: type, words: schemeWords(type) }))}
          onChange={(value) => change({ scheme: value })}
        />
      )}
      <VariableFields
        variables={spec.accountVariables}
        values={input.accountVariables}
        onChange={(accountVariables) => change({ accountVariables })}
      />
      <CredentialFields
        isSandbox={isSandbox}
        scheme={scheme}
        spec={spec.authSchemes.find(({ type }) => type === scheme)}
        input={input}
        onChange={change}
      />
      <FaultNotice error={connect.error ?? linking.error} />
      <Line>
        <Button kind="primary" icon="plug" type="submit" why={why} busy={connect.isSending ? "Connecting" : undefined}>
          {scheme === "oauth2" ? "Continue" : "Connect"}
        </Button>
        <Button
          why={why}
          onPress={() => linking.send({ toolkitSlug, entityId: input.entityId, scheme })}
          busy={linking.isSending ? "Creating" : undefined}
        >
          Create a link for the owner
        </Button>
      </Line>
    </FormFrame>
  );
}

/** Draws a link to send to a person who has no key. The person connects an account with the link. The link is shown once. */
function LinkMade({ link: { url, expiresAt } }: { link: CreateConnectLinkResponse }) {
  return (
    <>
      <Notice tone="ok" title="Send this link to the account's owner">
        The owner's entries are stored encrypted, and you do not see them. The link works once, until{" "}
        <Time at={expiresAt} />. It is not shown again.
      </Notice>
      <CodeBlock text={url} what="link" />
    </>
  );
}

/** Draws the fields of the credential of a scheme. svc stores the credential in the vault and never shows it again. */
function CredentialFields({
  isSandbox,
  scheme,
  spec,
  input,
  onChange,
}: {
  isSandbox: boolean;
  scheme: string;
  spec: ToolkitAuthSchemeSpec | undefined;
  input: ConnectInput;
  onChange: (to: Partial<ConnectInput>) => void;
}) {
  const secret = { type: "password", autoComplete: "off", isRequired: true } as const;
  if (scheme === "api_key") {
    return (
      <TextField
        {...secret}
        label="API key"
        value={input.apiKey}
        onChange={(apiKey) => onChange({ apiKey })}
        hint={`svc encrypts the key, and never shows it again.${isSandbox ? " The sandbox accepts any key." : ""}`}
      />
    );
  }
  if (scheme === "basic") {
    return (
      <>
        <TextField
          label="User name"
          value={input.username}
          onChange={(username) => onChange({ username })}
          isRequired
          autoComplete="off"
        />
        <TextField
          {...secret}
          label="Password"
          value={input.password}
          onChange={(password) => onChange({ password })}
        />
      </>
    );
  }
  if (scheme !== "oauth2") return <p>No credential is needed.</p>;
  return (
    <p>
      The app asks for consent
      {(spec?.defaultScopes.length ?? 0) > 0 && <>, for {spec?.defaultScopes.map(scopeWords).join(", ")}</>}.
    </p>
  );
}

/** Returns the request that connects the account. It contains only the credentials that belong to the chosen authentication scheme. */
function connectRequest(
  input: ConnectInput,
  spec: ToolkitConnectSpec,
): MessageInitShape<typeof InitiateConnectionRequestSchema> {
  const scheme = schemeOf(input, spec);
  const { entityId, accountVariables, apiKey, username, password } = input;
  const named = spec.accountVariables.map(({ name }) => [name, accountVariables[name] ?? ""] as const);
  return {
    toolkitSlug: spec.toolkitSlug,
    entityId,
    scheme,
    accountVariables: Object.fromEntries(named.filter(([, value]) => value !== "")),
    ...(scheme === "api_key" && { apiKey }),
    ...(scheme === "basic" && { basic: { username, password } }),
  };
}

/**
 * Returns the authentication scheme (for example `oauth2` or `api_key`) with which the form connects the account. This is the chosen scheme
 * if the app's toolkit has it, otherwise the first scheme.
 */
function schemeOf({ scheme }: Pick<ConnectInput, "scheme">, { authSchemes }: ToolkitConnectSpec): string {
  return authSchemes.some(({ type }) => type === scheme) ? scheme : (authSchemes[0]?.type ?? "");
}

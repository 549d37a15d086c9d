import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AccountVariableSpec, ToolkitConnectSpec } from "@svc/gen/catalog";
import type { InitiateConnectionRequestSchema } from "@svc/gen/connections";
import { TextField } from "../../ui/fields/field.tsx";

/** What the connecting person fills in besides a credential, such as the name of their workspace. */
export function VariableFields({
  variables,
  values,
  onChange,
}: {
  variables: readonly AccountVariableSpec[];
  values: Readonly<Record<string, string>>;
  onChange: (values: Readonly<Record<string, string>>) => void;
}) {
  return variables.map(({ name, description, example, decidesOrigin }) => (
    <TextField
      key={name}
      label={name}
      value={values[name] ?? ""}
      onChange={(value) => onChange({ ...values, [name]: value })}
      hint={decidesOrigin ? `${description} It decides which address is dialled.` : description}
      placeholder={example}
      isRequired
      autoComplete="off"
    />
  ));
}

/** What is filled in to connect an account. */
export type ConnectInput = {
  readonly entityId: string;
  /** Empty for the first that the toolkit declares. */
  readonly scheme: string;
  readonly accountVariables: Readonly<Record<string, string>>;
  readonly apiKey: string;
  readonly username: string;
  readonly password: string;
};

/** The scheme that counts: the one that was chosen, where the toolkit has it, else its first. */
export function schemeOf({ scheme }: Pick<ConnectInput, "scheme">, { authSchemes }: ToolkitConnectSpec): string {
  return authSchemes.some(({ type }) => type === scheme) ? scheme : (authSchemes[0]?.type ?? "");
}

/** What is asked of the service: of the credentials, that of the scheme alone. */
export function connectRequest(
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

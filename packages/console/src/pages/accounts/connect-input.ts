import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ToolkitConnectSpec } from "@svc/gen/catalog";
import type { InitiateConnectionRequestSchema } from "@svc/gen/connections";

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

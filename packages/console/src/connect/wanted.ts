/**
 * The account to connect and the fields to fill in, as `/console/connect` returns them. `spec` is a ToolkitConnectSpec of the API as JSON,
 * with only one authentication scheme.
 */
export type WantedAccount = {
  toolkitName: string;
  spec: {
    accountVariables: readonly { name: string; description: string; example: string }[];
    authSchemes: readonly { type: string; defaultScopes: readonly string[] }[];
  };
  expiresAt: string;
};

/** The values of the form in which a person enters the data of an account, by field name. */
export type Filled = Readonly<Record<string, string>>;

/** One field of the form in which a person enters the data of an account. `at`: name of the field in error responses of the service. */
export type WantedField = { at: string; label: string; hint: string; example: string; isSecret: boolean };

/** Returns the fields of the form in which a person enters the data of an account: first the account variables, then the secrets. */
export function fieldsOf({ spec }: WantedAccount): WantedField[] {
  const ofAccount = spec.accountVariables.map(({ name, description, example }) => ({
    at: `accountVariables.${name}`,
    label: name,
    hint: description,
    example,
    isSecret: false,
  }));
  return [...ofAccount, ...(secrets[schemeOf({ spec })] ?? [])];
}

const secret = { hint: "", example: "", isSecret: true };
const secrets: Readonly<Record<string, readonly WantedField[]>> = {
  api_key: [{ ...secret, at: "apiKey", label: "API key", hint: "It is in the settings of your account there." }],
  basic: [
    { ...secret, at: "basic.username", label: "User name", isSecret: false },
    { ...secret, at: "basic.password", label: "Password" },
  ],
};

/**
 * Returns the only authentication scheme that a connect link (link where a customer connects an account) offers: `oauth2`, `api_key`,
 * `basic` or `none`.
 */
export function schemeOf({ spec }: Pick<WantedAccount, "spec">): string {
  return spec.authSchemes[0]?.type ?? "none";
}

/**
 * Returns the request that connects the account, filled with the values of the form. Fields that do not belong to the chosen authentication
 * scheme (for example an API key for `basic`) are left out.
 */
export function connectOf(wanted: WantedAccount, filled: Filled): object {
  const prefix = "accountVariables.";
  const ofAccount = fieldsOf(wanted).filter(({ at }) => at.startsWith(prefix));
  const accountVariables = Object.fromEntries(
    ofAccount.map(({ at }) => [at.slice(prefix.length), (filled[at] ?? "").trim()]),
  );
  const scheme = schemeOf(wanted);
  return {
    accountVariables,
    ...(scheme === "api_key" && { apiKey: filled["apiKey"] ?? "" }),
    ...(scheme === "basic" && {
      basic: { username: filled["basic.username"] ?? "", password: filled["basic.password"] ?? "" },
    }),
  };
}

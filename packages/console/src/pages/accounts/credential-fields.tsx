import type { ToolkitAuthSchemeSpec } from "@svc/gen/catalog";
import { useDeployment } from "../../calls/identity.ts";
import { TextField } from "../../ui/fields/field.tsx";
import { scopeWords } from "../../words/scope.ts";
import type { ConnectInput } from "./connect-input.ts";

/** The credential of a scheme. It goes to the vault and is never shown again. */
export function CredentialFields({
  scheme,
  spec,
  input,
  onChange,
}: {
  scheme: string;
  spec: ToolkitAuthSchemeSpec | undefined;
  input: ConnectInput;
  onChange: (to: Partial<ConnectInput>) => void;
}) {
  const { isSandbox } = useDeployment();
  const secret = { type: "password", autoComplete: "off", isRequired: true } as const;
  if (scheme === "api_key") {
    return (
      <TextField
        {...secret}
        label="API key"
        value={input.apiKey}
        onChange={(apiKey) => onChange({ apiKey })}
        hint={`Sealed at once, and never shown again.${isSandbox ? " The sandbox takes any." : ""}`}
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
      The app asks whether it may be used
      {(spec?.defaultScopes.length ?? 0) > 0 && <>, for {spec?.defaultScopes.map(scopeWords).join(", ")}</>}.
    </p>
  );
}

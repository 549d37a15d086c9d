import type { AccountVariableSpec } from "@svc/gen/catalog";
import { TextField } from "../../ui/fields/field.tsx";

/** Fields that a person fills in to connect an account, in addition to the credential (for example the name of the person's workspace). */
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
      hint={decidesOrigin ? `${description} It decides the server that svc connects to.` : description}
      placeholder={example}
      isRequired
      autoComplete="off"
    />
  ));
}

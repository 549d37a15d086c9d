import type { AccountVariableSpec } from "@svc/gen/catalog";
import { TextField } from "../../ui/fields/field.tsx";

/** Fields that the connecting person fills in besides a credential, such as the name of their workspace. */
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

import { Choice } from "../../ui/fields/choice.tsx";
import { AreaField, TextField } from "../../ui/fields/field.tsx";
import { Stack } from "../../ui/layout/stack.tsx";
import type { OverrideField } from "./overrides.ts";

/** The form for what a `retry-with` answer changes. */
export function OverridesForm({
  fields,
  typed,
  faults,
  onChange,
}: {
  fields: readonly OverrideField[];
  typed: Readonly<Record<string, string>>;
  /** Shown at their fields; empty until an answer was tried. */
  faults: Readonly<Record<string, string>>;
  onChange: (typed: Record<string, string>) => void;
}) {
  return (
    <Stack>
      {fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          value={typed[field.name] ?? ""}
          fault={faults[field.name]}
          onChange={(value) => onChange({ ...typed, [field.name]: value })}
        />
      ))}
    </Stack>
  );
}

function Field({
  field: { name, kind, says, isRequired, choices },
  value,
  fault,
  onChange,
}: {
  field: OverrideField;
  value: string;
  fault: string | undefined;
  onChange: (value: string) => void;
}) {
  const hint = [says, isRequired ? "" : "Left empty it stays as it is."].filter(Boolean).join(" ");
  if (kind === "choice" || kind === "boolean") {
    const values = kind === "boolean" ? ["true", "false"] : choices;
    const options = [{ value: "", words: "as it is" }, ...values.map((one) => ({ value: one, words: one }))];
    return <Choice label={name} value={value} options={options} onChange={onChange} />;
  }
  if (kind === "json")
    return <AreaField label={name} mono value={value} onChange={onChange} hint={hint || "JSON"} fault={fault} />;
  return (
    <TextField
      label={name}
      value={value}
      onChange={onChange}
      hint={hint}
      fault={fault}
      {...(kind === "number" && { inputMode: "decimal" as const })}
    />
  );
}

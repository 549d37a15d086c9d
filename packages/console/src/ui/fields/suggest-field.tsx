import { type ReactNode, useId } from "react";
import { TextField } from "./field.tsx";

/** A labelled line of text for which values are suggested; others may be typed. */
export function SuggestField({
  label,
  value,
  suggestions,
  onChange,
  hint,
  fault,
  isRequired = false,
}: {
  label: string;
  value: string;
  suggestions: readonly string[];
  onChange: (value: string) => void;
  hint?: ReactNode;
  fault?: string | undefined;
  isRequired?: boolean;
}) {
  const listId = useId();
  return (
    <>
      <TextField
        label={label}
        value={value}
        onChange={onChange}
        hint={hint}
        fault={fault}
        list={listId}
        autoComplete="off"
        isRequired={isRequired}
      />
      <datalist id={listId}>
        {suggestions.map((suggestion) => (
          <option key={suggestion} value={suggestion} />
        ))}
      </datalist>
    </>
  );
}

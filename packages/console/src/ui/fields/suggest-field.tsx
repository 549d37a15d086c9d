import { type ReactNode, useEffect, useId, useState } from "react";
import { classNames } from "../class-names.ts";
import styles from "./field.module.css";
import { inputClass, TextField } from "./field.tsx";

/** A labelled input for one line of text, with suggested values. The user may also type other values. */
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

const settledMs = 250;

/**
 * A filter with typed text. The filter applies 250 ms after the last key press, or at Enter. `label`: its name. `placeholder`: an example.
 * `suggestions`: the values that it suggests.
 */
export function TypedFilter({
  label,
  value,
  placeholder,
  suggestions,
  short = false,
  onChange,
}: {
  label: string;
  value: string;
  placeholder?: string;
  suggestions?: readonly string[];
  /** True if the values are short (for example the name of a customer), so that the field is narrow. */
  short?: boolean;
  onChange: (value: string) => void;
}) {
  const listId = useId();
  const [typed, setTyped] = useState(value);
  const [from, setFrom] = useState(value);
  // The value was changed from outside (for example by "Clear filters"), so the field shows this value instead of the typed text.
  if (from !== value) {
    setFrom(value);
    if (typed.trim() !== value) setTyped(value);
  }
  useEffect(() => {
    if (typed.trim() === value) return undefined;
    const timer = setTimeout(() => onChange(typed.trim()), settledMs);
    return () => clearTimeout(timer);
  });
  return (
    <>
      <input
        type="search"
        className={classNames(inputClass, styles["search"], short && styles["short"])}
        aria-label={label}
        placeholder={placeholder ?? label}
        list={suggestions === undefined ? undefined : listId}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => event.key === "Enter" && onChange(typed.trim())}
      />
      {suggestions !== undefined && (
        <datalist id={listId}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
    </>
  );
}

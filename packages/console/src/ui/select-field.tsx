import { type ReactNode, useId } from "react";
import { classNames } from "./class-names.ts";
import styles from "./field.module.css";
import { FieldNotes, inputClass } from "./field.tsx";

/** A labelled value of a closed set, in a form. Filters are a `Choice`. */
export function SelectField({
  label,
  value,
  options,
  onChange,
  hint,
  fault,
  isRequired = false,
}: {
  label: string;
  value: string;
  options: readonly { value: string; words: string }[];
  onChange: (value: string) => void;
  hint?: ReactNode;
  fault?: string | undefined;
  isRequired?: boolean;
}) {
  const id = useId();
  return (
    <div className={styles["field"]}>
      <label className={styles["label"]} htmlFor={id}>
        {label}
      </label>
      <select
        id={id}
        className={classNames(inputClass, styles["select"])}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        aria-describedby={`${id}-hint ${id}-fault`}
        aria-invalid={fault !== undefined}
        aria-required={isRequired}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.words}
          </option>
        ))}
      </select>
      <FieldNotes id={id} hint={hint} fault={fault} />
    </div>
  );
}

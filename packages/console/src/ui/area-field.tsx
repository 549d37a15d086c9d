import { type ReactNode, useId } from "react";
import { classNames } from "./class-names.ts";
import styles from "./field.module.css";
import { FieldNotes, inputClass } from "./field.tsx";

/** A labelled text of several lines; `tall` where it is all that is written. */
export function AreaField({
  label,
  value,
  onChange,
  hint,
  fault,
  placeholder,
  mono = false,
  tall = false,
  isRequired = false,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint?: ReactNode;
  fault?: string | undefined;
  placeholder?: string;
  mono?: boolean;
  tall?: boolean;
  isRequired?: boolean;
}) {
  const id = useId();
  return (
    <div className={styles["field"]}>
      <label className={styles["label"]} htmlFor={id}>
        {label}
      </label>
      <textarea
        id={id}
        className={classNames(inputClass, styles["area"], mono && styles["mono"], tall && styles["tall"])}
        rows={Math.min(16, value.split("\n").length + 1)}
        value={value}
        placeholder={placeholder}
        onChange={(event) => onChange(event.target.value)}
        aria-describedby={`${id}-hint ${id}-fault`}
        aria-invalid={fault !== undefined}
        aria-required={isRequired}
        spellCheck={false}
      />
      <FieldNotes id={id} hint={hint} fault={fault} />
    </div>
  );
}

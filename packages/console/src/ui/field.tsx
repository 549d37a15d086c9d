import { type InputHTMLAttributes, type ReactNode, useId } from "react";
import { classNames } from "./class-names.ts";
import styles from "./field.module.css";
import { Icon } from "./icon.tsx";

/** The class of an input, for those that are not made here. */
export const inputClass: string = styles["input"] ?? "";

type Native = Pick<
  InputHTMLAttributes<HTMLInputElement>,
  "type" | "required" | "placeholder" | "autoComplete" | "inputMode" | "min" | "max" | "readOnly" | "list"
>;

/** A labelled line of text. `hint` says what is wanted, `fault` what is wrong with what is there. */
export function TextField({
  label,
  value,
  onChange,
  hint,
  fault,
  mono = false,
  isRequired = false,
  ...native
}: Native & {
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint?: ReactNode;
  fault?: string | undefined;
  mono?: boolean;
  /** Marks it as one that must be filled in; whether it is, is judged by the service. */
  isRequired?: boolean;
}) {
  const id = useId();
  return (
    <div className={styles["field"]}>
      <label className={styles["label"]} htmlFor={id}>
        {label}
      </label>
      <input
        {...native}
        id={id}
        className={classNames(styles["input"], mono && styles["mono"])}
        value={value}
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

/** Hint and fault below a field of this id, which names them as `<id>-hint` and `<id>-fault`. */
export function FieldNotes({ id, hint, fault }: { id: string; hint?: ReactNode; fault?: string | undefined }) {
  return (
    <>
      {hint !== undefined && (
        <div id={`${id}-hint`} className={styles["hint"]}>
          {hint}
        </div>
      )}
      {fault !== undefined && (
        <div id={`${id}-fault`} className={styles["fault"]}>
          <Icon name="cross" size={12} />
          {fault}
        </div>
      )}
    </>
  );
}

/** A labelled box to tick. */
export function CheckField({
  label,
  checked,
  onChange,
  hint,
}: {
  label: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
  hint?: ReactNode;
}) {
  const id = useId();
  return (
    <div className={styles["check"]}>
      <input
        id={id}
        type="checkbox"
        checked={checked}
        onChange={(event) => onChange(event.target.checked)}
        aria-describedby={`${id}-hint`}
      />
      <div className={styles["field"]}>
        <label htmlFor={id}>{label}</label>
        <FieldNotes id={id} hint={hint} />
      </div>
    </div>
  );
}

import { type AriaAttributes, type InputHTMLAttributes, type ReactNode, useId } from "react";
import { classNames } from "../class-names.ts";
import { Icon } from "../icon.tsx";
import styles from "./field.module.css";

/** CSS class of an input, for inputs that other components create. */
export const inputClass: string = styles["input"] ?? "";

type Native = Pick<
  InputHTMLAttributes<HTMLInputElement>,
  "type" | "required" | "placeholder" | "autoComplete" | "inputMode" | "min" | "max" | "readOnly" | "list"
>;

/** Properties of every labelled input. `hint`: describes the value. `fault`: the error in the current value. */
export type Labelled = {
  label: string;
  hint?: ReactNode;
  fault?: string | undefined;
  /** True if the field is marked as required. The service checks the value. */
  isRequired?: boolean;
};

type OfInput = { id: string } & AriaAttributes;

/**
 * A form field with its label above the input. The hint and the error text (`fault`) are below the input. `children`: draws the input; it
 * receives the ids that connect the input with the label and these texts.
 */
export function LabelledField({
  label,
  hint,
  fault,
  isRequired = false,
  children,
}: Labelled & { children: (shared: OfInput) => ReactNode }) {
  const id = useId();
  return (
    <div className={styles["field"]}>
      <label className={styles["label"]} htmlFor={id}>
        {label}
      </label>
      {children({
        ...{ id, "aria-describedby": `${id}-hint ${id}-fault` },
        ...{ "aria-invalid": fault !== undefined, "aria-required": isRequired },
      })}
      <FieldNotes id={id} hint={hint} fault={fault} />
    </div>
  );
}

/** A labelled input for one line of text. */
export function TextField({
  label,
  value,
  onChange,
  hint,
  fault,
  mono = false,
  isRequired = false,
  ...native
}: Native & Labelled & { value: string; onChange: (value: string) => void; mono?: boolean }) {
  return (
    <LabelledField {...{ label, hint, fault, isRequired }}>
      {(shared) => (
        <input
          {...native}
          {...shared}
          className={classNames(styles["input"], mono && styles["mono"])}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          spellCheck={false}
        />
      )}
    </LabelledField>
  );
}

/** A labelled input for several lines of text. `tall`: true if the input may take much height, because it is the only field of its form. */
export function AreaField({
  value,
  onChange,
  placeholder,
  mono = false,
  tall = false,
  ...labelled
}: Labelled & {
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
  mono?: boolean;
  tall?: boolean;
}) {
  return (
    <LabelledField {...labelled}>
      {(shared) => (
        <textarea
          {...shared}
          className={classNames(styles["input"], styles["area"], mono && styles["mono"], tall && styles["tall"])}
          rows={Math.min(16, value.split("\n").length + 1)}
          value={value}
          placeholder={placeholder}
          onChange={(event) => onChange(event.target.value)}
          spellCheck={false}
        />
      )}
    </LabelledField>
  );
}

/** The hint and the error below a field. Their ids are `<id>-hint` and `<id>-fault`. */
function FieldNotes({ id, hint, fault }: { id: string; hint?: ReactNode; fault?: string | undefined }) {
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

/** A labelled checkbox. */
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

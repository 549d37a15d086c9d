import { type ReactNode, useId } from "react";
import { classNames } from "./class-names.ts";
import field from "./field.module.css";
import { inputClass } from "./field.tsx";
import { Icon } from "./icon.tsx";
import styles from "./text-area.module.css";

/** A labelled text of several lines. `hint` says what is wanted, `fault` what is wrong with what is there. */
export function TextArea({
  label,
  value,
  onChange,
  hint,
  fault,
  mono = false,
  rows = 3,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint?: ReactNode;
  fault?: string | undefined;
  mono?: boolean;
  rows?: number;
}) {
  const id = useId();
  return (
    <div className={field["field"]}>
      <label className={field["label"]} htmlFor={id}>
        {label}
      </label>
      <textarea
        id={id}
        rows={rows}
        className={classNames(inputClass, styles["area"], mono && field["mono"])}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        aria-describedby={`${id}-hint`}
        aria-invalid={fault !== undefined}
        spellCheck={!mono}
      />
      <div id={`${id}-hint`} className={field[fault === undefined ? "hint" : "fault"]}>
        {fault !== undefined && <Icon name="cross" size={12} />}
        {fault ?? hint}
      </div>
    </div>
  );
}

import { classNames } from "../class-names.ts";
import styles from "./field.module.css";
import { type Labelled, LabelledField } from "./field.tsx";

/** A labelled select field of a form, for a value from a fixed set. */
export function SelectField({
  value,
  options,
  onChange,
  ...labelled
}: Labelled & {
  value: string;
  options: readonly { value: string; words: string }[];
  onChange: (value: string) => void;
}) {
  return (
    <LabelledField {...labelled}>
      {(shared) => (
        <select
          {...shared}
          className={classNames(styles["input"], styles["select"])}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.words}
            </option>
          ))}
        </select>
      )}
    </LabelledField>
  );
}

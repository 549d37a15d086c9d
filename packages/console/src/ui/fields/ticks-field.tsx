import { CheckField } from "./field.tsx";
import styles from "./options-field.module.css";
import type { Option } from "./options-field.tsx";

/** A few things, of which any number is chosen: each with what it is. What is chosen keeps the order of the options. */
export function TicksField({
  label,
  chosen,
  options,
  onChange,
}: {
  label: string;
  chosen: readonly string[];
  options: readonly Option[];
  onChange: (chosen: string[]) => void;
}) {
  const isChosen = (value: string, changed: string, to: boolean) => (value === changed ? to : chosen.includes(value));
  return (
    <fieldset className={styles["group"]}>
      <legend className={styles["legend"]}>{label}</legend>
      {options.map(({ value, words, says }) => (
        <CheckField
          key={value}
          label={words}
          hint={says}
          checked={chosen.includes(value)}
          onChange={(to) => onChange(options.map((option) => option.value).filter((one) => isChosen(one, value, to)))}
        />
      ))}
    </fieldset>
  );
}

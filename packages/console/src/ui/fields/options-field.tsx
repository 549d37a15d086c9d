import { useId } from "react";
import { CheckField } from "./field.tsx";
import styles from "./options-field.module.css";

/** One option of a field with several answers. `words`: its name. `says`: what happens if the user chooses it. */
export type Option = { value: string; words: string; says?: string };

/**
 * A field in which the user chooses one of a few answers. Each answer shows its effect and is large enough for touch. Arrow keys change the
 * choice.
 */
export function OptionsField({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: string | undefined;
  options: readonly Option[];
  onChange: (value: string) => void;
}) {
  const id = useId();
  return (
    <fieldset className={styles["group"]}>
      <legend className={styles["legend"]}>{label}</legend>
      {options.map((option, index) => (
        <label key={option.value} className={styles["option"]}>
          <input
            type="radio"
            name={id}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
            aria-labelledby={`${id}-${index}`}
            aria-describedby={option.says === undefined ? undefined : `${id}-${index}-says`}
          />
          <span>
            <b id={`${id}-${index}`}>{option.words}</b>
            {option.says !== undefined && (
              <span id={`${id}-${index}-says`} className={styles["says"]}>
                {option.says}
              </span>
            )}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/**
 * A field in which the user chooses any number of options. Each option shows its description. The chosen options keep the order of all
 * options.
 */
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

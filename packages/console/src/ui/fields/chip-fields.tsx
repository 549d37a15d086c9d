import { type ReactNode, useId } from "react";
import styles from "./chip-fields.module.css";

/** Properties of every input inside a sentence. `fault`: true if the value is wrong; the error text is shown below the sentence. */
type ChipLook = { label: string; fault?: boolean };

/** A sentence with inputs in it, such as "Every [15m], run …". */
export function Sentence({ children }: { children: ReactNode }) {
  return <div className={styles["sentence"]}>{children}</div>;
}

/** A select field inside a sentence. It is as wide as the text of the chosen option. */
export function ChipSelect({
  label,
  fault = false,
  value,
  options,
  onChange,
}: ChipLook & {
  value: string;
  options: readonly { value: string; words: string }[];
  onChange: (value: string) => void;
}) {
  return (
    <select
      className={styles["chip"]}
      aria-label={label}
      aria-invalid={fault}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.words}
        </option>
      ))}
    </select>
  );
}

/** A short input for text or a time inside a sentence. `suggestions`: values that the browser offers; the user may type others. */
export function ChipInput({
  label,
  fault = false,
  value,
  type = "text",
  placeholder,
  suggestions = [],
  onChange,
  onBlur,
}: ChipLook & {
  value: string;
  type?: "text" | "time";
  placeholder?: string;
  suggestions?: readonly string[];
  onChange: (value: string) => void;
  onBlur?: () => void;
}) {
  const listId = useId();
  return (
    <>
      <input
        className={styles["chip"]}
        type={type}
        aria-label={label}
        aria-invalid={fault}
        value={value}
        placeholder={placeholder}
        list={suggestions.length > 0 ? listId : undefined}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
        onBlur={onBlur}
      />
      {suggestions.length > 0 && (
        <datalist id={listId}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
    </>
  );
}

/** A row of switches inside a sentence, for example one for each day of the week. Any number of them can be on. */
export function ChipTicks({
  label,
  options,
  chosen,
  onChange,
}: {
  label: string;
  options: readonly { value: number; words: string }[];
  chosen: readonly number[];
  onChange: (chosen: number[]) => void;
}) {
  return (
    <fieldset className={styles["ticks"]}>
      <legend className="visually-hidden">{label}</legend>
      {options.map(({ value, words }) => (
        <label key={value} className={styles["tick"]}>
          <input
            type="checkbox"
            className={styles["hit"]}
            checked={chosen.includes(value)}
            onChange={({ target }) =>
              onChange(target.checked ? [...chosen, value] : chosen.filter((one) => one !== value))
            }
          />
          {words}
        </label>
      ))}
    </fieldset>
  );
}

/** A choice of one among a few options in a row, such as what starts a schedule. Arrow keys change the choice. */
export function Segments({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: string;
  options: readonly { value: string; words: string }[];
  onChange: (value: string) => void;
}) {
  const name = useId();
  return (
    <fieldset className={styles["segments"]}>
      <legend className="visually-hidden">{label}</legend>
      {options.map((option) => (
        <label key={option.value} className={styles["segment"]}>
          <input
            type="radio"
            className={styles["hit"]}
            name={name}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          {option.words}
        </label>
      ))}
    </fieldset>
  );
}

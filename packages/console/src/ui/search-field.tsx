import { inputClass } from "./field.tsx";
import styles from "./search-field.module.css";

/** A line of text that filters a list; `label` is its name and stands in it while it is empty. */
export function SearchField({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
}) {
  return (
    <div className={styles["field"]}>
      <input
        type="search"
        className={inputClass}
        placeholder={label}
        aria-label={label}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        spellCheck={false}
      />
    </div>
  );
}

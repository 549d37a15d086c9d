import { classNames } from "../../ui/class-names.ts";
import { inputClass } from "../../ui/fields/field.tsx";
import { accessClasses } from "../../words/calls.ts";
import styles from "./class-select.module.css";

/**
 * Draws the choice of a class (read, write or destructive) for a tool of an import or of its changes. `proposed`: the class that the tool
 * gets without a choice of the user. Another class is highlighted.
 */
export function ClassSelect({
  tool,
  proposed,
  value = proposed,
  onChange,
}: {
  tool: string;
  proposed: string;
  value: string | undefined;
  onChange: (access: string) => void;
}) {
  return (
    <select
      aria-label={`Class of ${tool}`}
      className={classNames(inputClass, styles["class"], value !== proposed && styles["changed"])}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    >
      {accessClasses.map((access) => (
        <option key={access}>{access}</option>
      ))}
    </select>
  );
}

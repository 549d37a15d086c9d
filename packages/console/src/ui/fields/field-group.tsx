import type { ReactNode } from "react";
import { IconButton } from "../buttons/button.tsx";
import { Icon } from "../icon.tsx";
import styles from "./field.module.css";

/** A group of fields, with the errors that concern the whole group. `label`: the accessible name of the group. */
export function FieldGroup({
  label,
  faults = [],
  children,
}: {
  label: string;
  faults?: readonly string[];
  children: ReactNode;
}) {
  return (
    <fieldset className={styles["group"]}>
      <legend className="visually-hidden">{label}</legend>
      <GroupFaults faults={faults} />
      {children}
    </fieldset>
  );
}

/** A list of the errors that concern a group of form fields as a whole, and none of its fields alone. */
export function GroupFaults({ faults }: { faults: readonly string[] }) {
  if (faults.length === 0) return null;
  return (
    <div className={styles["groupFaults"]}>
      {faults.map((fault) => (
        <div key={fault} className={styles["fault"]}>
          <Icon name="cross" size={12} />
          {fault}
        </div>
      ))}
    </div>
  );
}

/**
 * One of several values of a field, with a button that removes the value. `label`: the name of the value in the button's accessible name.
 */
export function FieldItem({ label, onRemove, children }: { label: string; onRemove: () => void; children: ReactNode }) {
  return (
    <div className={styles["item"]}>
      {children}
      <IconButton icon="cross" label={`Remove ${label}`} onPress={onRemove} />
    </div>
  );
}

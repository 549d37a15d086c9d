import type { ReactNode } from "react";
import { IconButton } from "../buttons/button.tsx";
import { Icon } from "../icon.tsx";
import styles from "./field.module.css";

/** Fields that belong together, and what is wrong with them as a whole. `label` names them for those who hear it. */
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

/** What is wrong with fields as a whole, rather than with one of them. */
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

/** One of several values of a field, with a button that takes it away; `label` names it there. */
export function FieldItem({ label, onRemove, children }: { label: string; onRemove: () => void; children: ReactNode }) {
  return (
    <div className={styles["item"]}>
      {children}
      <IconButton icon="cross" label={`Remove ${label}`} onPress={onRemove} />
    </div>
  );
}

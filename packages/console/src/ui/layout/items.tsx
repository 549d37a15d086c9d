import type { ReactNode } from "react";
import styles from "./items.module.css";

/** A few things one below the other, each with what can be done with it at its right; on a phone below it. */
export function Items({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul className={styles["items"]} aria-label={label}>
      {children}
    </ul>
  );
}

/** One of them: what it is, what is known of it below, and its actions. */
export function Item({ title, children, actions }: { title: ReactNode; children?: ReactNode; actions?: ReactNode }) {
  return (
    <li className={styles["item"]}>
      <div className={styles["words"]}>
        <div className={styles["title"]}>{title}</div>
        {children !== undefined && <div className={styles["notes"]}>{children}</div>}
      </div>
      {actions !== undefined && <div className={styles["actions"]}>{actions}</div>}
    </li>
  );
}

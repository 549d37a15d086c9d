import type { ReactNode } from "react";
import styles from "./items.module.css";

/** A short list. The buttons of each item are at its right; on a phone they are below it. */
export function Items({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul className={styles["items"]} aria-label={label}>
      {children}
    </ul>
  );
}

/** One item of a short list: its title, its facts below the title, and its buttons. */
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

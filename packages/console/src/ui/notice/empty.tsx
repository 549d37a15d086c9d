import type { ReactNode } from "react";
import { Button } from "../buttons/button.tsx";
import { Icon, type IconName } from "../icon.tsx";
import styles from "./empty.module.css";

/** Shown in place of a list that has no rows yet. It explains what the list will contain, and how to get the first row. */
export function Empty({ icon, title, children }: { icon: IconName; title: string; children?: ReactNode }) {
  return (
    <div className={styles["empty"]}>
      <span className={styles["icon"]}>
        <Icon name={icon} size={24} />
      </span>
      <h2>{title}</h2>
      {children !== undefined && <div className={styles["body"]}>{children}</div>}
    </div>
  );
}

/** Shown in place of a list whose rows do not pass the filters. */
export function NoMatch({ title, onClear }: { title: string; onClear: () => void }) {
  return (
    <div className={styles["empty"]}>
      <span className={styles["icon"]}>
        <Icon name="filter" size={24} />
      </span>
      <h2>{title}</h2>
      <Button onPress={onClear}>Clear filters</Button>
    </div>
  );
}

/** Placeholder with the size of the rows that are loading. It appears after 150 ms. */
export function Skeleton({ rows = 8 }: { rows?: number }) {
  return (
    <div className={styles["skeleton"]}>
      <span className="visually-hidden">Loading</span>
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all placeholder rows are equal
        <div key={index} className={styles["bar"]} aria-hidden="true" />
      ))}
    </div>
  );
}

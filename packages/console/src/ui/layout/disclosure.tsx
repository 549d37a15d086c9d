import { type ReactNode, useState } from "react";
import { classNames } from "../class-names.ts";
import { Icon } from "../icon.tsx";
import styles from "./disclosure.module.css";

/**
 * A line that opens to show more. Its content is created, and makes its calls, when the user first opens it. `flat`: true inside a list
 * that draws its own lines.
 */
export function Disclosure({
  summary,
  children,
  initiallyOpen = false,
  flat = false,
}: {
  summary: ReactNode;
  children: ReactNode;
  initiallyOpen?: boolean;
  flat?: boolean;
}) {
  const [wasOpened, setWasOpened] = useState(initiallyOpen);
  return (
    <details
      className={classNames(styles["item"], flat && styles["flat"])}
      open={initiallyOpen}
      onToggle={({ currentTarget }) => currentTarget.open && setWasOpened(true)}
    >
      <summary className={styles["summary"]}>
        <Icon name="chevronRight" />
        <span className={styles["words"]}>{summary}</span>
      </summary>
      {wasOpened && <div className={styles["body"]}>{children}</div>}
    </details>
  );
}

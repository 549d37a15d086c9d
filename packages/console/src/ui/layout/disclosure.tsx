import { type ReactNode, useState } from "react";
import { classNames } from "../class-names.ts";
import { Icon } from "../icon.tsx";
import styles from "./disclosure.module.css";

/**
 * A title that opens to show its content. The content is created when it is first open. `initiallyOpen`: if it becomes true later, the
 * content opens then. `flat`: true to draw no border.
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
      {(wasOpened || initiallyOpen) && <div className={styles["body"]}>{children}</div>}
    </details>
  );
}

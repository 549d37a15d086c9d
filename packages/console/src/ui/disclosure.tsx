import { type ReactNode, useState } from "react";
import styles from "./disclosure.module.css";
import { Icon } from "./icon.tsx";

/** A line that opens to more. What it holds is made, and so asked for, when it is first opened. */
export function Disclosure({
  summary,
  children,
  initiallyOpen = false,
}: {
  summary: ReactNode;
  children: ReactNode;
  initiallyOpen?: boolean;
}) {
  const [wasOpened, setWasOpened] = useState(initiallyOpen);
  return (
    <details
      className={styles["item"]}
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

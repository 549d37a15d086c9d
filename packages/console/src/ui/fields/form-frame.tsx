import type { ReactNode } from "react";
import styles from "../layout/stack.module.css";

/** Fields that are sent together, by Enter or by the button. */
export function FormFrame({ onSubmit, children }: { onSubmit: () => void; children: ReactNode }) {
  return (
    <form
      className={styles["stack"]}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}

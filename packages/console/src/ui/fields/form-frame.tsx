import type { ReactNode } from "react";
import styles from "../layout/stack.module.css";

/** A form. The Enter key or its button submits all fields together. */
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

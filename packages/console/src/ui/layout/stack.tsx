import type { ReactNode } from "react";
import { classNames } from "../class-names.ts";
import styles from "./stack.module.css";

/** What stands below each other, 16 px apart, or 4 where it is `tight`. */
export function Stack({ tight = false, children }: { tight?: boolean; children: ReactNode }) {
  return <div className={classNames(styles["stack"], tight && styles["tight"])}>{children}</div>;
}

/** What stands beside each other and wraps, 8 px apart; the first at the left and the last at the right where it is `apart`. */
export function Line({ apart = false, children }: { apart?: boolean; children: ReactNode }) {
  return <div className={classNames(styles["line"], apart && styles["apart"])}>{children}</div>;
}

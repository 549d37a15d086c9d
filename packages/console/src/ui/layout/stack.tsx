import type { ReactNode } from "react";
import { classNames } from "../class-names.ts";
import styles from "./stack.module.css";

/** Stacks its children, 16 px apart, or 4 px if `tight`. */
export function Stack({ tight = false, children }: { tight?: boolean; children: ReactNode }) {
  return <div className={classNames(styles["stack"], tight && styles["tight"])}>{children}</div>;
}

/** Places its children in a row that wraps, 8 px apart. If `apart`, the first is on the left and the last on the right. */
export function Line({ apart = false, children }: { apart?: boolean; children: ReactNode }) {
  return <div className={classNames(styles["line"], apart && styles["apart"])}>{children}</div>;
}

import type { ReactNode } from "react";
import { classNames } from "../class-names.ts";
import styles from "./stack.module.css";

/** Places its children below each other, 16 px apart; 4 px apart if `tight` is set. */
export function Stack({ tight = false, children }: { tight?: boolean; children: ReactNode }) {
  return <div className={classNames(styles["stack"], tight && styles["tight"])}>{children}</div>;
}

/**
 * Places its children in a row that wraps, 8 px apart. With `apart`, the first child is at the left edge and the last child at the right
 * edge.
 */
export function Line({ apart = false, children }: { apart?: boolean; children: ReactNode }) {
  return <div className={classNames(styles["line"], apart && styles["apart"])}>{children}</div>;
}

import { classNames } from "../class-names.ts";
import styles from "./button.module.css";

/** How much a button stands out: what goes on, what takes away, or what is there beside others. */
export type ButtonKind = "plain" | "primary" | "danger" | "quiet";

/** The class names of a button's look, for a link that leads like one. */
export function buttonClass(kind: ButtonKind = "plain"): string {
  return classNames(styles["button"], kind !== "plain" && styles[kind]);
}

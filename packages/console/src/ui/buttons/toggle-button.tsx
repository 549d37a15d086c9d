import type { ReactNode } from "react";
import { classNames } from "../class-names.ts";
import { buttonClass } from "./button.tsx";
import styles from "./toggle-button.module.css";

/** A button that turns a setting on or off. It looks pressed while the setting is on. */
export function ToggleButton({ on, onPress, children }: { on: boolean; onPress: () => void; children: ReactNode }) {
  return (
    <button type="button" className={classNames(buttonClass(), on && styles["on"])} aria-pressed={on} onClick={onPress}>
      {children}
    </button>
  );
}

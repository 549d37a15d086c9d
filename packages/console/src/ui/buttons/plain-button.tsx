import { classNames } from "../class-names.ts";
import { Icon, type IconName } from "../icon.tsx";
import styles from "./button.module.css";

/**
 * Kind of a button, which decides how it looks: the main action (`primary`), a dangerous action (`danger`), or another action (`plain`,
 * `quiet`).
 */
export type ButtonKind = "plain" | "primary" | "danger" | "quiet";

/** Returns the CSS class names of a button, for a link that looks like a button. */
export function buttonClass(kind: ButtonKind = "plain"): string {
  return classNames(styles["button"], kind !== "plain" && styles[kind]);
}

/**
 * A button for the pages that links open. It looks like `Button` and loads little code. `why`: why the button is disabled. `busy`: the text
 * while its action runs.
 */
export function PlainButton({
  kind = "plain",
  icon,
  children,
  onPress,
  why,
  busy,
  type = "button",
}: {
  kind?: "plain" | "primary";
  icon?: IconName;
  children: string;
  onPress?: () => void;
  why?: string | undefined;
  busy?: string | undefined;
  type?: "button" | "submit";
}) {
  const off = why !== undefined || busy !== undefined;
  return (
    <button
      className={buttonClass(kind)}
      type={type}
      aria-disabled={off}
      aria-description={why}
      title={why}
      onClick={(event) => (off ? event.preventDefault() : onPress?.())}
    >
      {icon !== undefined && <Icon name={icon} />}
      {busy ?? children}
    </button>
  );
}

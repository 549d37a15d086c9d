import { classNames } from "../class-names.ts";
import { Icon, type IconName } from "../icon.tsx";
import styles from "./button.module.css";

/** How prominent a button is: the main action, a dangerous one, or one among others. */
export type ButtonKind = "plain" | "primary" | "danger" | "quiet";

/** Returns the class names of a button's look, for a link that looks like a button. */
export function buttonClass(kind: ButtonKind = "plain"): string {
  return classNames(styles["button"], kind !== "plain" && styles[kind]);
}

/**
 * A button for the pages of links, which must be small: it looks like `Button` and has no dependencies. `why` disables it and shows the
 * reason next to it, because touch screens have no tooltips; it stays focusable. `busy` is the text shown while its action is under way.
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

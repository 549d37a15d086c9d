import { classNames } from "../class-names.ts";
import { Icon, type IconName } from "../icon.tsx";
import styles from "./button.module.css";

/** How much a button stands out: what goes on, what takes away, or what is there beside others. */
export type ButtonKind = "plain" | "primary" | "danger" | "quiet";

/** The class names of a button's look, for a link that leads like one. */
export function buttonClass(kind: ButtonKind = "plain"): string {
  return classNames(styles["button"], kind !== "plain" && styles[kind]);
}

/**
 * A button for the pages of links, which must be small: it looks like `Button` and needs nothing but the browser. `why` disables it and says
 * why beside it, where a finger finds no tooltip; it stays focusable. `busy` is the word shown while what it began is under way.
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

import type { ReactNode } from "react";
import { classNames } from "../class-names.ts";
import { Icon, type IconName } from "../icon.tsx";
import { Tooltip } from "../overlay/tooltip.tsx";
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

type Look = { kind?: ButtonKind; icon?: IconName };

/**
 * A button with a text. `why`: the reason why the button is disabled. A disabled button can still get the focus, so that users who cannot
 * see its tooltip also learn the reason. `busy`: the text shown while the button's action runs.
 */
export function Button({
  kind = "plain",
  icon,
  children,
  onPress,
  why,
  busy,
  type = "button",
}: Look & {
  children: ReactNode;
  onPress?: () => void;
  why?: string | undefined;
  busy?: string | undefined;
  type?: "button" | "submit";
}) {
  const off = why !== undefined || busy !== undefined;
  const button = (
    <button
      className={buttonClass(kind)}
      type={type}
      aria-disabled={off || undefined}
      onClick={(event) => (off ? event.preventDefault() : onPress?.())}
    >
      {icon !== undefined && <Icon name={icon} />}
      {busy ?? children}
    </button>
  );
  return why === undefined ? button : <Tooltip text={why}>{button}</Tooltip>;
}

/** A button that shows only an icon. `label`: its accessible name and its tooltip. */
export function IconButton({
  icon,
  label,
  onPress,
  pressed,
}: {
  icon: IconName;
  label: string;
  onPress: () => void;
  pressed?: boolean;
}) {
  return (
    <Tooltip text={label} isLabel>
      <button
        type="button"
        className={classNames(styles["button"], styles["quiet"], styles["icon"])}
        aria-pressed={pressed}
        onClick={onPress}
      >
        <Icon name={icon} />
      </button>
    </Tooltip>
  );
}

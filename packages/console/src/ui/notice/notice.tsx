import type { ReactNode } from "react";
import type { Tone } from "../../words/word.ts";
import { classNames } from "../class-names.ts";
import { Icon, type IconName } from "../icon.tsx";
import styles from "./notice.module.css";

const icons: Record<Tone, IconName> = { ok: "check", warn: "alert", bad: "alert", info: "event", plain: "dot" };

/** A notice that the user should read before continuing: title, details, and what to do. */
export function Notice({
  tone,
  title,
  children,
  actions,
  icon = icons[tone],
}: {
  tone: Tone;
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
  icon?: IconName;
}) {
  return (
    <div className={classNames(styles["notice"], tone !== "plain" && styles[tone])}>
      <span className={styles["icon"]}>
        <Icon name={icon} />
      </span>
      <div className={styles["body"]}>
        <p className={styles["title"]}>{title}</p>
        {children !== undefined && <div className={styles["more"]}>{children}</div>}
      </div>
      {actions}
    </div>
  );
}

/** A note that says which part of a list the key may read. Without the note, an empty list would look as if there were no rows at all. */
export function Limited({ to, children }: { to: string; children: ReactNode }) {
  return (
    <div className={styles["limited"]}>
      <Notice tone="info" title={`Your key may read only ${to}.`} />
      {children}
    </div>
  );
}

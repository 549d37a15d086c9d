import { type ReactNode, useId } from "react";
import { classNames } from "../class-names.ts";
import { Icon } from "../icon.tsx";
import styles from "./realm-section.module.css";

/** A part of a page that acts on apps. The band around it shows if the apps are real or emulated by the sandbox. */
export function RealmSection({
  title,
  isSandbox,
  children,
}: {
  title: string;
  isSandbox: boolean;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <section
      className={classNames(styles["realm"], isSandbox ? styles["sandbox"] : styles["real"])}
      aria-labelledby={id}
    >
      <div className={styles["band"]}>
        <h2 id={id}>{title}</h2>
        <span className={styles["words"]}>
          <Icon name={isSandbox ? "event" : "alert"} size={12} />
          {isSandbox ? "Sandbox: answers are simulated, nothing is sent" : "Real app: calls have real effects"}
        </span>
      </div>
      <div className={styles["body"]}>{children}</div>
    </section>
  );
}

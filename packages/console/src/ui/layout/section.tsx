import { type ReactNode, useId } from "react";
import { visible } from "../../words/text.ts";
import { classNames } from "../class-names.ts";
import styles from "./section.module.css";

/** A part of a page, with a heading and with actions at the right of it. `boxed`: true if it has a border. */
export function Section({
  title,
  actions,
  children,
  boxed = false,
}: {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
  boxed?: boolean;
}) {
  const id = useId();
  return (
    <section className={classNames(styles["section"], boxed && styles["boxed"])} aria-labelledby={id}>
      <div className={styles["head"]}>
        <h2 id={id}>{visible(title)}</h2>
        {actions}
      </div>
      {children}
    </section>
  );
}

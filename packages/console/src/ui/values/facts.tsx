import { Fragment, type ReactNode } from "react";
import { visible } from "../../words/text.ts";
import styles from "./facts.module.css";

/** The facts of one thing, as names and values. An undefined value omits its line. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className={styles["facts"]}>
      {facts.map(
        ([name, value]) =>
          value !== undefined && (
            <Fragment key={name}>
              <dt>{name}</dt>
              <dd>{typeof value === "string" ? visible(value) : value}</dd>
            </Fragment>
          ),
      )}
    </dl>
  );
}

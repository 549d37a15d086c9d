import { Fragment, type ReactNode } from "react";
import { visible } from "../../words/text.ts";
import styles from "./facts.module.css";

/** The facts of an object as names and values. A fact without a value is left out. */
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

import type { ReactNode } from "react";
import { classNames } from "../class-names.ts";
import styles from "./table.module.css";

/**
 * A small table of figures. The first cell of each row is the row's name. `label`: name of the table. `ofTexts`: true if the cells contain
 * texts, which are aligned left; figures are aligned right.
 */
export function Table({
  label,
  ofTexts = false,
  head,
  rows,
}: {
  label: string;
  ofTexts?: boolean;
  head: readonly string[];
  rows: readonly { id: string; cells: readonly ReactNode[] }[];
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll this section
    <section className={styles["frame"]} tabIndex={0} aria-label={label}>
      <table className={classNames(styles["table"], ofTexts && styles["texts"])}>
        <thead>
          <tr>
            {head.map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ id, cells: [name, ...cells] }) => (
            <tr key={id}>
              <th scope="row">{name}</th>
              {cells.map((cell, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the index of a cell is its column, which never changes
                <td key={index}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { AnySearch } from "./list-filters.tsx";
import styles from "./list-tabs.module.css";

/**
 * Draws the tabs of a list as links. `sets`: the search parameters that a tab sets. `count`: the number of its rows; nothing while it is
 * not known. `isHere`: true for the tab that the page shows.
 */
export function ListTabs({
  label,
  tabs,
}: {
  label: string;
  tabs: readonly { words: string; sets: AnySearch; count: ReactNode; isHere: boolean }[];
}) {
  return (
    <nav className={styles["tabs"]} aria-label={label}>
      {tabs.map(({ words, sets, count, isHere }) => (
        <Link
          key={words}
          to="."
          search={((old: AnySearch) => ({ ...old, ...sets, open: undefined })) as never}
          activeOptions={{ exact: true }}
          replace
          className={styles["tab"]}
          {...(isHere && { "aria-current": "page" })}
        >
          {words} <span className={styles["count"]}>{count}</span>
        </Link>
      ))}
    </nav>
  );
}

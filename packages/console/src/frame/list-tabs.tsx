import { Link, type LinkProps } from "@tanstack/react-router";
import styles from "./list-tabs.module.css";

/** Draws the tabs of a list as links. `isHere`: true for the tab that the page shows. */
export function ListTabs({
  label,
  tabs,
}: {
  label: string;
  tabs: readonly { words: string; link: LinkProps; isHere: boolean }[];
}) {
  return (
    <nav className={styles["tabs"]} aria-label={label}>
      {tabs.map(({ words, link, isHere }) => (
        <Link key={words} {...link} replace className={styles["tab"]} {...(isHere && { "aria-current": "page" })}>
          {words}
        </Link>
      ))}
    </nav>
  );
}

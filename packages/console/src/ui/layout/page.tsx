import { useMatch } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import { visible } from "../../words/text.ts";
import { classNames } from "../class-names.ts";
import styles from "./page.module.css";

/** Path whose heading had its turn; undefined before the first page, which the browser announces itself. */
let headedPath: string | undefined;

/**
 * The frame of every page: its title, in the tab too, what can be done with it, and its filters. The heading takes the focus when
 * somebody comes from another page, so that a reader begins there. `fill` lets a list take what is left of the window.
 */
export function Page({
  title,
  tab = title,
  back,
  state,
  actions,
  filters,
  notes,
  fill = false,
  isCovered = false,
  children,
}: {
  title: string;
  /** The title in the tab, where it differs. */
  tab?: string;
  /** A link to what it is a part of. */
  back?: ReactNode;
  /** Stands beside the title. */
  state?: ReactNode;
  actions?: ReactNode;
  filters?: ReactNode;
  /** What is to be known before the list, such as that it could not be read anew. */
  notes?: ReactNode;
  fill?: boolean;
  /** Whether its address opens a dialog over it. */
  isCovered?: boolean;
  children: ReactNode;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  // That of what is shown. The address is ahead of it while a page that was never shown is on its way: the page before would take the focus for it.
  const pathname = useMatch({ strict: false, select: (match) => match.pathname });
  useEffect(() => {
    document.title = `${visible(tab)} · svc`;
  }, [tab]);
  useEffect(() => {
    const isOther = headedPath !== undefined && headedPath !== pathname;
    headedPath = pathname;
    // A dialog has the focus itself, and would take one outside of it for a press that closes it.
    if (isOther && !isCovered) heading.current?.focus({ preventScroll: true });
  }, [pathname, isCovered]);
  return (
    <div className={classNames(styles["page"], fill && styles["fill"])}>
      <header className={styles["head"]}>
        {back !== undefined && <div className={styles["back"]}>{back}</div>}
        <h1 ref={heading} tabIndex={-1} className={styles["title"]}>
          {visible(title)}
        </h1>
        {state}
        {actions !== undefined && <div className={styles["actions"]}>{actions}</div>}
      </header>
      {filters !== undefined && <search className={styles["filters"]}>{filters}</search>}
      {notes !== undefined && <div className={styles["notes"]}>{notes}</div>}
      {children}
    </div>
  );
}

/** Two columns, the first wider unless they are `even`, which stand below each other where there is no room. */
export function Columns({ even = false, children }: { even?: boolean; children: ReactNode }) {
  return <div className={classNames(styles["columns"], even && styles["even"])}>{children}</div>;
}

import { useMatch } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import { visible } from "../../words/text.ts";
import { classNames } from "../class-names.ts";
import styles from "./page.module.css";

/** Path whose heading was focused last; undefined before the first page, which the browser announces itself. */
let headedPath: string | undefined;

/**
 * The frame of every page: its title, also in the tab, its actions, and its filters. The heading takes the focus when the user comes from
 * another page, so that a screen reader starts there. `fill` lets a list take the rest of the window.
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
  /** Title in the tab, if it differs. */
  tab?: string;
  /** A link to the page that it is a part of. */
  back?: ReactNode;
  /** Shown next to the title. */
  state?: ReactNode;
  actions?: ReactNode;
  filters?: ReactNode;
  /** Notices before the list, for example that it could not be read again. */
  notes?: ReactNode;
  fill?: boolean;
  /** True if its address opens a dialog over it. */
  isCovered?: boolean;
  children: ReactNode;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  // The path of the shown page. The address changes before a page that is still loading is shown, and the previous page would take the
  // focus.
  const pathname = useMatch({ strict: false, select: (match) => match.pathname });
  useEffect(() => {
    document.title = `${visible(tab)} · svc`;
  }, [tab]);
  useEffect(() => {
    const isOther = headedPath !== undefined && headedPath !== pathname;
    headedPath = pathname;
    // A dialog has the focus itself; moving it outside would count as a press outside, which closes the dialog.
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

/** Two columns, the first wider unless `even` is set. They stack if the page is too narrow. */
export function Columns({ even = false, children }: { even?: boolean; children: ReactNode }) {
  return <div className={classNames(styles["columns"], even && styles["even"])}>{children}</div>;
}

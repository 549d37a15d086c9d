import { useLocation } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import { classNames } from "./class-names.ts";
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
  children: ReactNode;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { pathname } = useLocation();
  useEffect(() => {
    document.title = `${tab} · svc`;
  }, [tab]);
  useEffect(() => {
    if (headedPath !== undefined && headedPath !== pathname) heading.current?.focus({ preventScroll: true });
    headedPath = pathname;
  }, [pathname]);
  return (
    <div className={classNames(styles["page"], fill && styles["fill"])}>
      <header className={styles["head"]}>
        {back !== undefined && <div className={styles["back"]}>{back}</div>}
        <h1 ref={heading} tabIndex={-1} className={styles["title"]}>
          {title}
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

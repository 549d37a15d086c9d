import { useMatch } from "@tanstack/react-router";
import { type Context, createContext, type ReactNode, useContext, useEffect, useLayoutEffect, useRef } from "react";
import { createPortal } from "react-dom";
import { visible } from "../../words/text.ts";
import { classNames } from "../class-names.ts";
import { Icon } from "../icon.tsx";
import { useIsPhone } from "../media.ts";
import styles from "./page.module.css";

/**
 * Path of the page whose heading last got the keyboard focus. Undefined until the user leaves the first page. The browser itself announces
 * the first page to screen readers.
 */
let headedPath: string | undefined;

/** True if a removed heading had the keyboard focus. False again when the next heading is shown. */
let isFocusLost = false;

/** Name of the site, which is shown at the end of each title in the browser's tab. In the portal it is the project's name. */
export const SiteName: Context<string> = createContext("svc");

/** Element of the top bar in which pages draw their path: the link to the parent page, and their title. Null if there is none. */
export const CrumbPlace: Context<HTMLElement | null> = createContext<HTMLElement | null>(null);

/**
 * The frame of every page: its title (also the tab's title), its actions and its filters. When the user comes from another page, the
 * heading gets the focus, so that a screen reader starts there. `fill`: true if a list fills the rest of the window.
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
  /** Title in the browser's tab, if it differs from the title of the page. */
  tab?: string;
  /** A link to the parent page. */
  back?: ReactNode;
  /** The state of the shown object, next to the title. */
  state?: ReactNode;
  actions?: ReactNode;
  filters?: ReactNode;
  /** Notices above the list, for example that the list could not be refreshed. */
  notes?: ReactNode;
  fill?: boolean;
  /**
   * True if the page's address opens a dialog over the page. The heading of the page then does not take the focus, because the dialog
   * closes when it loses the focus.
   */
  isCovered?: boolean;
  children: ReactNode;
}) {
  const site = useContext(SiteName);
  const isPhone = useIsPhone();
  const place = useContext(CrumbPlace);
  const crumbs = isPhone ? null : place;
  const heading = useRef<HTMLHeadingElement>(null);
  // The path of the page that is shown now. The address is not used here, because it changes while the next page still loads; the previous
  // page would then take the focus.
  const pathname = useMatch({ strict: false, select: (match) => match.pathname });
  useEffect(() => {
    document.title = `${visible(tab)} · ${site}`;
  }, [tab, site]);
  useEffect(() => {
    const isOther = headedPath !== undefined && headedPath !== pathname;
    const isReplaced = isFocusLost && document.activeElement === document.body;
    headedPath = pathname;
    isFocusLost = false;
    // If a dialog is open, the heading must not take the focus. The dialog would close when it loses the focus, as after a press outside of
    // it.
    if ((isOther || isReplaced) && !isCovered) heading.current?.focus({ preventScroll: true });
  }, [pathname, isCovered]);
  // A page can be drawn by another component once its data has arrived. The heading of that component then gets the focus in its turn.
  useLayoutEffect(() => {
    const shown = heading.current;
    return () => {
      isFocusLost = document.activeElement === shown;
    };
  }, []);
  return (
    <div className={classNames(styles["page"], fill && styles["fill"])}>
      {crumbs !== null && createPortal(<Crumbs back={back} title={visible(title)} />, crumbs)}
      <header className={styles["head"]}>
        {back !== undefined && crumbs === null && <div className={styles["back"]}>{back}</div>}
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

/** The path of a page in the top bar. */
function Crumbs({ back, title }: { back: ReactNode; title: string }) {
  return (
    <>
      {back !== undefined && (
        <>
          {back}
          <Icon name="chevronRight" size={14} />
        </>
      )}
      <b className={styles["crumb"]} title={title}>
        {title}
      </b>
    </>
  );
}

/**
 * Two columns. The first column is wider, unless `even` is set. On a narrow page the columns are below each other. With `follows`, the
 * second column stays in view while the user scrolls the first.
 */
export function Columns({
  even = false,
  follows = false,
  children,
}: {
  even?: boolean;
  follows?: boolean;
  children: ReactNode;
}) {
  return (
    <div className={classNames(styles["columns"], even && styles["even"], follows && styles["follows"])}>
      {children}
    </div>
  );
}

import { Link, useLocation } from "@tanstack/react-router";
import { Icon } from "../ui/icon.tsx";
import { useIsNarrow } from "../ui/media.ts";
import { areFilters, lastFilters } from "./last-filters.ts";
import { groupsOf, type NavPage, pagesOf } from "./pages.ts";
import { ProjectSwitch } from "./project-switch.tsx";
import styles from "./shell.module.css";

/**
 * Draws a link to a page of the project. A list opens with the user's last filters, and a sign on the link shows this. If the list is open
 * already, pressing its link clears the filters.
 */
function PageLink({ page, projectId }: { page: NavPage; projectId: string }) {
  const path = page.to.replace("$projectId", projectId);
  const isHere = useLocation({ select: ({ pathname }) => pathname === path });
  const search = isHere ? {} : lastFilters(path);
  const isNarrow = useIsNarrow();
  return (
    <Link
      className={styles["link"]}
      to={page.to}
      params={{ projectId } as never}
      search={search as never}
      activeOptions={{ includeSearch: false }}
      {...(isNarrow && { title: page.title })}
    >
      <Icon name={page.icon} />
      <span className={styles["words"]}>{page.title}</span>
      {areFilters(search) && (
        <span className={styles["filtered"]} title="Opens with your last filter. Press again to show all.">
          <Icon name="filter" size={12} />
          <span className="visually-hidden">, filtered</span>
        </span>
      )}
    </Link>
  );
}

/** Draws the navigation of the project, on the left. */
export function Nav({ projectId }: { projectId: string }) {
  const isNarrow = useIsNarrow();
  return (
    <nav className={styles["nav"]} aria-label="Pages">
      <div className={styles["brand"]}>
        <div className={styles["name"]}>
          <img src="./icon.svg" alt="" width={24} height={24} />
          <span>svc</span>
        </div>
        {!isNarrow && <ProjectSwitch projectId={projectId} />}
      </div>
      {groupsOf(projectId).map(({ title, pages }) => (
        <div key={title} className={styles["group"]}>
          {title !== "" && <h2 className={styles["groupTitle"]}>{title}</h2>}
          <ul>
            {pages.map((page) => (
              <li key={page.to}>
                <PageLink page={page} projectId={projectId} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

/** Draws the bar at the bottom of a phone, with the pages used most. `onMore` opens the palette, which lists all pages. */
export function BottomBar({ projectId, onMore }: { projectId: string; onMore: () => void }) {
  return (
    <nav className={styles["bottom"]} aria-label="Main pages">
      {pagesOf(projectId)
        .filter(({ onPhone }) => onPhone !== undefined)
        .sort((a, b) => (a.onPhone ?? 0) - (b.onPhone ?? 0))
        .map((page) => (
          <PageLink key={page.to} page={page} projectId={projectId} />
        ))}
      <button type="button" className={styles["link"]} onClick={onMore}>
        <Icon name="menu" />
        More
      </button>
    </nav>
  );
}

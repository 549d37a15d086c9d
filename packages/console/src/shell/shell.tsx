import { Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import { LiveRegion } from "../ui/notice/announce.tsx";
import { Bands } from "./bands.tsx";
import { KeysDialog } from "./keys-dialog.tsx";
import { keepFilters } from "./last-filters.ts";
import { useLiveProject } from "./live.ts";
import { BottomBar, Nav } from "./nav.tsx";
import { pagesOf } from "./pages.ts";
import { Palette } from "./palette.tsx";
import { usePreferences } from "./preferences.ts";
import styles from "./shell.module.css";
import { type Shortcut, useShortcuts } from "./shortcuts.ts";
import { TopBar } from "./top-bar.tsx";

/**
 * Draws the frame of every page: warnings at the top, navigation, top bar, search palette and messages for screen readers. `projectId`: the
 * page's project, or `"admin"` on the administrator's pages.
 */
export function Shell({ projectId }: { projectId: string }) {
  useLiveProject(projectId);
  const [shown, setShown] = useState<"palette" | "keys">();
  const { shortcuts } = usePreferences();
  const main = useRef<HTMLElement>(null);
  const navigate = useNavigate();
  const { pathname, searchStr } = useLocation();
  useEffect(() => keepFilters(pathname, searchStr), [pathname, searchStr]);
  const pages = useMemo(() => pagesOf(projectId), [projectId]);
  useShortcuts(shortcuts, pages, (shortcut: Shortcut) => {
    if (shortcut === "palette" || shortcut === "keys") setShown(shortcut);
    else if (shortcut === "filter") main.current?.querySelector<HTMLElement>("search button, search input")?.focus();
    else void navigate({ to: shortcut.to, params: { projectId } as never });
  });
  const close = () => setShown(undefined);
  return (
    <div className={styles["shell"]}>
      {/* biome-ignore lint/a11y/useValidAnchor: `onClick` moves the focus, because the page's base URL would change the link's target */}
      <a
        className={styles["skip"]}
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to content
      </a>
      <Bands />
      <Nav projectId={projectId} />
      <TopBar projectId={projectId} onGoTo={() => setShown("palette")} onKeys={() => setShown("keys")} />
      <main id="main" ref={main} tabIndex={-1} className={styles["main"]}>
        <Outlet />
      </main>
      <BottomBar projectId={projectId} onMore={() => setShown("palette")} />
      <Palette open={shown === "palette"} onClose={close} projectId={projectId} onKeys={() => setShown("keys")} />
      <KeysDialog open={shown === "keys"} onClose={close} projectId={projectId} />
      <LiveRegion />
    </div>
  );
}

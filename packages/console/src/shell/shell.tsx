import { Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import { Suspense, useEffect, useMemo, useRef, useState } from "react";
import { useNow } from "../clock.ts";
import { laterPart } from "../ui/later-part.tsx";
import { CrumbPlace } from "../ui/layout/page.tsx";
import { LiveRegion } from "../ui/notice/announce.tsx";
import { whenIdle } from "../ui/overlay/later.ts";
import { clockWords, zoneName } from "../words/time.ts";
import { Bands } from "./bands.tsx";
import { keepFilters } from "./last-filters.ts";
import { useLiveProject } from "./live.ts";
import { BottomBar, Nav } from "./nav.tsx";
import { pagesOf } from "./pages.ts";
import { usePreferences } from "./preferences.ts";
import styles from "./shell.module.css";
import { type Shortcut, useShortcuts } from "./shortcuts.ts";
import { TopBar } from "./top-bar.tsx";

const ShellDialogs = laterPart(() => import("./palette.tsx"));

/**
 * Draws the frame of every page: warnings at the top, navigation, top bar, search palette and messages for screen readers. `projectId`: the
 * page's project, or `"admin"` on the administrator's pages.
 */
export function Shell({ projectId }: { projectId: string }) {
  useLiveProject(projectId);
  const [shown, setShown] = useState<"palette" | "keys">();
  // A dialog that was open stays in the document, because it returns the focus after it has closed.
  const wasShown = useRef(false);
  wasShown.current ||= shown !== undefined;
  useEffect(() => whenIdle(() => void ShellDialogs.load()), []);
  const { shortcuts } = usePreferences();
  const [crumbs, setCrumbs] = useState<HTMLElement | null>(null);
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
    <div className={styles["shell"]} onPointerOver={showWholeText}>
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
      <TopBar
        projectId={projectId}
        onGoTo={() => setShown("palette")}
        onKeys={() => setShown("keys")}
        onCrumbs={setCrumbs}
      />
      <main id="main" ref={main} tabIndex={-1} className={styles["main"]}>
        <CrumbPlace value={crumbs}>
          <Outlet />
        </CrumbPlace>
        <PrintFoot />
      </main>
      <BottomBar projectId={projectId} onMore={() => setShown("palette")} />
      {wasShown.current && (
        <Suspense>
          <ShellDialogs shown={shown} projectId={projectId} onClose={close} onKeys={() => setShown("keys")} />
        </Suspense>
      )}
      <LiveRegion />
    </div>
  );
}

/** Draws the last line of a printed page: its address, and the time. Screens do not show it. */
function PrintFoot() {
  const { zone } = usePreferences();
  const now = useNow(60_000);
  return (
    <footer className={styles["printed"]}>
      {location.href} · {clockWords(now, zone)} {zoneName(zone)}
    </footer>
  );
}

/**
 * Shows the whole text of a part that is cut off with an ellipsis, as its tooltip, when the user points at it. One listener serves every
 * page, because only the browser knows which parts are cut off at the present width.
 */
function showWholeText({ target }: Pick<PointerEvent, "target">): void {
  for (let part = target instanceof Element ? target : null; part instanceof HTMLElement; part = part.parentElement) {
    if (part.title !== "") return;
    if (part.scrollWidth <= part.clientWidth || getComputedStyle(part).textOverflow !== "ellipsis") continue;
    part.title = (part.textContent ?? "").replace(/\s+/g, " ").trim();
    return;
  }
}

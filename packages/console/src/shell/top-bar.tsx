import { useDeployment } from "../calls/identity.ts";
import { isSandboxPage } from "../session/base.ts";
import { IconButton } from "../ui/buttons/button.tsx";
import { classNames } from "../ui/class-names.ts";
import { Icon, type IconName } from "../ui/icon.tsx";
import { useIsNarrow } from "../ui/media.ts";
import { Menu } from "../ui/overlay/menu.tsx";
import { type Preferences, setPreferences, usePreferences } from "./preferences.ts";
import { ProjectSwitch } from "./project-switch.tsx";
import styles from "./shell.module.css";

const themes: readonly { theme: Preferences["theme"]; words: string; icon: IconName }[] = [
  { theme: "system", words: "System", icon: "gear" },
  { theme: "light", words: "Light", icon: "sun" },
  { theme: "dark", words: "Dark", icon: "moon" },
];

/**
 * Draws the bar above each page: the path of the page, the button that opens the palette (search), and the settings of this browser.
 * `onCrumbs` receives the element in which the page draws its path.
 */
export function TopBar({
  projectId,
  onGoTo,
  onKeys,
  onCrumbs,
}: {
  projectId: string;
  onGoTo: () => void;
  onKeys: () => void;
  onCrumbs: (place: HTMLElement | null) => void;
}) {
  const isNarrow = useIsNarrow();
  return (
    <header className={styles["top"]}>
      {isNarrow && <ProjectSwitch projectId={projectId} />}
      <div ref={onCrumbs} className={styles["crumbs"]} />
      <button type="button" className={styles["goTo"]} onClick={onGoTo} aria-keyshortcuts="Control+K Meta+K">
        <Icon name="search" />
        <span>Search or jump to…</span>
        <kbd>Ctrl K</kbd>
      </button>
      {projectId === "admin" ? <RealmSign isSandbox={isSandboxPage} /> : <DeploymentSign />}
      <IconButton icon="ask" label="Keyboard shortcuts" onPress={onKeys} />
      <ThemeSwitch />
    </header>
  );
}

/** Draws the sign of the deployment that serves the project, by what the page says until the service has answered. */
function DeploymentSign() {
  const { isKnown, isSandbox } = useDeployment();
  return <RealmSign isSandbox={isKnown ? isSandbox : isSandboxPage} />;
}

/**
 * Says if a sandbox answers in place of the apps. It answers for all apps, except those with which a project uses its own account. The pages
 * of an app and of its tools say which of both it is.
 */
function RealmSign({ isSandbox }: { isSandbox: boolean }) {
  if (!isSandbox) {
    return (
      <span className={classNames(styles["realm"], styles["real"])}>
        <Icon name="plug" size={14} />
        Real apps
      </span>
    );
  }
  return (
    <span className={styles["realm"]} title="Sandbox, except apps marked “Real app”">
      <Icon name="event" size={14} />
      <b>
        Sandbox<span>, except apps marked “Real app”</span>
      </b>
    </span>
  );
}

function ThemeSwitch() {
  const { theme } = usePreferences();
  return (
    <Menu
      label="Theme"
      entries={themes.map((entry) => ({
        id: entry.theme,
        words: entry.words,
        icon: entry.icon,
        checked: entry.theme === theme,
        onPress: () => setPreferences({ theme: entry.theme }),
      }))}
    >
      <Icon name={themes.find((entry) => entry.theme === theme)?.icon ?? "gear"} />
    </Menu>
  );
}

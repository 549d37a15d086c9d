import { useNavigate } from "@tanstack/react-router";
import { leave } from "../session/enter.ts";
import { type Seat, useSession } from "../session/session.ts";
import { IconButton } from "../ui/buttons/button.tsx";
import { Icon, type IconName } from "../ui/icon.tsx";
import { Menu } from "../ui/overlay/menu.tsx";
import { type Preferences, setPreferences, usePreferences } from "./preferences.ts";
import styles from "./shell.module.css";

const themes: readonly { theme: Preferences["theme"]; words: string; icon: IconName }[] = [
  { theme: "system", words: "System", icon: "gear" },
  { theme: "light", words: "Light", icon: "sun" },
  { theme: "dark", words: "Dark", icon: "moon" },
];

/** Draws the bar above each page: the project, the button that opens the palette, and the settings of this browser. */
export function TopBar({ projectId, onGoTo, onKeys }: { projectId: string; onGoTo: () => void; onKeys: () => void }) {
  return (
    <header className={styles["top"]}>
      <ProjectSwitch projectId={projectId} />
      <span className={styles["space"]} />
      <button type="button" className={styles["goTo"]} onClick={onGoTo} aria-keyshortcuts="Control+K Meta+K">
        <Icon name="search" />
        <span>Go to…</span>
        <kbd>Ctrl K</kbd>
      </button>
      <IconButton icon="ask" label="Keyboard shortcuts" onPress={onKeys} />
      <ThemeSwitch />
    </header>
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

function ProjectSwitch({ projectId }: { projectId: string }) {
  const session = useSession();
  const navigate = useNavigate();
  const seats = session?.seats.filter((seat) => seat.role !== "admin") ?? [];
  const here = seats.find((seat) => seat.projectId === projectId);
  const isAdministrator = session?.seats.some((seat) => seat.role === "admin") ?? false;
  const title = projectId === "admin" ? "Administration" : (here?.projectName ?? projectId);
  const open = (seat: Seat) => void navigate({ to: "/p/$projectId", params: { projectId: seat.projectId } });
  return (
    <Menu
      label={projectId === "admin" ? title : `Project ${title}`}
      entries={[
        ...seats.map((seat) => ({
          id: seat.keyId,
          words: seat.projectName,
          note: `key ${seat.keyName}, ${seat.role}`,
          checked: seat.keyId === here?.keyId,
          onPress: () => open(seat),
        })),
        ...(isAdministrator
          ? [
              {
                id: "admin",
                words: "Administration",
                note: "the administrator's token",
                checked: projectId === "admin",
                onPress: () => void navigate({ to: "/admin" }),
              },
            ]
          : []),
        {
          id: "add",
          words: isAdministrator ? "Sign in to another project" : "Add a key",
          icon: "plus",
          onPress: () => void navigate({ to: "/add-seat" }),
        },
        { id: "leave", words: "Sign out", icon: "lock", onPress: () => void leave() },
      ]}
    >
      <Icon name="project" />
      {title}
      <Icon name="chevronDown" />
    </Menu>
  );
}

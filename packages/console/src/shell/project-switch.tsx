import { useNavigate } from "@tanstack/react-router";
import { leave } from "../session/enter.ts";
import { type Seat, useSession } from "../session/session.ts";
import { Icon } from "../ui/icon.tsx";
import { Menu } from "../ui/overlay/menu.tsx";
import styles from "./shell.module.css";

/** Draws the name of the open project, with a menu of the projects that the user is signed in to. */
export function ProjectSwitch({ projectId }: { projectId: string }) {
  const session = useSession();
  const navigate = useNavigate();
  const seats = session?.seats.filter((seat) => seat.role !== "admin") ?? [];
  const here = seats.find((seat) => seat.projectId === projectId);
  const isAdministrator = session?.seats.some((seat) => seat.role === "admin") ?? false;
  const title = projectId === "admin" ? "Administration" : (here?.projectName ?? projectId);
  const open = (seat: Seat) => void navigate({ to: "/p/$projectId", params: { projectId: seat.projectId } });
  return (
    <div className={styles["project"]}>
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
        <span>{title}</span>
        <Icon name="chevronDown" size={14} />
      </Menu>
    </div>
  );
}

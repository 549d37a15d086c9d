import { Button } from "../ui/buttons/button.tsx";
import { Dialog } from "../ui/overlay/dialog.tsx";
import { examples } from "./examples.ts";
import styles from "./gallery.module.css";

/**
 * Draws the shipped examples in a dialog. `kind`: `schedules` offers schedules first and programs after them; `programs` offers only
 * programs. `onUse`: called with the name of the example that the user chose.
 */
export default function Gallery({
  kind,
  onUse,
  onClose,
}: {
  kind: "schedules" | "programs";
  onUse: (name: string) => void;
  onClose: () => void;
}) {
  const offered = [
    ...examples.filter(({ isSchedule }) => isSchedule && kind === "schedules"),
    ...examples.filter(({ isSchedule }) => !isSchedule),
  ];
  return (
    <Dialog open onClose={onClose} title="Start from an example" wide>
      <ul className={styles["list"]}>
        {offered.map(({ name, title, apps, isSchedule }) => (
          <li key={name} className={styles["example"]}>
            <div className={styles["words"]}>
              <b>{title}</b>
              <span className={styles["quiet"]}>
                {isSchedule ? "Schedule" : "Program"}
                {apps.length > 0 && ` · ${apps.join(", ")}`}
              </span>
            </div>
            <Button onPress={() => onUse(name)}>
              Use this<span className="visually-hidden">{title}</span>
            </Button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

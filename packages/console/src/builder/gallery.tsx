import { Button } from "../ui/buttons/button.tsx";
import { Dialog } from "../ui/overlay/dialog.tsx";
import { type Example, examples } from "./examples.ts";
import styles from "./gallery.module.css";

/**
 * Draws the shipped examples in a dialog. `kind`: `schedules` offers schedules first and programs after them; `programs` offers only
 * programs. `onUse`: called with the example that the user chose.
 */
export default function Gallery({
  kind,
  onUse,
  onClose,
}: {
  kind: "schedules" | "programs";
  onUse: (example: Example) => void;
  onClose: () => void;
}) {
  const offered = [
    ...examples.filter(({ isSchedule }) => isSchedule && kind === "schedules"),
    ...examples.filter(({ isSchedule }) => !isSchedule),
  ];
  return (
    <Dialog open onClose={onClose} title="Start from an example" wide>
      <ul className={styles["list"]}>
        {offered.map((example) => (
          <li key={example.name} className={styles["example"]}>
            <div className={styles["words"]}>
              <b>{example.title}</b>
              <span className={styles["quiet"]}>
                {example.isSchedule ? "Schedule" : "Program"}
                {example.apps.length > 0 && ` · ${example.apps.join(", ")}`}
              </span>
            </div>
            <Button onPress={() => onUse(example)}>
              Use this<span className="visually-hidden">{example.title}</span>
            </Button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

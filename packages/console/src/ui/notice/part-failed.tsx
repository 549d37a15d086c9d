import { useEffect } from "react";
import { whenBack } from "../../session/reachability.ts";
import { Button } from "../buttons/button.tsx";
import { Line } from "../layout/stack.tsx";
import styles from "./notice.module.css";
import { Notice } from "./notice.tsx";

/**
 * Shown in place of a part of the page whose file could not be loaded. Usually the service was unreachable, or an update has removed the
 * file. The rest of the page stays, with everything that the user has entered.
 */
export function PartFailed({
  onRetry,
  onClose,
}: {
  /** Loads the part again. It is also called when the service answers again. */
  onRetry: () => void;
  /** Closes the part. It is set for a part that opens over the page, such as a dialog. The message is then over the page, too. */
  onClose?: (() => void) | undefined;
}) {
  useEffect(() => whenBack(onRetry), [onRetry]);
  return (
    <div role="alert" className={onClose && styles["over"]}>
      <Notice
        tone="bad"
        title="This part of the page could not be loaded."
        actions={
          <Line>
            <Button onPress={onRetry}>Try again</Button>
            {onClose !== undefined && <Button onPress={onClose}>Close</Button>}
          </Line>
        }
      >
        <p>If the service was updated, reload the page to get the current version.</p>
      </Notice>
    </div>
  );
}

import { failureOf } from "../../calls/fault.ts";
import { Button } from "../buttons/button.tsx";
import { Line } from "../layout/stack.tsx";
import { copyText } from "../values/copy.tsx";
import styles from "./notice.module.css";
import { Notice } from "./notice.tsx";

/**
 * The error of a call, shown next to the part that failed: message, help, reason, field and request id. `onRetry`: set if a retry can help.
 * Draws nothing without an error.
 */
export function FaultNotice({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }) {
  if (error === null || error === undefined) return null;
  const { message, requestId, faults, code } = failureOf(error);
  const reasons = faults.map(({ reason, field }) => (field === "" ? reason : `${reason} (${field})`)).join(", ");
  const facts = `${reasons === "" ? code : reasons}${requestId === "" ? "" : ` · request ${requestId}`}`;
  return (
    <div role="alert">
      <Notice
        tone="bad"
        title={message}
        actions={
          <Line>
            {onRetry !== undefined && <Button onPress={onRetry}>Try again</Button>}
            <Button kind="quiet" icon="copy" onPress={() => void copyText(`${message}\n${facts}`, "what was wrong")}>
              Copy
            </Button>
          </Line>
        }
      >
        {[...new Set(faults.map(({ help }) => help))].map((help) => help !== "" && <p key={help}>{help}</p>)}
        <p className={styles["facts"]}>{facts}</p>
      </Notice>
    </div>
  );
}

import { type ReactNode, useRef, useState } from "react";
import { FaultNotice } from "../notice/fault.tsx";
import { Dialog } from "../overlay/dialog.tsx";
import { Button } from "./button.tsx";

/**
 * A button for an action that cannot be undone: it first explains the effect, and a second press does it. When `act` resolves, the dialog
 * closes; if it rejects, the dialog shows the error. `why` disables the button and gives the reason.
 */
export function ConfirmButton({
  words,
  title,
  says,
  confirm,
  busy,
  act,
  why,
}: {
  words: string;
  title: string;
  says: ReactNode;
  /** Label of the button that does it. */
  confirm: string;
  busy: string;
  act: () => Promise<unknown>;
  why?: string | undefined;
}) {
  const [isAsked, setAsked] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  // The pending state is drawn a moment later; a second press may come before that.
  const isUnderWay = useRef(false);
  const run = async () => {
    if (isUnderWay.current) return;
    isUnderWay.current = true;
    setBusy(true);
    setError(undefined);
    try {
      await act();
      setAsked(false);
    } catch (cause) {
      setError(cause);
    } finally {
      isUnderWay.current = false;
      setBusy(false);
    }
  };
  return (
    <>
      <Button why={why} onPress={() => setAsked(true)}>
        {words}
      </Button>
      <Dialog
        open={isAsked}
        onClose={() => setAsked(false)}
        title={title}
        actions={
          <>
            <Button onPress={() => setAsked(false)}>Cancel</Button>
            <Button kind="danger" onPress={() => void run()} busy={isBusy ? busy : undefined}>
              {confirm}
            </Button>
          </>
        }
      >
        <p>{says}</p>
        <FaultNotice error={error} />
      </Dialog>
    </>
  );
}

import { type ReactNode, useRef, useState } from "react";
import { FaultNotice } from "../notice/fault.tsx";
import { Dialog } from "../overlay/dialog.tsx";
import { Button } from "./button.tsx";

/**
 * A button for an action that cannot be undone. The first press opens a dialog that explains the effect; a second press runs the action
 * `act`. When `act` resolves, the dialog closes. If `act` rejects, the dialog shows the error. `why`: the reason why the button is
 * disabled.
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
  /** Label of the button in the dialog that runs the action. */
  confirm: string;
  busy: string;
  act: () => Promise<unknown>;
  why?: string | undefined;
}) {
  const [isAsked, setAsked] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  // The pending state is drawn a moment after a press. This reference prevents a second press before that.
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

import { type ReactNode, useRef, useState } from "react";
import { FaultNotice } from "../notice/fault.tsx";
import { Dialog } from "../overlay/dialog.tsx";
import { Button } from "./button.tsx";

/**
 * A button for what cannot be taken back: it says first what will happen, and the second press does it. `act` resolves when it is done, which
 * closes the dialog; what it rejects with stands there. `why` disables it and says why.
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
  /** On the button that does it. */
  confirm: string;
  busy: string;
  act: () => Promise<unknown>;
  why?: string | undefined;
}) {
  const [isAsked, setAsked] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  // That it is under way is drawn a moment later, and a second press may come before.
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
